# SPDX-License-Identifier: BSD-3-Clause
"""Regression with many kernels."""

from typing import Any, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from ._checks import needs_y
from ._docs import documented
from ._errors import InputError, UsageError
from ._observer import Verbose
from ._renamed import eval_set_of
from ._rows import Grams, RowEstimator, Rows
from ._text import TemplateFile


@documented("n_features_in_", "feature_names_in_", "X_fit_")
class MKLRegressor(RegressorMixin, RowEstimator):
    """Learns to predict numbers from many kernels at once, and how much each of them counts.

    Parameters
    ----------
    kernels : "default", "precomputed", a kernel or a list of kernels
        As ``MKLClassifier`` has them.
    views : str or dict, default "auto"
        A text as the command has it, or {name: columns} to cut X.
    loss : str, default "auto"
        ``"squared"`` or ``"epsilon(0.1)"``.
    method : str, default "auto"
        Method spicy finds the optimum and proves it (``gap_``).

    Attributes
    ----------

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
        device: Optional[str] = None,
        memory: Optional[str] = None,
        random_state: Any = 1,
        verbose: Verbose = 0,
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
        self.device = device
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose
        self.options = options

    def fit(self, X: Rows, y: ArrayLike, eval_set: Any = None, **others: Any) -> "MKLRegressor":
        """Learn from rows with numbers.

        Ctrl-C ends training, and the estimator keeps the model that was learnt so far.

        Parameters
        ----------
        X : array, sparse matrix, data frame or dict of these
            Rows; a dict has a table for each view. See ``kernels`` for kernel values.
        y : array-like of shape (n_rows,)
            Numbers.
        eval_set : (X, y), optional
            Only online methods stop early, and there is none for numbers: refused with a sentence.
        **others
            ``sample_weight`` is refused with a sentence: the losses have no weights of examples.

        Returns
        -------
        MKLRegressor
            The estimator itself.
        """
        return self._learn(X, y, eval_set_of(eval_set, others))

    def _problem(self, X, y):
        plan, X, y = self._take(X, y, reset=True)
        dataset = self._training_rows(plan, X)
        dataset.put_targets(y)
        return dataset, self._fixed(plan, "regression"), TemplateFile(None)

    def _test_rows(self, X, y):
        plan, X, y = self._take(X, y, reset=False)
        if plan.sources:
            raise UsageError("eval_set has no place beside precomputed kernels and callables")
        dataset = self._put(plan, X, [])
        dataset.put_targets(y)
        return dataset

    def _check_target(self, y):
        return np.asarray(super()._check_target(y), dtype=np.float64)

    def predict(self, X: Rows, grams: Grams = None) -> np.ndarray:
        """Predict the number of every row.

        Parameters
        ----------
        X : array, sparse matrix, data frame or dict of these
            Rows, as ``fit`` had them.
        grams : list of arrays, optional
            Values (rows, training rows) of each kernel that was given as a matrix.

        Returns
        -------
        ndarray of shape (n_rows,)
            Numbers.
        """
        dataset = self._new_rows(X, grams)
        return self.model_.predict(dataset, self._threads, self._device).value

    def score(self, X: Rows, y: ArrayLike, sample_weight: Optional[ArrayLike] = None,
              grams: Grams = None) -> float:
        """Tell R squared, the share of the variance of y that is explained.

        Parameters
        ----------
        X : array, sparse matrix, data frame or dict of these
            Rows, as ``fit`` had them.
        y : array-like of shape (n_rows,)
            Their numbers.
        sample_weight : array-like of shape (n_rows,), optional
            What each row counts.
        grams : list of arrays, optional
            As for ``predict``.

        Returns
        -------
        float
            R squared.
        """
        from sklearn.metrics import r2_score  # which takes as long to import as all else

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
