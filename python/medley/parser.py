# SPDX-License-Identifier: BSD-3-Clause
"""Dependency trees of sentences."""

import ctypes
import os
import tempfile
from numbers import Integral
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._base import MedleyEstimator, list_tags, new_list_tags
from ._checks import flag, needs_y, pair, whole
from ._dataset import Places, parse, read_file
from ._docs import documented
from ._errors import InputError
from ._library import c_text, c_texts, call, lib
from ._observer import Verbose
from ._renamed import eval_set_of
from ._sequences import as_sequences, filled, split
from ._text import TemplateFile, conllu_text

Sentences = Union[str, "os.PathLike[str]", Sequence[Any]]


@documented()
class DependencyParser(MedleyEstimator):
    """Learns to parse: the head of each word, and its relation to it.

    X is a list of sentences; a sentence is a list of words, each a dict with some of form, lemma,
    upos, xpos, feats, or a pair (form, upos), or a tuple of all five. Or X is CoNLL-U: the path of
    a file, or its text, which brings the trees along. y is a list of lists of pairs (head,
    relation) or of heads alone; words count from 1 and the head of the root is 0.

    Parameters
    ----------
    template : None, name, path or text
        Arc templates (docs/arc-templates.md); None: arc-507.
    unlabelled : bool
        Heads only, even if there are relations.
    projective : bool
        Trees without crossing arcs only.
    roots : "one" or "many"
        How many words may hang from the root.
    tags : str
        Column of CoNLL-U whose tags stand for upos in templates.

    Attributes
    ----------
    relations_ : list of str
        Names of relations; [] if there are heads only.

    Examples
    --------
    >>> import medley
    >>> X = [[("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")],
    ...      [("a", "DET"), ("cat", "NOUN"), ("sleeps", "VERB")]]
    >>> y = [[(2, "det"), (3, "nsubj"), (0, "root")]] * 2
    >>> parser = medley.DependencyParser("arc-form-upos", epochs=5).fit(X, y)
    >>> parser.predict([[("a", "DET"), ("dog", "NOUN"), ("sleeps", "VERB")]])
    [[(2, 'det'), (3, 'nsubj'), (0, 'root')]]
    """

    def __init__(
        self,
        template: Union[None, str, os.PathLike] = None,
        *,
        penalty: str = "auto",
        loss: str = "auto",
        method: str = "auto",
        C: Optional[float] = None,
        lambda_: Optional[float] = None,
        block_weight: Union[None, str, list, dict] = None,
        p: Optional[float] = None,
        epochs: Optional[int] = None,
        min_count: Optional[int] = None,
        hash_bits: Optional[int] = None,
        tags: Optional[str] = None,
        roots: str = "one",
        projective: bool = False,
        unlabelled: bool = False,
        calibrate: bool = False,
        certify: bool = False,
        n_jobs: Optional[int] = None,
        memory: Optional[str] = None,
        random_state: Any = 1,
        verbose: Verbose = 0,
        options: Optional[dict] = None,
    ) -> None:
        self.template = template
        self.penalty = penalty
        self.loss = loss
        self.method = method
        self.C = C
        self.lambda_ = lambda_
        self.block_weight = block_weight
        self.p = p
        self.epochs = epochs
        self.min_count = min_count
        self.hash_bits = hash_bits
        self.tags = tags
        self.roots = roots
        self.projective = projective
        self.unlabelled = unlabelled
        self.calibrate = calibrate
        self.certify = certify
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose
        self.options = options

    # ---- learning ----

    def fit(self, X: Sentences, y: Optional[Sequence[Any]] = None, eval_set: Any = None,
            **others: Any) -> "DependencyParser":
        """Learn from sentences with their trees.

        Ctrl-C ends training, and the estimator keeps the model that was learnt so far.

        Parameters
        ----------
        X : list of sentences, or CoNLL-U
            A text of CoNLL-U or the path of a file, or lists of words.
        y : list of lists, optional
            Pairs (head, relation), or heads, for each word; CoNLL-U brings them along.
        eval_set : (X, y) or CoNLL-U, optional
            Other sentences and their trees, for early stopping.
        **others
            ``sample_weight`` is refused with a sentence: the losses have no weights of examples.

        Returns
        -------
        DependencyParser
            The estimator itself.
        """
        return self._learn(X, y, eval_set_of(eval_set, others))

    def _pair(self, eval_set):
        return (eval_set, None) if isinstance(eval_set, (str, os.PathLike)) else pair(eval_set)

    def _problem(self, X, y):
        dataset, heads_only = _treebank(X, y, "X")
        heads_only = flag("unlabelled", self.unlabelled) or heads_only
        fixed = {"task": "tree", "unlabelled": heads_only, "template": None}
        return dataset, fixed, TemplateFile(self.template)

    def _test_rows(self, X, y=None):
        return _treebank(X, y, "eval_set")[0]

    def _keep(self, model):
        super()._keep(model)
        self.relations_ = model.labels

    def _check_kind(self, model):
        if not lib.medley_model_is_parser(model.pointer):
            raise InputError("the model does not predict trees; use another estimator")

    # ---- prediction ----

    def _predicted(self, X, **arguments):
        check_is_fitted(self, "model_")
        if isinstance(X, (str, os.PathLike)):
            dataset = _read(X)
            lengths = dataset.lengths
        else:
            X = as_sequences(X, "sentence")
            lengths = [len(sentence) for sentence in X]
            sentences, numbers = filled(X)
            if not sentences:
                return None, None, lengths
            dataset = _parse(sentences, numbers, None, "X")
        return self.model_.predict(dataset, self._threads, self._device, **arguments), dataset, lengths

    def _arcs(self, heads, labels):
        """What trees are made of: pairs (head, relation), or heads."""
        arcs = [int(head) for head in heads]
        if labels is not None and self.relations_:
            arcs = [(head, self.relations_[r]) for head, r in zip(arcs, labels)]
        return arcs

    def predict(self, X: Sentences) -> List[List[Any]]:
        """Predict the trees of sentences.

        Parameters
        ----------
        X : list of sentences, or CoNLL-U
            A text of CoNLL-U or the path of a file, or lists of words.

        Returns
        -------
        list of lists
            A pair (head, relation), or a head, for each word.
        """
        answer, _, lengths = self._predicted(X)
        if answer is None:
            return [[] for _ in lengths]
        return split(self._arcs(answer.head, answer.label), lengths)

    def predict_proba(self, X: Sentences) -> List[np.ndarray]:
        """Predict the probabilities of heads.

        Each is the sum of those of all trees with this arc; to be trusted with calibrate=True or
        loss="logistic".

        Parameters
        ----------
        X : list of sentences, or CoNLL-U
            A text of CoNLL-U or the path of a file, or lists of words.

        Returns
        -------
        list of ndarray
            For every sentence an array (words, words + 1), the root first.
        """
        answer, _, lengths = self._predicted(X, probabilities=True)
        tables, start = [], 0
        for n in lengths:
            table = answer.arc_probability[start : start + n * (n + 1)] if n else np.empty(0)
            tables.append(table.reshape(n, n + 1))
            start += n * (n + 1)
        return tables

    def predict_confidence(self, X: Sentences) -> List[List[Any]]:
        """Tell how sure the trees of ``predict`` are.

        Parameters
        ----------
        X : list of sentences, or CoNLL-U
            A text of CoNLL-U or the path of a file, or lists of words.

        Returns
        -------
        list of lists
            Pairs (probability of the head, probability of the relation in this tree), or those of
            heads alone, for each word.
        """
        answer, _, lengths = self._predicted(X, probabilities=True)
        if answer is None:
            return [[] for _ in lengths]
        shares = answer.head_probability.tolist()
        if answer.label is not None and self.relations_:
            relations = answer.score[np.arange(len(answer.label)), answer.label]
            shares = list(zip(shares, relations.tolist()))
        return split(shares, lengths)

    def predict_best(self, X: Sentences, count: int = 5,
                     probabilities: bool = False) -> List[List[Tuple[Any, ...]]]:
        """Predict the best trees of every sentence.

        Parameters
        ----------
        X : list of sentences, or CoNLL-U
            A text of CoNLL-U or the path of a file, or lists of words.
        count : int, default 5
            So many at most.
        probabilities : bool, default False
            Tell the probability of each tree as well.

        Returns
        -------
        list of lists of tuple
            For every sentence pairs (tree, score), or triples (tree, score, probability), best
            first.
        """
        count = whole("count", count, 1)
        wanted = flag("probabilities", probabilities)
        answer, _, lengths = self._predicted(X, best=count, probabilities=wanted)
        result, row, sentence = [], 0, 0
        for length in lengths:
            trees: List[Tuple[Any, ...]] = []
            for rank in range(count if length else 0):
                heads = answer.best_head[rank, row : row + length]
                labels = answer.best_label
                labels = None if labels is None else labels[rank, row : row + length]
                if heads[0] < 0:
                    break
                tree, score = self._arcs(heads, labels), float(answer.best_score[sentence, rank])
                if wanted:
                    trees.append((tree, score, float(answer.best_probability[sentence, rank])))
                else:
                    trees.append((tree, score))
            result.append(trees)
            row, sentence = row + length, sentence + (length > 0)
        return result

    def parse_conllu(self, content: Sentences) -> str:
        """Fill in HEAD and DEPREL of CoNLL-U.

        Parameters
        ----------
        content : CoNLL-U, or list of sentences
            A text or the path of a file, or lists of words.

        Returns
        -------
        str
            CoNLL-U.
        """
        answer, dataset, _ = self._predicted(content)
        if answer is None:
            return ""
        heads = np.ascontiguousarray(answer.head, dtype=np.int32)
        relations = None
        if answer.label is not None and self.relations_:
            relations = c_texts([self.relations_[r] for r in answer.label])
        with tempfile.TemporaryDirectory(prefix="medley-") as folder:
            path = os.path.join(folder, "parsed.conllu")
            pointer = heads.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))
            call("medley_dataset_write_trees", dataset.pointer, pointer, relations, c_text(path))
            with open(path, encoding="utf-8", newline="") as file:
                return file.read()

    def score(self, X: Sentences, y: Optional[Sequence[Any]] = None) -> float:
        """Tell the share of words with the right head and relation.

        Parameters
        ----------
        X : list of sentences, or CoNLL-U
            A text of CoNLL-U or the path of a file, or lists of words.
        y : list of lists, optional
            Their trees; CoNLL-U brings them along.

        Returns
        -------
        float
            LAS; without relations UAS.
        """
        told = self.evaluate(X, y)
        return told["las"] if "las" in told else told["uas"]

    def _labelled(self, X, y=None):
        check_is_fitted(self, "model_")
        return _treebank(X, y, "X")[0]

    def evaluate(self, X: Sentences, y: Optional[Sequence[Any]] = None,  # type: ignore[override]
                 probabilities: bool = False) -> Dict[str, Any]:
        """Measure the model on sentences with trees.

        Parameters
        ----------
        X : list of sentences, or CoNLL-U
            A text of CoNLL-U or the path of a file, or lists of words.
        y : list of lists, optional
            Their trees; CoNLL-U brings them along.
        probabilities : bool, default False
            Measure those of heads as well: log_loss, brier and calibration_error.

        Returns
        -------
        dict
            Figures by name: uas, las and others; nonprojective has those of arcs over words that do not hang
            from their head.
        """
        wanted = flag("probabilities", probabilities)
        return self.model_.evaluate(self._labelled(X, y), self._threads, self._device, wanted)

    def _more_tags(self):
        return list_tags(requires_y=False)

    def __sklearn_tags__(self):  # scikit-learn 1.6 and later
        return new_list_tags(super().__sklearn_tags__(), requires_y=False)


# ---- what users bring ----


def _read(X, name="X"):
    if isinstance(X, str) and ("\n" in X or "\t" in X):
        return parse(X, name, format="conllu")
    return read_file(X, format="conllu")


def _parse(sentences, numbers, trees, name):
    """A dataset of sentences that are lists."""
    places = Places(name, [len(sentence) for sentence in sentences], numbers)
    return parse(conllu_text(sentences, numbers, trees), name, places, format="conllu")


def _treebank(X, y, name):
    """A dataset with trees, and whether it has heads only. name: what X is called."""
    if isinstance(X, (str, os.PathLike)):
        if y is not None:
            raise InputError("CoNLL-U brings its trees along: leave out y")
        return _read(X, name), False
    needs_y(y)
    X, y = as_sequences(X, "sentence"), list(y) if hasattr(y, "__len__") else [y]
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} sentences and y has {len(y)}")
    for i, (sentence, tree) in enumerate(zip(X, y)):
        if isinstance(tree, str) or not hasattr(tree, "__len__"):
            raise InputError(f"y[{i}] is {tree!r}; give a list of pairs (head, relation)")
        if len(sentence) != len(tree):
            raise InputError(f"sentence {i} has {len(sentence)} words and {len(tree)} heads in y")
    sentences, numbers = filled(X)
    if not sentences:
        raise InputError("there are no sentences to learn from")
    trees = [y[i] for i in numbers]
    return _parse(sentences, numbers, trees, name), isinstance(trees[0][0], Integral)
