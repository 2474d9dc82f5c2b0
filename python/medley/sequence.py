# SPDX-License-Identifier: BSD-3-Clause
"""Labels for every position of a sequence."""

import os
from typing import Any, Callable, List, Optional, Tuple, Union

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ._base import MedleyEstimator
from ._dataset import UNKNOWN, Dataset, known_labels, label_order, label_texts, parse
from ._errors import InputError, UsageError
from ._observer import Progress
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


class SequenceLabeler(MedleyEstimator):
    """Learns to label sequences: words of a sentence, letters of a word, steps of a signal.

    X is a list of sequences. A sequence is a list of tokens, which are all texts, or tuples of
    texts (columns that templates speak of), or dicts of attributes ({name: text, number or bool},
    as of CRFsuite); or it is a 2-D array of numbers with a row for each position, for kernels. y is
    a list of lists of labels.

    Parameters
    ----------
    template : "auto", None, name, path or text
        Feature templates of CRF++ or Wapiti for words: a built-in set
        (``medley.list_templates()``), a file, or the lines themselves. "auto": a set of our own.
    kernels : "default" or list of texts
        For sequences of numbers, and attributes (where the default is a weight for each).
    order : 1 or 2
        Labels that a label looks at: one, or two.
    bigram : "auto", "fixed", "learned" or "none"
        Pairs of neighbouring labels: a block beside the penalty, one like the others, or none.
    scoring : "accuracy", "f1" or "exact_match"
        What ``score`` measures: labels, chunks (B-NP, I-NP, O), whole sequences.

    The others are those of ``MKLClassifier``.

    Attributes
    ----------
    classes_, blocks_ (names of templates or kernels), weights_, norms_, objective_, model_

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
        image_shape: Optional[Tuple[int, int]] = None,
        scoring: str = "accuracy",
        n_jobs: Optional[int] = None,
        memory: Optional[str] = None,
        random_state: Any = 1,
        verbose: Union[int, Callable[[Progress], Any]] = 0,
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
        self.image_shape = image_shape
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose
        self.options = options

    # ---- data ----

    def _dataset(self, sequences):
        """A dataset of sequences that are not empty, their kind, and the columns of words."""
        kind = _kind_of(sequences)
        if kind == "numbers":
            dataset = Dataset()
            dataset.put_table(_stack(sequences), "", self.image_shape)
            dataset.put_sequences([_length(sequence) for sequence in sequences])
            return dataset, kind, 0
        if kind == "attributes":
            return parse(attributes_text(sequences), "X", format="attributes"), kind, 0
        content, columns = columns_text(sequences)
        dataset = parse(content, "X", format="columns", label="none", text_columns=True)
        return dataset, kind, columns

    def _fixed(self, kind):
        """Options that are no plain parameters, without the template."""
        kernels = self.kernels
        if isinstance(kernels, str):
            kernels = None if kernels == "default" else [kernels]
        if kernels is not None and not all(isinstance(kernel, str) for kernel in kernels):
            raise UsageError("kernels of sequences are texts such as 'rbf(sigma2=5)'")
        if kind == "words" and kernels is not None:
            raise UsageError("kernels are for numbers and attributes; words have templates")
        return {"task": "chain", "kernel": kernels, "template": None}

    def _template(self, kind, columns):
        if kind != "words":
            if self.template not in ("auto", None):
                raise UsageError("templates are for words; these sequences have numbers")
            return None
        if self.template is None:
            raise UsageError("words need feature templates to learn from; use template=\"auto\"")
        return default_template(columns) if self.template == "auto" else self.template

    # ---- learning ----

    def fit(self, X, y, held_out=None) -> "SequenceLabeler":
        """Learns from sequences X with labels y.

        held_out: a pair (X, y) of other sequences for early stopping.
        """
        return self._learn(X, y, held_out)

    def _problem(self, X, y):
        sequences, labels = _filled(X, y)
        flat = [label for sequence in labels for label in sequence]
        self.classes_, codes = _distinct(flat)
        dataset, kind, columns = self._dataset(sequences)
        dataset.put_labels(codes, label_texts(self.classes_))
        return dataset, self._fixed(kind), TemplateFile(self._template(kind, columns))

    def _test_rows(self, X, y):
        return self._with_labels(*_filled(X, y))

    def _with_labels(self, sequences, labels):
        dataset = self._dataset(sequences)[0]
        place = {label: i for i, label in enumerate(self.classes_.tolist())}
        names = label_texts(self.classes_)
        flat = [label for sequence in labels for label in sequence]
        codes = [place.get(_plain(label), len(names)) for label in flat]
        if max(codes, default=0) == len(names):
            names = [*names, UNKNOWN]
        dataset.put_labels(codes, names)
        return dataset

    # ---- prediction ----

    def _predicted(self, X, **arguments):
        """What the model says about all sequences but empty ones, and the lengths of all."""
        check_is_fitted(self, "model_")
        X = _as_list(X)
        lengths = [_length(sequence) for sequence in X]
        filled = [sequence for sequence in X if _length(sequence)]
        if not filled:
            return None, lengths
        dataset = self._dataset(filled)[0]
        return self.model_.predict(dataset, self._threads, **arguments), lengths

    def _order(self):
        return label_order(self.classes_, self.model_.labels)

    def predict(self, X) -> List[list]:
        """The labels of every sequence, as a list of lists."""
        answer, lengths = self._predicted(X)
        if answer is None:
            return [[] for _ in lengths]
        labels = self.classes_[self._order()[answer.label]].tolist()
        return _split(labels, lengths)

    def predict_proba(self, X) -> List[np.ndarray]:
        """Marginals: for every sequence an array (positions, classes)."""
        answer, lengths = self._predicted(X, probabilities=True)
        if answer is None:
            return [np.empty((0, len(self.classes_))) for _ in lengths]
        shares = np.zeros((len(answer.score), len(self.classes_)))
        shares[:, self._order()] = answer.score
        shares /= shares.sum(axis=1, keepdims=True)
        return _split(shares, lengths)

    def predict_marginals(self, X) -> List[List[dict]]:
        """Marginals as dicts: for every sequence a list of {label: probability}."""
        names = self.classes_.tolist()
        tables = self.predict_proba(X)
        return [[dict(zip(names, row.tolist())) for row in table] for table in tables]

    def predict_best(self, X, count=5) -> List[List[tuple]]:
        """The best outputs of every sequence, best first: lists of pairs (labels, score)."""
        answer, lengths = self._predicted(X, best=count)
        result, row, sequence = [], 0, 0
        order = None if answer is None else self._order()
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

    def score(self, X, y) -> float:
        """What ``scoring`` names: the share of right labels, chunk F1, or whole sequences."""
        names = {"accuracy": "accuracy", "f1": "chunk_f1", "exact_match": "exact_match"}
        if self.scoring not in names:
            raise UsageError(f"scoring={self.scoring!r} is not accuracy, f1 or exact_match")
        dataset = self._labelled(X, y)
        told = self.model_.evaluate(dataset, self._threads)
        if names[self.scoring] not in told:
            raise InputError("the labels are not those of chunks (B-NP, I-NP, O); there is no f1")
        return told[names[self.scoring]]

    def _labelled(self, X, y):
        check_is_fitted(self, "model_")
        return self._test_rows(X, y)

    def _check_kind(self, model):
        if model.summary()["task"] != "chain":
            raise InputError("the model does not label sequences; use another estimator")

    def _after_load(self):
        self.classes_ = known_labels(self.model_.labels)

    def _more_tags(self):
        return {"X_types": ["string", "dict"], "requires_y": True, "no_validation": True}


# ---- what users bring ----


def _as_list(X):
    if isinstance(X, (str, bytes)) or not hasattr(X, "__len__"):
        raise InputError("X is a list of sequences, each a list of tokens or an array of rows")
    return list(X)


def _length(sequence):
    return sequence.shape[0] if hasattr(sequence, "shape") else len(sequence)


def _plain(label):
    return label.item() if isinstance(label, np.generic) else label


def _filled(X, y):
    """Sequences with their labels, without empty ones."""
    if y is None:
        raise InputError("this estimator requires y to be passed, but the target y is None")
    X, y = _as_list(X), list(y)
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} sequences and y has {len(y)}")
    if not X:
        raise InputError("there are no sequences to learn from")
    for i, (sequence, labels) in enumerate(zip(X, y)):
        if isinstance(sequence, str) or isinstance(labels, str):
            raise InputError(f"sequence {i} is a text; give a list of tokens and a list of labels")
        if _length(sequence) != len(labels):
            raise InputError(
                f"sequence {i} has {_length(sequence)} tokens and {len(labels)} labels"
            )
    pairs = [(sequence, labels) for sequence, labels in zip(X, y) if len(labels)]
    if not pairs:
        raise InputError("all sequences are empty")
    return [sequence for sequence, _ in pairs], [labels for _, labels in pairs]


def _distinct(labels):
    """The classes, sorted, with the dtype of the labels; and the number of each label."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InputError("y is a list of lists of labels")
    if array.dtype.kind in "USOibuf" and not _mixed(labels):
        return np.unique(array, return_inverse=True)
    raise InputError("labels are of different types; give texts only or numbers only")


def _mixed(labels):
    texts = sum(isinstance(label, (str, bytes)) for label in labels)
    return 0 < texts < len(labels)


def _kind_of(sequences):
    first = sequences[0]
    if sparse.issparse(first) or (hasattr(first, "dtype") and np.ndim(first) == 2
                                  and first.dtype.kind in "fiub"):
        return "numbers"
    token = first[0]
    if isinstance(token, dict):
        return "attributes"
    if isinstance(token, str) or (np.ndim(token) == 1 and len(token) and isinstance(token[0], str)):
        return "words"
    if np.ndim(first) == 2:
        return "numbers"
    raise InputError(
        "a token is a text, a tuple of texts or a dict of attributes; or a sequence is an array of "
        "numbers with a row for each position"
    )


def _stack(sequences):
    """All rows of all sequences."""
    if sparse.issparse(sequences[0]):
        return sparse.vstack(sequences, format="csr")
    widths = {np.shape(sequence)[1] for sequence in sequences}
    if len(widths) > 1:
        raise InputError(f"sequences have different numbers of columns: {sorted(widths)}")
    return np.concatenate([np.asarray(sequence) for sequence in sequences])


def _split(items, lengths):
    pieces, start = [], 0
    for length in lengths:
        pieces.append(items[start : start + length])
        start += length
    return pieces
