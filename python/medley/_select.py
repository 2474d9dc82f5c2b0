# SPDX-License-Identifier: BSD-3-Clause
"""Choosing parameters by cross-validation, and looking at a whole path of penalties."""

import ctypes
from copy import copy
from ctypes import POINTER, byref

import numpy as np
from sklearn.base import clone
from sklearn.utils.multiclass import type_of_target

from . import _structs as s
from ._errors import MedleyError, UsageError
from ._library import c_text, call, lib, text
from ._model import Model, array_of
from ._observer import Watch
from ._options import NOT_OPTIONS, make_options, option_name, option_table, value_text
from .classifier import MKLClassifier
from .parser import DependencyParser
from .regressor import MKLRegressor
from .sequence import SequenceLabeler


class Trial:
    """One combination of values and what it was worth: params, mean, deviation, standard_error,
    folds (one figure each), active (blocks), seconds, problem (why it failed, or None)."""

    def __init__(self, params, trial, fold_count):
        self.params = params
        self.mean, self.deviation = trial.mean, trial.deviation
        self.standard_error = trial.standard_error
        self.active, self.seconds = trial.active, trial.seconds
        self.folds = array_of(trial.fold, (fold_count,), np.float64)
        self.problem = text(trial.problem)

    def __repr__(self):
        return f"Trial({self.params}, mean={self.mean:.6g}, deviation={self.deviation:.3g})"


class Tuning:
    """What ``medley.tune`` found.

    trials, best (the one with the best mean), one_error (the simplest within one standard error of
    it), best_params, measure, higher_is_better, seconds, best_estimator (None without refit).
    """

    def __init__(self, pointer, grid):
        self.pointer = pointer
        told = pointer.contents
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

    def __del__(self):
        pointer, self.pointer = getattr(self, "pointer", None), None
        if pointer and lib is not None:
            lib.medley_tuning_free(pointer)

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
    return value_text(value).strip()


def _params(grid, names, trial):
    """The values of a trial as they were given."""
    params = {}
    for i, name in enumerate(names):
        value = text(trial.values[i]).strip()
        parameter = next(p for p in grid if option_name(p) == name)
        given = {_grid_text(parameter, v): v for v in grid[parameter]}
        params[parameter] = given.get(value, value)
    return params


def _choices(grid):
    choices = (s.Choice * max(1, len(grid)))()
    for choice, (parameter, values) in zip(choices, grid.items()):
        separator = " | " if parameter == "kernels" else ","
        choice.option = c_text(option_name(parameter))
        choice.values = c_text(separator.join(_grid_text(parameter, value) for value in values))
    return choices


def _default_estimator(X, y):
    first = None if y is None else y[0]
    if isinstance(first, (list, tuple)):
        pairs = isinstance(first[0], (list, tuple)) if len(first) else False
        return DependencyParser() if pairs else SequenceLabeler()
    if y is None:
        return DependencyParser()
    return MKLRegressor() if type_of_target(y).startswith("continuous") else MKLClassifier()


def _check_grid(estimator, grid):
    known = {*estimator.get_params(deep=False), *option_table()} - NOT_OPTIONS
    for parameter, values in grid.items():
        if parameter not in known:
            raise UsageError(f"{type(estimator).__name__} has no parameter {parameter!r}")
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise UsageError(f"the grid has one value for {parameter!r}; give a list of values")


def _with_params(estimator, params):
    """A copy with these parameters; those that are no parameters go to its options."""
    own = estimator.get_params(deep=False)
    others = {name: value for name, value in params.items() if name not in own}
    best = clone(estimator).set_params(**{n: v for n, v in params.items() if n in own})
    return best.set_params(options={**(own["options"] or {}), **others}) if others else best


def tune(X, y, grid, *, estimator=None, cv=5, measure=None, refit=True):
    """Cross-validates every combination of a grid; kernel values are computed once where they can.

    Parameters
    ----------
    grid : dict {parameter: list of values}
        Parameters of the estimator, such as {"C": [0.1, 1, 10], "penalty": ["mkl", "l2"]}, or
        options of the command by name.
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
    estimator = _default_estimator(X, y) if estimator is None else estimator
    model = clone(estimator)
    defaults = type(estimator)().get_params(deep=False)
    _check_grid(estimator, grid)
    model.set_params(**{p: defaults[p] for p in grid if p in defaults})  # the grid speaks instead
    dataset, fixed, template = model._problem(X, y)
    how = s.TuneOptions(ctypes.sizeof(s.TuneOptions), cv, c_text(measure))
    answer = POINTER(s.Tuning)()
    with template as name, Watch(model.verbose) as watch:
        options = make_options(model, {**fixed, **({"template": name} if name else {})})
        call(
            "medley_tune",
            byref(answer),
            dataset.pointer,
            options.pointer,
            _choices(grid),
            len(grid),
            byref(how),
            byref(watch.observer),
        )
    if not answer:
        raise MedleyError("stopped before all combinations were tried; there is no result")
    tuning = Tuning(answer, grid)
    if refit:
        tuning.best_estimator = _with_params(estimator, tuning.best_params).fit(X, y)
    return tuning


class Path:
    """What ``medley.path`` found, from strong to weak penalty.

    blocks (names), lambdas, C, objective, dual, gap, score (NaN without held-out data), active,
    seconds: one figure for each point; weights, norms: (points, blocks); measure; estimators.
    """

    def __init__(self, pointer):
        self.pointer = pointer
        told = pointer.contents
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

    def __del__(self):
        pointer, self.pointer = getattr(self, "pointer", None), None
        if pointer and lib is not None:
            lib.medley_path_free(pointer)

    def __len__(self):
        return len(self.lambdas)

    def __repr__(self):
        return f"Path({len(self)} points, {len(self.blocks)} blocks, {self.penalty})"


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
    estimator = _default_estimator(X, y) if estimator is None else estimator
    model = clone(estimator)
    dataset, fixed, template = model._problem(X, y)
    others = None if held_out is None else model._test_rows(*held_out)
    how = s.PathOptions(struct_size=ctypes.sizeof(s.PathOptions), count=count, ratio=ratio)
    if lambdas is not None:
        how.count = len(lambdas)
        setattr(how, "lambda", (ctypes.c_double * len(lambdas))(*lambdas))
    taken = []

    def take(_context, pointer):
        taken.append(Model(ctypes.c_void_p(pointer)))
        return True

    answer = POINTER(s.Path)()
    taker = s.PathTaker(take) if keep_models else s.PathTaker()
    with template as name, Watch(model.verbose) as watch:
        options = make_options(model, {**fixed, **({"template": name} if name else {})})
        call(
            "medley_trace_path",
            byref(answer),
            dataset.pointer,
            None if others is None else others.pointer,
            options.pointer,
            byref(how),
            taker,
            None,
            byref(watch.observer),
        )
    if not answer:
        raise MedleyError("stopped before the first point of the path; there is no result")
    trace = Path(answer)
    for fitted in taken:
        one = copy(model)
        one._keep(fitted)
        trace.estimators.append(one)
    return trace
