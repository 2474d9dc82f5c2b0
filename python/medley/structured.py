# SPDX-License-Identifier: BSD-3-Clause
"""Output spaces of your own: segmentations, rankings, matchings, anything that can be decoded."""

import ctypes
from typing import Any, Callable, List, Optional, Union

import numpy as np

from ._errors import InputError
from ._library import call
from ._observer import Progress
from ._sequences import length_of
from ._structure import Bound, Structure
from .sequence import SequenceLabeler


class StructuredPredictor(SequenceLabeler):
    """Learns outputs of a ``Structure`` of your own, with any kernels, penalties and learners.

    X is a list of examples, as ``SequenceLabeler`` has sequences: arrays of numbers with a row for
    each candidate (a segment, a pair, a word), or lists of tokens with templates. y is a list of
    lists of labels. ``info`` of ``fit`` and ``predict``: a list of integer arrays (rows, width) for
    the structure alone, such as where a candidate segment begins and ends.

    Parameters
    ----------
    structure : Structure
    batch : examples that are decoded at a time; more of them are faster, fewer learn faster.

    The others are those of ``SequenceLabeler``. See the guide docs/guides/structures.md.
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
        memory: Optional[str] = None,
        random_state: Any = 1,
        verbose: Union[int, Callable[[Progress], Any]] = 0,
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

    def fit(self, X, y, held_out=None, info=None) -> "StructuredPredictor":
        """Learns from examples X with outputs y; held_out: (X, y) for early stopping, without info."""
        with self._with_info(info):
            return self._learn(X, y, held_out)

    def predict(self, X, info=None) -> List[list]:
        """The outputs of every example, as a list of lists of labels."""
        with self._with_info(info):
            return super().predict(X)

    def predict_proba(self, X, info=None) -> List[np.ndarray]:
        """Marginals: for every example an array (rows, classes)."""
        with self._with_info(info):
            return super().predict_proba(X)

    def score(self, X, y, info=None) -> float:
        """The share of right labels, or what ``scoring`` names."""
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
