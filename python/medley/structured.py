# SPDX-License-Identifier: BSD-3-Clause
"""Output spaces of your own: segmentations, rankings, matchings, anything that can be decoded."""

import ctypes
from typing import Any, List, Optional, Sequence, Union

import numpy as np

from ._docs import documented
from ._errors import InputError
from ._library import call
from ._observer import Verbose
from ._renamed import eval_set_of
from ._sequences import Sequences, length_of
from ._structure import Bound, Structure
from .sequence import SequenceLabeler


@documented("classes_")
class StructuredPredictor(SequenceLabeler):
    """Learns outputs of a ``Structure`` of your own, with any kernels, penalties and learners.

    X is a list of examples, as ``SequenceLabeler`` has sequences: arrays of numbers with a row for
    each candidate (a segment, a pair, a word), or lists of tokens with templates. y is a list of
    lists of labels. ``info`` of ``fit`` and ``predict``: a list of integer arrays (rows, width) for
    the structure alone, such as where a candidate segment begins and ends.

    Parameters
    ----------
    structure : Structure
        The output space: an object of a class of yours.
    batch : int, default 32
        Examples that are decoded at a time; more of them are faster, fewer learn faster.

    Attributes
    ----------

    Notes
    -----
    The guide docs/guides/structures.md has whole examples.

    Examples
    --------
    >>> import medley, numpy as np
    >>> class Free(medley.Structure):  # every row for itself
    ...     name = "free"
    ...     def decode(self, batch):
    ...         return batch.scores.argmax(axis=2)
    >>> X = [np.array([[1.0], [-1.0]]), np.array([[2.0], [-3.0]])]
    >>> y = [["up", "down"], ["up", "down"]]
    >>> model = medley.StructuredPredictor(Free(), kernels=["linear"], epochs=5).fit(X, y)
    >>> model.predict([np.array([[-2.0], [2.0]])])
    [['down', 'up']]
    """

    def __init__(
        self,
        structure: Structure,
        *,
        template: Any = "auto",
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
        bigram: str = "auto",
        batch: Optional[int] = 32,
        scale: Union[None, str, dict] = None,
        normalize: Optional[str] = None,
        certify: bool = False,
        scoring: str = "accuracy",
        n_jobs: Optional[int] = None,
        device: Optional[str] = None,
        memory: Optional[str] = None,
        random_state: Any = 1,
        verbose: Verbose = 0,
        options: Optional[dict] = None,
    ) -> None:
        self.structure = structure
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
        self.bigram = bigram
        self.batch = batch
        self.scale = scale
        self.normalize = normalize
        self.certify = certify
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.device = device
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose
        self.options = options

    image_shape = None
    _info = None  # of the call that is under way

    def _dataset(self, sequences, numbers, name="X"):
        dataset, kind, columns = super()._dataset(sequences, numbers, name)
        if self._info is not None:
            dataset.put_info(_rows_of_info(self._info, sequences, numbers))
        return dataset, kind, columns

    def _fixed(self, kind):
        return {**super()._fixed(kind), "task": None}

    def _bind(self, options):
        bound = Bound(self.structure)
        call("medley_options_set_structure", options.pointer, ctypes.byref(bound.c))
        return bound

    def fit(self, X: Sequences, y: Sequence[Sequence[Any]], eval_set: Any = None, info: Any = None,
            **others: Any) -> "StructuredPredictor":
        """Learn from examples with their outputs.

        Ctrl-C ends training, and the estimator keeps the model that was learnt so far.

        Parameters
        ----------
        X : list of examples
            Arrays with a row for each candidate, or lists of tokens.
        y : list of lists
            A label for each row.
        eval_set : (X, y), optional
            Other examples, without info, for early stopping.
        info : list of arrays of int, optional
            Whole numbers (rows, width) beside the rows of each example, for the structure alone.
        **others
            ``sample_weight`` is refused with a sentence: the losses have no weights of examples.

        Returns
        -------
        StructuredPredictor
            The estimator itself.
        """
        eval_set = eval_set_of(eval_set, others)
        with self._with_info(info):
            return self._learn(X, y, eval_set)

    def predict(self, X: Sequences, info: Any = None) -> List[List[Any]]:
        """Predict the outputs of every example.

        Parameters
        ----------
        X : list of examples
            As ``fit`` had them.
        info : list of arrays of int, optional
            Whole numbers (rows, width) beside the rows of each example, for the structure alone.

        Returns
        -------
        list of lists
            A label for each row.
        """
        with self._with_info(info):
            return super().predict(X)

    def predict_proba(self, X: Sequences, info: Any = None) -> List[np.ndarray]:
        """Predict the marginal probabilities of labels, where the structure has marginals.

        Parameters
        ----------
        X : list of examples
            As ``fit`` had them.
        info : list of arrays of int, optional
            Whole numbers (rows, width) beside the rows of each example, for the structure alone.

        Returns
        -------
        list of ndarray
            For every example an array (rows, classes), in the order of ``classes_``.
        """
        with self._with_info(info):
            return super().predict_proba(X)

    def score(self, X: Sequences, y: Sequence[Sequence[Any]], info: Any = None) -> float:
        """Measure what ``scoring`` names.

        Parameters
        ----------
        X : list of examples
            As ``fit`` had them.
        y : list of lists
            Their labels.
        info : list of arrays of int, optional
            Whole numbers (rows, width) beside the rows of each example, for the structure alone.

        Returns
        -------
        float
            The share of right labels, or of whole examples.
        """
        with self._with_info(info):
            return super().score(X, y)

    def _with_info(self, info):
        return _Info(self, info)

    def _check_kind(self, model):
        if model.summary()["task"] != "custom":
            raise InputError("the model has no structure of your own; use another estimator")


class _Info:
    """While a call is under way its info is the estimator's."""

    def __init__(self, estimator, info):
        self.estimator, self.info = estimator, info

    def __enter__(self):
        self.estimator._info = self.info

    def __exit__(self, *_):
        del self.estimator._info
        return False


def _rows_of_info(info, sequences, numbers):
    """The numbers beside all rows as one array."""
    arrays = [np.asarray(info[number]) for number in numbers]
    for number, sequence, array in zip(numbers, sequences, arrays):
        if array.ndim != 2 or len(array) != length_of(sequence) or array.dtype.kind not in "iu":
            raise InputError(
                f"info[{number}] has the shape {array.shape} and the type {array.dtype}; whole "
                f"numbers beside {length_of(sequence)} rows are expected"
            )
    return np.concatenate(arrays)
