# SPDX-License-Identifier: BSD-3-Clause
"""Regression with many kernels."""

from typing import Any, Callable, Optional, Tuple, Union

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from ._checks import needs_y
from ._errors import InputError, UsageError
from ._observer import Progress
from ._rows import RowEstimator
from ._text import TemplateFile


class MKLRegressor(RegressorMixin, RowEstimator):
    """Learns to predict numbers from many kernels at once, and how much each of them counts.

    Parameters are those of ``MKLClassifier``, without those of online methods. loss is "squared"
    or "epsilon(0.1)"; method spicy finds the optimum and proves it (``gap_``).

    Attributes
    ----------
    blocks_ (names of kernels), weights_ (what each counts, summing to 1, or all 0 where the
    penalty has left out every kernel), norms_, objective_, dual_, gap_, n_features_in_,
    feature_names_in_ (of data frames; new ones may have their columns in any order), model_

    Examples
    --------
    >>> import numpy as np, medley
    >>> X = np.linspace(-3, 3, 80).reshape(-1, 1)
    >>> y = np.sin(X[:, 0])
    >>> model = medley.MKLRegressor(["linear", "rbf(sigma2=0.5)"], C=10, gap=1e-4).fit(X, y)
    >>> bool(model.score(X, y) > 0.95 and model.gap_ <= 1e-4)
    True
    """

    _numeric_targets = True
    _has_probabilities = False

    def __init__(
        self,
        kernels: Any = "default",
        *,
        views: Union[str, dict] = "auto",
        penalty: str = "auto",
        loss: str = "auto",
        method: str = "auto",
        C: Optional[float] = None,
        lambda_: Optional[float] = None,
        block_weight: Union[None, str, list, dict] = None,
        preselect: Union[None, int, str] = None,
        scale: Union[None, str, dict] = None,
        normalize: Optional[str] = None,
        gap: Optional[float] = None,
        image_shape: Optional[Tuple[int, int]] = None,
        n_jobs: Optional[int] = None,
        memory: Optional[str] = None,
        random_state: Any = 1,
        verbose: Union[int, Callable[[Progress], Any]] = 0,
        options: Optional[dict] = None,
    ) -> None:
        self.kernels = kernels
        self.views = views
        self.penalty = penalty
        self.loss = loss
        self.method = method
        self.C = C
        self.lambda_ = lambda_
        self.block_weight = block_weight
        self.preselect = preselect
        self.scale = scale
        self.normalize = normalize
        self.gap = gap
        self.image_shape = image_shape
        self.n_jobs = n_jobs
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose
        self.options = options

    def fit(self, X, y) -> "MKLRegressor":
        """Learns from rows X with numbers y."""
        return self._learn(X, y)

    def _problem(self, X, y):
        plan, X, y = self._take(X, y, reset=True)
        dataset = self._training_rows(plan, X)
        dataset.put_targets(y)
        return dataset, self._fixed(plan, "regression"), TemplateFile(None)

    def _test_rows(self, X, y):
        plan, X, y = self._take(X, y, reset=False)
        if plan.sources:
            raise UsageError("held_out has no place beside precomputed kernels and callables")
        dataset = self._put(plan, X, [])
        dataset.put_targets(y)
        return dataset

    def _check_target(self, y):
        return np.asarray(super()._check_target(y), dtype=np.float64)

    def predict(self, X, grams=None) -> np.ndarray:
        """The number of every row. grams: values of kernels that were given as matrices."""
        dataset = self._new_rows(X, grams)
        return self.model_.predict(dataset, self._threads).value

    def score(self, X, y, sample_weight=None, grams=None) -> float:
        """R squared."""
        needs_y(y)
        return r2_score(y, self.predict(X, grams), sample_weight=sample_weight)

    def _labelled(self, X, y, grams=None):
        needs_y(y)
        dataset = self._new_rows(X, grams)
        dataset.put_targets(self._check_target(y))
        return dataset

    def _check_kind(self, model):
        if model.summary()["task"] != "regression":
            raise InputError("the model does not predict numbers; use another estimator")

    def _after_load(self, classes, X):
        if classes is not None:
            raise UsageError("a regressor has no classes")
        super()._after_load(classes, X)
