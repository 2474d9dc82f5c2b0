# SPDX-License-Identifier: BSD-3-Clause
"""A whole path of penalties, from strong to weak."""

import ctypes
from copy import copy
from ctypes import POINTER, byref
from typing import Any, List, Optional, Sequence

import numpy as np
from sklearn.base import clone

from . import _structs as s
from ._base import MedleyEstimator
from ._checks import whole
from ._dataset import located
from ._errors import MedleyError, UsageError
from ._library import Handle, call, text
from ._model import Model, array_of
from ._observer import Watch
from ._optional import needed
from ._options import make_options
from ._plots import plot_path
from ._renamed import old_function, take_old
from ._select import Result, checked_estimator


class _PathAnswer(Handle):
    free = "medley_path_free"


_FIGURES = ("C", "objective", "dual", "gap", "score", "active", "seconds")


class Path(Result):
    """What ``medley.regularization_path`` found: the points as far as it went, from strong to weak.

    Attributes
    ----------
    lambdas : ndarray of shape (n_points,)
        Strengths of the penalty.
    C : ndarray of shape (n_points,)
        The same as C.
    objective, dual, gap : ndarray of shape (n_points,)
        Of each model; NaN where there is no certificate.
    score : ndarray of shape (n_points,)
        On ``eval_set``; NaN without it.
    active : ndarray of shape (n_points,)
        Blocks that count for something.
    seconds : ndarray of shape (n_points,)
        That each point took.
    blocks : list of str
        Names of the blocks.
    weights, norms : ndarray of shape (n_points, n_blocks)
        Of each block at each point.
    measure : str
        What ``score`` is.
    task, method, loss, penalty : str
        What was learnt, and how.
    estimators : list
        A fitted estimator for each point, with keep_models.
    """

    C: np.ndarray
    objective: np.ndarray
    dual: np.ndarray
    gap: np.ndarray
    score: np.ndarray
    active: np.ndarray
    seconds: np.ndarray

    def __init__(self, answer: Any) -> None:
        super().__init__(answer)
        told = answer.pointer.contents
        points = [told.points[i] for i in range(told.point_count)]
        self.measure = text(told.measure)
        self.task, self.method = text(told.task), text(told.method)
        self.loss, self.penalty = text(told.loss), text(told.penalty)
        self.blocks = [text(told.blocks[i]) for i in range(told.block_count)]
        self.lambdas = np.array([getattr(point, "lambda") for point in points])
        for name in _FIGURES:
            setattr(self, name, np.array([getattr(point, name) for point in points]))
        shape = (told.block_count,)
        self.weights = np.array([array_of(p.weights, shape, np.float64) for p in points])
        self.norms = np.array([array_of(p.norms, shape, np.float64) for p in points])
        self.estimators: List[MedleyEstimator] = []

    def to_frame(self) -> Any:
        """Put the points into a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            A line for each point: lambda, C, objective, dual, gap, score, active, seconds, and
            the weight of each block under its name.
        """
        pandas = needed("pandas", "Path.to_frame")
        figures = {"lambda": self.lambdas, **{name: getattr(self, name) for name in _FIGURES}}
        frames = [pandas.DataFrame(figures), pandas.DataFrame(self.weights, columns=self.blocks)]
        return pandas.concat(frames, axis=1)

    def plot(self, *, top: int = 10, ax: Optional[Any] = None) -> Any:
        """Draw the weights of blocks over the strength of the penalty, with matplotlib.

        The score, where there is one, is a dashed line with an axis of its own.

        Parameters
        ----------
        top : int, default 10
            So many blocks have a name and a colour, those with the largest weights.
        ax : matplotlib.axes.Axes, optional
            Where to draw; default: a figure of its own.

        Returns
        -------
        matplotlib.axes.Axes
            Where the weights were drawn.
        """
        return plot_path(self, top, ax)

    def __len__(self) -> int:
        return len(self.lambdas)

    def __repr__(self) -> str:
        return f"Path({len(self)} points, {len(self.blocks)} blocks, {self.penalty})"


def _path_options(count, ratio, lambdas):
    how = s.PathOptions(ratio=ratio)
    how.count = whole("count", count, 1)
    if lambdas is not None:
        lambdas = [float(value) for value in lambdas]
        if not lambdas:
            raise UsageError("lambdas is empty; give at least one strength of the penalty")
        how.count = len(lambdas)
        setattr(how, "lambda", (ctypes.c_double * len(lambdas))(*lambdas))
    return how


def regularization_path(X: Any, y: Any, *, estimator: Optional[MedleyEstimator] = None,
                        count: int = 20, ratio: float = 0.01,
                        lambdas: Optional[Sequence[float]] = None, eval_set: Any = None,
                        keep_models: bool = False, **others: Any) -> Path:
    """Learn a model for each of many strengths of the penalty, each started from the one before.

    Parameters
    ----------
    X, y : data, labels
        As the estimator's ``fit`` takes them.
    estimator : estimator of this package, optional
        Its parameters hold, but for C and ``lambda_``; default by the look of y.
    count : int, default 20
        So many strengths, evenly in logarithm.
    ratio : float, default 0.01
        They go from the least that leaves out all kernels down to ratio times it.
    lambdas : sequence of float, optional
        These strengths instead, from strong to weak.
    eval_set : (X, y), optional
        Data that each model is measured on.
    keep_models : bool, default False
        Keep a fitted estimator for each point in ``estimators``.
    **others
        The old name held_out of eval_set.

    Returns
    -------
    Path
        What was found.

    Examples
    --------
    >>> import medley
    >>> X, y = medley.generate("ringnorm", rows=100, seed=1)
    >>> model = medley.MKLClassifier(views="all+each")
    >>> trace = medley.regularization_path(X, y, estimator=model, count=5)
    >>> len(trace), bool((trace.lambdas[:-1] > trace.lambdas[1:]).all())
    (5, True)
    """
    old = take_old("regularization_path", others, {"held_out": "eval_set"})
    eval_set = old.get("eval_set", eval_set)
    model = clone(checked_estimator(estimator, X, y))
    how = _path_options(count, ratio, lambdas)
    dataset, fixed, template = model._problem(X, y)
    measured = None if eval_set is None else model._test_rows(*model._pair(eval_set))
    taken = []

    def take(_context, pointer):
        taken.append(Model(ctypes.c_void_p(pointer)))
        return True

    answer = _PathAnswer(POINTER(s.Path)())
    taker = s.PathTaker(take) if keep_models else s.PathTaker()
    with located(dataset, measured), template as name, Watch(model.verbose) as watch:
        options = make_options(model, {**fixed, **({"template": name} if name else {})})
        call(
            "medley_trace_path",
            byref(answer.pointer),
            dataset.pointer,
            None if measured is None else measured.pointer,
            options.pointer,
            byref(how),
            taker,
            None,
            byref(watch.observer),
        )
    if not answer.pointer or answer.pointer.contents.point_count == 0:
        raise MedleyError("stopped before the first point of the path; there is no result")
    trace = Path(answer)
    for fitted in taken:
        one = copy(model)
        one._keep(fitted)
        trace.estimators.append(one)
    return trace


path = old_function("path", regularization_path)
