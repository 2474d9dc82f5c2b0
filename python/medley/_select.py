# SPDX-License-Identifier: BSD-3-Clause
"""Choosing parameters by cross-validation, and looking at a whole path of penalties."""

import ctypes
from copy import copy
from ctypes import POINTER, byref

import numpy as np
from sklearn.base import clone
from sklearn.utils.multiclass import type_of_target

from . import _structs as s
from ._base import MedleyEstimator
from ._checks import whole
from ._dataset import located
from ._errors import InputError, MedleyError, UsageError
from ._library import Handle, c_text, call, text
from ._model import Model, array_of, warn_of
from ._observer import Watch
from ._names import in_python, option_name
from ._options import NOT_OPTIONS, make_options, option_table, value_text
from .classifier import MKLClassifier
from .parser import DependencyParser
from .regressor import MKLRegressor
from .sequence import SequenceLabeler


class _TuningAnswer(Handle):
    free = "medley_tuning_free"


class _PathAnswer(Handle):
    free = "medley_path_free"


class _Result:
    """An answer of the library that copies share; pickles and deep copies are without it."""

    def __init__(self, answer):
        self._answer = answer

    @property
    def pointer(self):
        if self._answer is None:
            raise UsageError(
                f"this {type(self).__name__} was pickled or copied deeply: its figures are here, "
                "and a report can be written only of the one that it was made from"
            )
        return self._answer.pointer

    def __copy__(self):
        copied = type(self).__new__(type(self))
        vars(copied).update(vars(self))
        return copied

    def __getstate__(self):
        return {**vars(self), "_answer": None}


class Trial:
    """One combination of values and what it was worth: params, mean, deviation, standard_error,
    folds (one figure each), active (blocks), seconds, problem (why it failed, or None)."""

    def __init__(self, params, trial, fold_count):
        self.params = params
        self.mean, self.deviation = trial.mean, trial.deviation
        self.standard_error = trial.standard_error
        self.active, self.seconds = trial.active, trial.seconds
        self.folds = array_of(trial.fold, (fold_count,), np.float64)
        self.problem = None if trial.problem is None else in_python(text(trial.problem))

    def __repr__(self):
        return f"Trial({self.params}, mean={self.mean:.6g}, deviation={self.deviation:.3g})"


class Tuning(_Result):
    """What ``medley.tune`` found.

    trials, best (the one with the best mean), one_error (the simplest within one standard error of
    it), best_params, measure, higher_is_better, seconds, best_estimator (None without refit).
    """

    def __init__(self, answer, grid):
        super().__init__(answer)
        told = answer.pointer.contents
        self.measure = text(told.measure)
        self.higher_is_better = told.higher_is_better
        self.kernels_shared = told.kernels_shared
        self.seconds, self.seconds_kernels = told.seconds_total, told.seconds_kernels
        names = [text(told.options[i]) for i in range(told.option_count)]
        self.trials = [
            Trial(_params(grid, names, told.trials[i]), told.trials[i], told.fold_count)
            for i in range(told.trial_count)
        ]
        self.best = self.trials[told.best]
        self.one_error = self.trials[told.one_error]
        self.best_params = self.best.params
        self.best_estimator = None

    def __repr__(self):
        return f"Tuning({self.measure}, best={self.best!r}, {len(self.trials)} trials)"


def _grid_text(parameter, value):
    """A value of the grid as the library writes it."""
    if parameter == "kernels" and isinstance(value, (list, tuple)):
        if len(value) != 1:
            raise UsageError(
                "a value of kernels in a grid is one kernel, which may stand for several: "
                "'rbf(sigma2={1,5})'; for lists of kernels use GridSearchCV"
            )
        value = value[0]
    if value is None:
        value = "auto" if parameter == "scale" else _fallback(parameter)
        if not value:
            raise UsageError(f"None stands for no single value of {parameter}; leave None out")
    return value_text(value).strip()


def _fallback(parameter):
    return text(option_table()[option_name(parameter)].fallback)


def _params(grid, names, trial):
    """The values of a trial as they were given; numbers where the library has chosen them."""
    params = {}
    for i, name in enumerate(names):
        value = text(trial.values[i]).strip()
        parameter = next((p for p in grid if option_name(p) == name), None)
        if parameter is None:
            params[_parameter_name(name)] = float(value)
        else:
            given = {_grid_text(parameter, v): v for v in grid[parameter]}
            params[parameter] = given.get(value, value)
    return params


def _parameter_name(option):
    return {"lambda": "lambda_"}.get(option, option)


def _choices(grid):
    choices = (s.Choice * max(1, len(grid)))()
    for choice, (parameter, values) in zip(choices, grid.items()):
        separator = " | " if parameter == "kernels" else ","
        choice.option = c_text(option_name(parameter))
        choice.values = c_text(separator.join(_grid_text(parameter, value) for value in values))
    return choices


def _default_estimator(X, y):
    if y is not None and len(y) == 0:
        raise InputError("y is empty; there is nothing to learn from")
    first = None if y is None else y[0]
    if isinstance(first, (list, tuple)):
        pairs = isinstance(first[0], (list, tuple)) if len(first) else False
        return DependencyParser() if pairs else SequenceLabeler()
    if y is None:
        return DependencyParser()
    return MKLRegressor() if type_of_target(y).startswith("continuous") else MKLClassifier()


def _checked_grid(estimator, grid):
    """{parameter: list of values} with the names that the estimator or the command has."""
    if not isinstance(grid, dict):
        raise UsageError("a grid is a dict {parameter: list of values}")
    own = {option_name(p): p for p in estimator.get_params(deep=False) if p not in NOT_OPTIONS}
    checked = {}
    for given, values in grid.items():
        name = option_name(str(given))
        parameter = own.get(name, name if name in option_table() else None)
        if parameter is None:
            raise UsageError(f"{type(estimator).__name__} has no parameter {given!r}")
        if parameter in checked:
            raise UsageError(f"the grid has {parameter!r} twice")
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise UsageError(f"the grid has one value for {given!r}; give a list of values")
        checked[parameter] = list(values)
        if not checked[parameter]:
            raise UsageError(f"the grid has no values for {given!r}")
    return checked


def _checked_estimator(estimator, X, y):
    if estimator is None:
        return _default_estimator(X, y)
    if isinstance(estimator, type) or not isinstance(estimator, MedleyEstimator):
        raise UsageError(
            f"estimator={estimator!r}; give one of this package, such as MKLClassifier(), and for "
            "others use GridSearchCV"
        )
    return estimator


def _with_params(estimator, params):
    """A copy with these parameters; those that are no parameters go to its options."""
    own = estimator.get_params(deep=False)
    others = {name: value for name, value in params.items() if name not in own}
    best = clone(estimator).set_params(**{n: v for n, v in params.items() if n in own})
    return best.set_params(options={**(own["options"] or {}), **others}) if others else best


def tune(X, y, grid, *, estimator=None, cv=5, measure=None, refit=True):
    """Cross-validates every combination of a grid; each fold learns from its training rows alone.

    Parameters
    ----------
    grid : dict {parameter: list of values}
        Parameters of the estimator, such as {"C": [0.1, 1, 10], "penalty": ["mkl", "l2"]}, or
        options of the command by name; None is the default. {}: some strengths of the penalty.
    estimator : estimator of this package
        Its other parameters hold for all; default by the look of y.
    cv : int
        Folds, stratified by label; sequences and sentences stay whole.
    measure : str
        "accuracy", "f1", "log-loss", "exact-match", "rmse", "uas" or "las"; None: what suits.
    refit : bool
        Learn ``best_estimator`` from all data with the best combination.

    Examples
    --------
    >>> import medley
    >>> X, y = medley.generate("ringnorm", rows=120, seed=1)
    >>> model = medley.MKLClassifier("rbf(auto)")
    >>> found = medley.tune(X, y, {"C": [0.1, 10]}, estimator=model, cv=3)
    >>> len(found.trials), found.measure, found.best_params["C"] in (0.1, 10)
    (2, 'accuracy', True)
    """
    estimator = _checked_estimator(estimator, X, y)
    model = clone(estimator)
    defaults = type(estimator)().get_params(deep=False)
    grid = _checked_grid(estimator, grid)
    model.set_params(**{p: defaults[p] for p in grid if p in defaults})  # the grid speaks instead
    dataset, fixed, template = model._problem(X, y)
    how = s.TuneOptions(folds=whole("cv", cv, 2), measure=c_text(measure))
    answer = _TuningAnswer(POINTER(s.Tuning)())
    with located(dataset), template as name, Watch(model.verbose) as watch:
        options = make_options(model, {**fixed, **({"template": name} if name else {})})
        if "scale" not in grid:
            warn_of(dataset, options, 2)
        call(
            "medley_tune",
            byref(answer.pointer),
            dataset.pointer,
            options.pointer,
            _choices(grid),
            len(grid),
            byref(how),
            byref(watch.observer),
        )
    if not answer.pointer:
        raise MedleyError("stopped before all combinations were tried; there is no result")
    tuning = Tuning(answer, grid)
    if refit:
        tuning.best_estimator = _with_params(estimator, tuning.best_params).fit(X, y)
    return tuning


class Path(_Result):
    """What ``medley.path`` found, from strong to weak penalty: the points as far as it went.

    blocks (names), lambdas, C, objective, dual, gap, score (NaN without held-out data), active,
    seconds: one figure for each point; weights, norms: (points, blocks); measure; estimators.
    """

    def __init__(self, answer):
        super().__init__(answer)
        told = answer.pointer.contents
        points = [told.points[i] for i in range(told.point_count)]
        self.measure = text(told.measure)
        self.task, self.method = text(told.task), text(told.method)
        self.loss, self.penalty = text(told.loss), text(told.penalty)
        self.blocks = [text(told.blocks[i]) for i in range(told.block_count)]
        self.lambdas = np.array([getattr(point, "lambda") for point in points])
        for name in ("C", "objective", "dual", "gap", "score", "active", "seconds"):
            setattr(self, name, np.array([getattr(point, name) for point in points]))
        shape = (told.block_count,)
        self.weights = np.array([array_of(p.weights, shape, np.float64) for p in points])
        self.norms = np.array([array_of(p.norms, shape, np.float64) for p in points])
        self.estimators = []

    def __len__(self):
        return len(self.lambdas)

    def __repr__(self):
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


def path(X, y, *, estimator=None, count=20, ratio=0.01, lambdas=None, held_out=None,
         keep_models=False):
    """Learns a model for each of many strengths of the penalty, each started from the one before.

    Parameters
    ----------
    estimator : estimator of this package
        Its parameters hold, but for C and lambda_; default by the look of y.
    count, ratio : int, float
        So many strengths, evenly in logarithm from the least that leaves out all kernels down to
        ratio times it.
    lambdas : list of float
        These strengths instead, from strong to weak.
    held_out : pair (X, y)
        Data that each model is measured on.
    keep_models : bool
        Keep a fitted estimator for each point in ``estimators``.

    Examples
    --------
    >>> import medley
    >>> X, y = medley.generate("ringnorm", rows=100, seed=1)
    >>> trace = medley.path(X, y, estimator=medley.MKLClassifier(views="all+each"), count=5)
    >>> len(trace), bool((trace.lambdas[:-1] > trace.lambdas[1:]).all())
    (5, True)
    """
    model = clone(_checked_estimator(estimator, X, y))
    how = _path_options(count, ratio, lambdas)
    dataset, fixed, template = model._problem(X, y)
    others = None if held_out is None else model._test_rows(*model._pair(held_out))
    taken = []

    def take(_context, pointer):
        taken.append(Model(ctypes.c_void_p(pointer)))
        return True

    answer = _PathAnswer(POINTER(s.Path)())
    taker = s.PathTaker(take) if keep_models else s.PathTaker()
    with located(dataset, others), template as name, Watch(model.verbose) as watch:
        options = make_options(model, {**fixed, **({"template": name} if name else {})})
        call(
            "medley_trace_path",
            byref(answer.pointer),
            dataset.pointer,
            None if others is None else others.pointer,
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
