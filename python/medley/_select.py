# SPDX-License-Identifier: BSD-3-Clause
"""What tuning and paths share: which estimator is meant, and answers of the library."""

from typing import Any

from sklearn.utils.multiclass import type_of_target

from ._base import MedleyEstimator
from ._errors import InputError, UsageError
from ._labels import refuse_missing
from ._library import Handle
from .classifier import MKLClassifier
from .parser import DependencyParser
from .regressor import MKLRegressor
from .sequence import SequenceLabeler


class Result:
    """An answer of the library that copies share; pickles and deep copies are without it."""

    def __init__(self, answer: Handle) -> None:
        self._answer = answer

    @property
    def pointer(self) -> Any:
        """The library's object, for reports."""
        if self._answer is None:
            raise UsageError(
                f"this {type(self).__name__} was pickled or copied deeply: its figures are here, "
                "and a report can be written only of the one that it was made from"
            )
        return self._answer.pointer

    def __copy__(self) -> "Result":
        copied = type(self).__new__(type(self))
        vars(copied).update(vars(self))
        return copied

    def __getstate__(self) -> Any:
        return {**vars(self), "_answer": None}


def default_estimator(X, y):
    if y is not None and len(y) == 0:
        raise InputError("y is empty; there is nothing to learn from")
    first = None if y is None else y[0]
    if isinstance(first, (list, tuple)):
        pairs = isinstance(first[0], (list, tuple)) if len(first) else False
        return DependencyParser() if pairs else SequenceLabeler()
    if y is None:
        return DependencyParser()
    refuse_missing(y)
    return MKLRegressor() if type_of_target(y).startswith("continuous") else MKLClassifier()


def checked_estimator(estimator, X, y):
    if estimator is None:
        return default_estimator(X, y)
    if isinstance(estimator, type) or not isinstance(estimator, MedleyEstimator):
        raise UsageError(
            f"estimator={estimator!r}; give one of this package, such as MKLClassifier(), and for "
            "others use GridSearchCV"
        )
    return estimator
