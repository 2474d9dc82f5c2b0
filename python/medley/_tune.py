# SPDX-License-Identifier: BSD-3-Clause
"""Choosing parameters by cross-validation."""

from ctypes import POINTER, byref
from typing import Any, Dict, List, Optional, Sequence

import numpy as np
from sklearn.base import clone

from . import _structs as s
from ._base import MedleyEstimator
from ._checks import whole
from ._dataset import located
from ._errors import MedleyError
from ._grid import checked_grid, choices, params_of, with_params
from ._library import Handle, c_text, call, text
from ._model import array_of, warn_of
from ._names import in_python
from ._observer import Watch
from ._optional import needed
from ._options import make_options
from ._renamed import old_attribute, take_old
from ._select import Result, checked_estimator

# scikit-learn's names of measures whose better values are smaller; it turns their sign around.
_NEGATED = {"neg_log_loss": "log-loss", "neg_root_mean_squared_error": "rmse"}


class _TuningAnswer(Handle):
    free = "medley_tuning_free"


class Trial:
    """One combination of values and what it was worth.

    Attributes
    ----------
    params : dict
        The values by parameter.
    mean : float
        Of the measure over the folds.
    deviation : float
        Of the measure over the folds.
    standard_error : float
        Of the mean.
    folds : ndarray
        The measure on each fold.
    active : float
        Blocks that count for something, on average.
    seconds : float
        That learning took.
    problem : str or None
        Why it failed.
    """

    def __init__(self, params: Dict[str, Any], trial: Any, fold_count: int) -> None:
        self.params = params
        self.mean, self.deviation = trial.mean, trial.deviation
        self.standard_error = trial.standard_error
        self.active, self.seconds = trial.active, trial.seconds
        self.folds = array_of(trial.fold, (fold_count,), np.float64)
        self.problem = None if trial.problem is None else in_python(text(trial.problem))

    def __repr__(self) -> str:
        return f"Trial({self.params}, mean={self.mean:.6g}, deviation={self.deviation:.3g})"


class Tuning(Result):
    """What ``medley.tune`` found, with the names of scikit-learn's searches.

    Scores of ``best_score_`` and ``cv_results_`` are better when they are larger, as scikit-learn
    has them: log-loss and rmse come with their sign turned around. ``trials`` have the measure itself.

    Attributes
    ----------
    best_params_ : dict
        The combination with the best mean.
    best_score_ : float
        Its mean score.
    best_index_ : int
        Its number in ``trials`` and ``cv_results_``.
    best_estimator_ : estimator or None
        Learnt from all data with it; None without refit.
    cv_results_ : dict of arrays
        All combinations, for ``pandas.DataFrame``: params, param_NAME, splitN_test_score,
        mean_test_score, std_test_score, rank_test_score, and beyond scikit-learn's active_blocks
        and mean_seconds.
    n_splits_ : int
        Folds.
    trials : list of Trial
        All combinations.
    best : Trial
        The one with the best mean.
    one_error : Trial
        The simplest one within one standard error of it.
    measure : str
        What was measured.
    higher_is_better : bool
        Of the measure itself.
    kernels_shared : bool
        Have all combinations used the same kernel values?
    seconds : float
        That all of it took.
    seconds_kernels : float
        That kernel values took of it.
    """

    def __init__(self, answer: Any, grid: Dict[str, List[Any]]) -> None:
        super().__init__(answer)
        told = answer.pointer.contents
        self.measure = text(told.measure)
        self.higher_is_better = told.higher_is_better
        self.kernels_shared = told.kernels_shared
        self.seconds, self.seconds_kernels = told.seconds_total, told.seconds_kernels
        names = [text(told.options[i]) for i in range(told.option_count)]
        self.n_splits_ = told.fold_count
        self.trials = [
            Trial(params_of(grid, names, told.trials[i]), told.trials[i], told.fold_count)
            for i in range(told.trial_count)
        ]
        self.best_index_ = told.best
        self.best = self.trials[told.best]
        self.one_error = self.trials[told.one_error]
        self.best_params_ = self.best.params
        self.best_estimator_: Optional[MedleyEstimator] = None

    best_params = old_attribute("best_params", "best_params_")
    best_estimator = old_attribute("best_estimator", "best_estimator_")

    @property
    def _sign(self) -> int:
        return 1 if self.higher_is_better else -1

    @property
    def best_score_(self) -> float:
        """Mean score of the best combination."""
        return self._sign * self.best.mean

    @property
    def cv_results_(self) -> Dict[str, Any]:
        """All combinations as arrays."""
        results: Dict[str, Any] = {"params": [trial.params for trial in self.trials]}
        for name in self.trials[0].params:
            values = [trial.params.get(name) for trial in self.trials]
            results[f"param_{name}"] = np.ma.MaskedArray(np.empty(len(values), dtype=object))
            results[f"param_{name}"][:] = values
        for fold in range(self.n_splits_):
            scores = [np.nan if trial.folds is None else trial.folds[fold] for trial in self.trials]
            results[f"split{fold}_test_score"] = self._sign * np.array(scores)
        mean = self._sign * np.array([trial.mean for trial in self.trials])
        results["mean_test_score"] = mean
        results["std_test_score"] = np.array([trial.deviation for trial in self.trials])
        ranked = np.where(np.isnan(mean), -np.inf, mean)  # what failed comes last
        results["rank_test_score"] = np.array([1 + int((ranked > m).sum()) for m in ranked])
        results["active_blocks"] = np.array([trial.active for trial in self.trials])
        results["mean_seconds"] = np.array([trial.seconds for trial in self.trials])
        return results

    def to_frame(self) -> Any:
        """Put the trials into a data frame of pandas, in the order they were tried in.

        Returns
        -------
        pandas.DataFrame
            A line for each trial: a column for each parameter, then mean, deviation,
            standard_error, rank (1 is the best), active, seconds and problem.
        """
        pandas = needed("pandas", "Tuning.to_frame")
        rank = self.cv_results_["rank_test_score"]
        names = ("mean", "deviation", "standard_error", "active", "seconds", "problem")
        lines = [
            {**trial.params, **{name: getattr(trial, name) for name in names}}
            for trial in self.trials
        ]
        frame = pandas.DataFrame(lines)
        frame.insert(frame.columns.get_loc("active"), "rank", rank)
        return frame

    def __repr__(self) -> str:
        return f"Tuning({self.measure}, best={self.best!r}, {len(self.trials)} trials)"


def tune(X: Any, y: Any, param_grid: Optional[Dict[str, Sequence[Any]]] = None, *,
         estimator: Optional[MedleyEstimator] = None, cv: int = 5, scoring: Optional[str] = None,
         refit: bool = True, **others: Any) -> Tuning:
    """Cross-validate every combination of a grid; each fold learns from its training rows alone.

    Kernel values that combinations share are computed once, which ``GridSearchCV`` cannot do.

    Parameters
    ----------
    X, y : data, labels
        As the estimator's ``fit`` takes them.
    param_grid : dict {parameter: list of values}, optional
        Parameters of the estimator, such as {"C": [0.1, 1, 10], "penalty": ["mkl", "l2"]}, or
        options of the command by name; None is the default. {} or None: some strengths of the
        penalty.
    estimator : estimator of this package, optional
        Its other parameters hold for all; default by the look of y.
    cv : int, default 5
        Folds, stratified by label; sequences and sentences stay whole.
    scoring : str, optional
        "accuracy", "f1", "log-loss", "exact-match", "rmse", "uas" or "las", or scikit-learn's
        "neg_log_loss" and "neg_root_mean_squared_error"; None: what suits.
    refit : bool, default True
        Learn ``best_estimator_`` from all data with the best combination.
    **others
        Old names: grid, measure.

    Returns
    -------
    Tuning
        What was found.

    Examples
    --------
    >>> import medley
    >>> X, y = medley.generate("ringnorm", rows=120, seed=1)
    >>> model = medley.MKLClassifier("rbf(auto)")
    >>> found = medley.tune(X, y, {"C": [0.1, 10]}, estimator=model, cv=3)
    >>> len(found.trials), found.measure, found.best_params_["C"] in (0.1, 10)
    (2, 'accuracy', True)
    """
    old = take_old("tune", others, {"grid": "param_grid", "measure": "scoring"})
    chosen = checked_estimator(estimator, X, y)
    model = clone(chosen)
    defaults = type(chosen)().get_params(deep=False)
    given = old.get("param_grid", param_grid)
    grid = checked_grid(chosen, {} if given is None else given)
    model.set_params(**{p: defaults[p] for p in grid if p in defaults})  # the grid speaks instead
    dataset, fixed, template = model._problem(X, y)
    scoring = old.get("scoring", scoring)
    measure = c_text(_NEGATED.get(scoring or "", scoring))
    how = s.TuneOptions(folds=whole("cv", cv, 2), measure=measure)
    answer = _TuningAnswer(POINTER(s.Tuning)())
    with located(dataset), template as name, Watch(model.verbose) as watch:
        options = make_options(model, {**fixed, **({"template": name} if name else {})})
        if "scale" not in grid:
            warn_of(dataset, options, 2)
        status = call(
            "medley_tune",
            byref(answer.pointer),
            dataset.pointer,
            options.pointer,
            choices(grid),
            len(grid),
            byref(how),
            byref(watch.observer),
        )
    if not answer.pointer:
        raise MedleyError("stopped before all combinations were tried in one fold; there is no result")
    tuning = Tuning(answer, grid)
    if refit and status == 0:  # who stops the tuning does not want to wait for a model
        tuning.best_estimator_ = with_params(chosen, tuning.best_params_).fit(X, y)
    return tuning
