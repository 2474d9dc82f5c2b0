# SPDX-License-Identifier: BSD-3-Clause
"""Labels for every position of a sequence."""

import os
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._base import MedleyEstimator, list_tags, new_list_tags
from ._checks import text_keys, whole
from ._dataset import Dataset, Places, chosen_columns, parse
from ._docs import documented
from ._errors import InputError, UsageError
from ._labels import check_kind, chosen_labels, free_name, label_order, label_texts
from ._observer import Verbose
from ._renamed import eval_set_of
from ._sequences import (
    Sequences,
    as_sequences,
    distinct_labels,
    filled,
    kind_of,
    labelled_sequences,
    length_of,
    one_table,
    plain,
    split,
)
from ._text import TemplateFile, attributes_text, columns_text

# For plain words where no template is named: the word, its neighbours, ends and shape.
_WORD_LINES = [
    "U00:%x[0,0]",
    "U01:%x[-1,0]",
    "U02:%x[1,0]",
    "U03:%x[-1,0]/%x[0,0]",
    "U04:%x[0,0]/%x[1,0]",
    'U05:%m[0,0,"^.?"]',
    'U06:%m[0,0,"^.?.?.?"]',
    'U07:%m[0,0,".?$"]',
    'U08:%m[0,0,".?.?.?$"]',
    'U09:%t[0,0,"^\\u"]',
    'U10:%t[0,0,"\\d"]',
    'U11:%t[0,0,"^\\p*$"]',
]


def default_template(columns):
    """The template for words with so many columns: ends of words, a window of the others."""
    lines = list(_WORD_LINES)
    for column in range(1, columns):
        for offset in (-2, -1, 0, 1, 2):
            lines.append(f"U{10 * column + 10 + offset + 2}:%x[{offset},{column}]")
        lines.append(f"U{10 * column + 15}:%x[-1,{column}]/%x[0,{column}]")
        lines.append(f"U{10 * column + 16}:%x[0,{column}]/%x[1,{column}]")
    return "\n".join([*lines, "B"]) + "\n"


@documented("classes_")
class SequenceLabeler(MedleyEstimator):
    """Learns to label sequences: words of a sentence, letters of a word, steps of a signal.

    X is a list of sequences. A sequence is a list of tokens, which are all texts, or tuples of
    texts (columns that templates speak of), or dicts of attributes ({name: text, number or bool},
    as of CRFsuite); or it is a 2-D array of numbers with a row for each position, for kernels. y is
    a list of lists of labels.

    Parameters
    ----------
    order : 1 or 2
        Labels that a label looks at: one, or two.

    Attributes
    ----------

    Examples
    --------
    >>> import medley
    >>> X = [["the", "dog", "ran"], ["a", "cat", "sat"], ["the", "cat", "ran"]]
    >>> y = [["D", "N", "V"], ["D", "N", "V"], ["D", "N", "V"]]
    >>> model = medley.SequenceLabeler().fit(X, y)
    >>> model.predict([["a", "dog", "sat"]])
    [['D', 'N', 'V']]
    """

    def __init__(
        self,
        template: Union[None, str, os.PathLike] = "auto",
        *,
        kernels: Any = "default",
        views: Union[str, dict] = "auto",
        penalty: str = "auto",
        loss: str = "auto",
        method: str = "auto",
        C: Optional[float] = None,
        lambda_: Optional[float] = None,
        block_weight: Union[None, str, list, dict] = None,
        p: Optional[float] = None,
        epochs: Optional[int] = None,
        eta0: Union[None, float, str] = None,
        order: int = 1,
        bigram: str = "auto",
        min_count: Optional[int] = None,
        hash_bits: Optional[int] = None,
        scale: Union[None, str, dict] = None,
        normalize: Optional[str] = None,
        calibrate: bool = False,
        certify: bool = False,
        image_shape: Optional[Tuple[int, int]] = None,
        scoring: str = "accuracy",
        n_jobs: Optional[int] = None,
        device: Optional[str] = None,
        memory: Optional[str] = None,
        random_state: Any = 1,
        verbose: Verbose = 0,
        options: Optional[dict] = None,
    ) -> None:
        self.template = template
        self.kernels = kernels
        self.views = views
        self.penalty = penalty
        self.loss = loss
        self.method = method
        self.C = C
        self.lambda_ = lambda_
        self.block_weight = block_weight
        self.p = p
        self.epochs = epochs
        self.eta0 = eta0
        self.order = order
        self.bigram = bigram
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.scale = scale
        self.normalize = normalize
        self.calibrate = calibrate
        self.certify = certify
        self.image_shape = image_shape
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.device = device
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose
        self.options = options

    # ---- data ----

    def _dataset(self, sequences, numbers, name="X"):
        """A dataset of sequences that are not empty, their kind, and the columns of words.

        numbers: those of the sequences in what the user gave; name: what that is called.
        """
        kind, lengths = kind_of(sequences), [length_of(sequence) for sequence in sequences]
        places = Places(name, lengths, numbers)
        if kind == "numbers":
            dataset = Dataset()
            for view, table in self._tables(one_table(sequences, numbers)):
                dataset.put_table(table, view, self.image_shape)
            dataset.put_sequences(lengths)
            dataset.places = places
            return dataset, kind, 0
        if kind == "attributes":
            content = attributes_text(sequences, numbers)
            return parse(content, name, places, format="attributes"), kind, 0
        content, columns = columns_text(sequences, numbers)
        dataset = parse(content, name, places, format="columns", label="none", text_columns=True)
        return dataset, kind, columns

    def _tables(self, table):
        """(name, table) of the views."""
        if not isinstance(self.views, dict):
            return [("", table)]
        text_keys("views", self.views)
        return [(view, chosen_columns(table, which)) for view, which in self.views.items()]

    def _fixed(self, kind):
        """Options that are no plain parameters, without the template."""
        kernels = self.kernels
        if not isinstance(kernels, (str, list, tuple)):
            raise UsageError(f"kernels={kernels!r}; give a list of texts, or \"default\"")
        if isinstance(kernels, str):
            kernels = None if kernels == "default" else [kernels]
        if kernels is not None and not all(isinstance(kernel, str) for kernel in kernels):
            raise UsageError("kernels of sequences are texts such as 'rbf(sigma2=5)'")
        if kind != "numbers" and isinstance(self.views, dict):
            raise UsageError("views={name: columns} is for sequences of numbers")
        if kind == "words" and kernels is not None:
            raise UsageError("kernels are for numbers and attributes; words have templates")
        views = None if isinstance(self.views, dict) else self.views
        return {"task": "chain", "kernel": kernels, "views": views, "template": None}

    def _template(self, kind, columns):
        if kind != "words":
            if self.template not in ("auto", None):
                raise UsageError("templates are for words; these sequences have numbers")
            return None
        if self.template is None:
            raise UsageError("words need feature templates to learn from; use template=\"auto\"")
        return default_template(columns) if self.template == "auto" else self.template

    # ---- learning ----

    def fit(self, X: Sequences, y: Sequence[Sequence[Any]], eval_set: Any = None,
            **others: Any) -> "SequenceLabeler":
        """Learn from labelled sequences.

        Ctrl-C ends training, and the estimator keeps the model that was learnt so far.

        Parameters
        ----------
        X : list of sequences
            Lists of tokens, or arrays with a row for each position.
        y : list of lists
            A label for each position.
        eval_set : (X, y), optional
            Other sequences and their labels, for early stopping.
        **others
            ``sample_weight`` is refused with a sentence: the losses have no weights of examples.

        Returns
        -------
        SequenceLabeler
            The estimator itself.
        """
        return self._learn(X, y, eval_set_of(eval_set, others))

    def _problem(self, X, y):
        sequences, labels, numbers = labelled_sequences(X, y)
        flat = [label for sequence in labels for label in sequence]
        self.classes_, codes = distinct_labels(flat)
        dataset, kind, columns = self._dataset(sequences, numbers)
        dataset.put_labels(codes, label_texts(self.classes_))
        return dataset, self._fixed(kind), TemplateFile(self._template(kind, columns))

    def _test_rows(self, X, y):
        return self._with_labels(X, y, "eval_set")

    def _with_labels(self, X, y, name):
        sequences, labels, numbers = labelled_sequences(X, y)
        dataset = self._dataset(sequences, numbers, name)[0]
        place = {label: i for i, label in enumerate(self.classes_.tolist())}
        names = label_texts(self.classes_)
        flat = [plain(label) for sequence in labels for label in sequence]
        check_kind(distinct_labels(flat)[0], self.classes_)
        codes = [place.get(label, len(names)) for label in flat]
        if max(codes, default=0) == len(names):
            names = [*names, free_name(names)]
        dataset.put_labels(codes, names)
        return dataset

    # ---- prediction ----

    def _predicted(self, X, **arguments):
        """What the model says about all sequences but empty ones, and the lengths of all."""
        check_is_fitted(self, "model_")
        X = as_sequences(X)
        lengths = [length_of(sequence) for sequence in X]
        sequences, numbers = filled(X)
        if not sequences:
            return None, lengths
        dataset = self._dataset(sequences, numbers)[0]
        return self.model_.predict(dataset, self._threads, self._device, **arguments), lengths

    def _order(self):
        return label_order(self.classes_, self.model_.labels)

    def predict(self, X: Sequences) -> List[List[Any]]:
        """Predict the labels of every sequence.

        Parameters
        ----------
        X : list of sequences
            As ``fit`` had them.

        Returns
        -------
        list of lists
            A label for each position.
        """
        answer, lengths = self._predicted(X)
        if answer is None:
            return [[] for _ in lengths]
        labels = self.classes_[self._order()[answer.label]].tolist()
        return split(labels, lengths)

    def predict_proba(self, X: Sequences) -> List[np.ndarray]:
        """Predict the marginal probabilities of labels.

        Parameters
        ----------
        X : list of sequences
            As ``fit`` had them.

        Returns
        -------
        list of ndarray
            For every sequence an array (positions, classes), in the order of ``classes_``.
        """
        answer, lengths = self._predicted(X, probabilities=True)
        if answer is None:
            return [np.empty((0, len(self.classes_))) for _ in lengths]
        shares = np.zeros((len(answer.score), len(self.classes_)))
        shares[:, self._order()] = answer.score
        shares /= shares.sum(axis=1, keepdims=True)
        return split(shares, lengths)

    def predict_marginals(self, X: Sequences) -> List[List[Dict[Any, float]]]:
        """Predict the marginal probabilities of labels, as dicts.

        Parameters
        ----------
        X : list of sequences
            As ``fit`` had them.

        Returns
        -------
        list of lists of dict
            For every sequence, and every position in it, {label: probability}.
        """
        names = self.classes_.tolist()
        tables = self.predict_proba(X)
        return [[dict(zip(names, row.tolist())) for row in table] for table in tables]

    def predict_best(self, X: Sequences, count: int = 5) -> List[List[Tuple[List[Any], float]]]:
        """Predict the best outputs of every sequence.

        Parameters
        ----------
        X : list of sequences
            As ``fit`` had them.
        count : int, default 5
            So many at most.

        Returns
        -------
        list of lists of (list, float)
            For every sequence labels and score of each output, best first.
        """
        count = whole("count", count, 1)
        answer, lengths = self._predicted(X, best=count)
        result, row, sequence = [], 0, 0
        order: Any = None if answer is None else self._order()
        for length in lengths:
            outputs = []
            for rank in range(count if length else 0):
                codes = answer.best_label[rank, row : row + length]
                if codes[0] >= 0:
                    labels = self.classes_[order[codes]].tolist()
                    outputs.append((labels, float(answer.best_score[sequence, rank])))
            result.append(outputs)
            row, sequence = row + length, sequence + (length > 0)
        return result

    def score(self, X: Sequences, y: Sequence[Sequence[Any]]) -> float:
        """Measure what ``scoring`` names.

        Parameters
        ----------
        X : list of sequences
            As ``fit`` had them.
        y : list of lists
            Their labels.

        Returns
        -------
        float
            The share of right labels, chunk F1, or the share of whole sequences.
        """
        names = {"accuracy": "accuracy", "f1": "chunk_f1", "exact_match": "exact_match"}
        if self.scoring not in names:
            raise UsageError(f"scoring={self.scoring!r} is not accuracy, f1 or exact_match")
        dataset = self._labelled(X, y)
        told = self.model_.evaluate(dataset, self._threads, self._device)
        if names[self.scoring] not in told:
            raise InputError("the labels are not those of chunks (B-NP, I-NP, O); there is no f1")
        return told[names[self.scoring]]

    def _labelled(self, X, y):
        check_is_fitted(self, "model_")
        return self._with_labels(X, y, "X")

    def _check_kind(self, model):
        if model.summary()["task"] != "chain":
            raise InputError("the model does not label sequences; use another estimator")

    def _after_load(self, classes, X):
        if X is not None:
            raise UsageError("load has no use for X: kernels of sequences are texts")
        self.classes_ = chosen_labels(self.model_.labels, classes)

    def _more_tags(self):
        return list_tags(requires_y=True)

    def __sklearn_tags__(self):  # scikit-learn 1.6 and later
        return new_list_tags(super().__sklearn_tags__(), requires_y=True)
