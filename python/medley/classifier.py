# SPDX-License-Identifier: BSD-3-Clause
"""Classification with many kernels."""

import numbers
from typing import Any, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ._checks import needs_y
from ._docs import documented
from ._errors import InputError, MedleyError, UsageError
from ._kernels import Plan
from ._labels import check_kind, chosen_labels, free_name, label_order, label_texts
from ._model import Learner
from ._observer import Verbose
from ._options import make_options
from ._renamed import eval_set_of, take_old
from ._rows import Grams, RowEstimator, Rows
from ._text import TemplateFile


@documented("classes_", "n_features_in_", "feature_names_in_", "X_fit_")
class MKLClassifier(ClassifierMixin, RowEstimator):
    """Learns a classifier from many kernels at once, and how much each of them counts.

    Parameters
    ----------
    kernels : "default", "precomputed", a kernel or a list of kernels
        A kernel is a text such as ``'rbf(sigma2=5)'`` or ``'poly(degree=2)@view'``
        (``medley.list_kernels()``), a callable ``k(X, Z)`` that returns the matrix of its values
        (or a pair of callable and view), or the square matrix of its values on the training rows, or
        ``medley.Distances`` of a matrix of distances; for each such matrix ``predict`` wants one of
        new rows by training rows in ``grams``. With ``"precomputed"`` X itself is the kernel values:
        (rows, training rows), several of them as a list or as an array (rows, training rows,
        kernels); ``'precomputed@name'`` is one view of X (cross-validation cuts the columns of
        kernel values with ``"precomputed"`` only).
    views : str or dict, default "auto"
        A text as the command has it (``'all+each'``, ``'grid:2x2'``), or {name: columns} to cut X;
        columns are numbers, a slice, or the names that a data frame has.

    Attributes
    ----------

    Examples
    --------
    >>> import medley
    >>> X, y = medley.generate("waveform", rows=300, seed=1)
    >>> model = medley.MKLClassifier(["linear(norm=diag)", "rbf(auto)"], scale="standard").fit(X, y)
    >>> bool(model.score(*medley.generate("waveform", rows=300, seed=2)) > 0.8)
    True
    >>> len(model.weights_) == len(model.blocks_) == 2
    True
    """

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
        p: Optional[float] = None,
        epochs: Optional[int] = None,
        preselect: Union[None, int, str] = None,
        scale: Union[None, str, dict] = None,
        normalize: Optional[str] = None,
        calibrate: bool = False,
        certify: bool = False,
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
        self.p = p
        self.epochs = epochs
        self.preselect = preselect
        self.scale = scale
        self.normalize = normalize
        self.calibrate = calibrate
        self.certify = certify
        self.gap = gap
        self.image_shape = image_shape
        self.n_jobs = n_jobs
        self.device = device
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose
        self.options = options

    # ---- learning ----

    def fit(self, X: Rows, y: ArrayLike, eval_set: Any = None, **others: Any) -> "MKLClassifier":
        """Learn from labelled rows.

        Ctrl-C ends training, and the estimator keeps the model that was learnt so far.

        Parameters
        ----------
        X : array, sparse matrix, data frame or dict of these
            Rows; a dict has a table for each view. See ``kernels`` for kernel values.
        y : array-like of shape (n_rows,)
            Labels.
        eval_set : (X, y), optional
            Other rows and their labels, for early stopping of online methods.
        **others
            ``sample_weight`` is refused with a sentence: the losses have no weights of examples.

        Returns
        -------
        MKLClassifier
            The estimator itself.
        """
        return self._learn(X, y, eval_set_of(eval_set, others))

    def _problem(self, X, y):
        self._learner, self._pieces = None, 0
        plan, X, y = self._take(X, y, reset=True)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) == 1:
            raise InputError(
                f"y has one class, {self.classes_[0]!r}; a classifier needs at least two labels"
            )
        dataset = self._training_rows(plan, X)
        dataset.put_labels(codes, label_texts(self.classes_))
        task = "binary" if len(self.classes_) == 2 else "multiclass"
        return dataset, self._fixed(plan, task), TemplateFile(None)

    def _test_rows(self, X, y):
        plan, X, y = self._take(X, y, reset=False)
        if plan.sources:
            raise UsageError("eval_set has no place beside precomputed kernels and callables")
        return self._with_labels(self._put(plan, X, []), y)

    def _with_labels(self, dataset, y):
        """Labels that the model does not know come behind the others: they count as wrong."""
        names, codes = label_texts(self.classes_), self._codes(y)
        if (codes < 0).any():
            codes = np.where(codes < 0, len(names), codes)
            names = [*names, free_name(names)]
        dataset.put_labels(codes, names)
        return dataset

    def _codes(self, y):
        """Numbers of labels that are known, else -1."""
        check_kind(y, self.classes_)
        place = {label: i for i, label in enumerate(self.classes_.tolist())}
        return np.array([place.get(label, -1) for label in np.asarray(y).tolist()], dtype=np.int32)

    def _learner_options(self):
        """Options for learning in pieces; an error names a parameter that has no place there."""
        plan = Plan(self.kernels)
        if plan.sources:
            raise UsageError("partial_fit has no use for precomputed kernels and callables")
        return make_options(self, {**self._fixed(plan, None), "seed": self._piece_seed()})

    def _piece_seed(self):
        """Nothing is drawn at random in pieces, and hasattr must not draw from a RandomState."""
        return self.random_state if isinstance(self.random_state, numbers.Integral) else 1

    def _learns_in_pieces(self):
        """For hasattr(estimator, "partial_fit"): do the parameters suit?"""
        try:
            Learner(self._learner_options())
        except MedleyError as problem:
            told = f"there is no partial_fit with these parameters: {problem}"
            raise AttributeError(told) from None
        return True

    @available_if(_learns_in_pieces)
    def partial_fit(self, X: Rows, y: ArrayLike, classes: Optional[ArrayLike] = None,
                    **others: Any) -> "MKLClassifier":
        """Learn from a piece of data, once; others may follow.

        It is the first stage of method obscure; with parameters that have no place there (another
        method, C, calibrate ...) there is no partial_fit, and the AttributeError tells why. What is
        chosen from data (kernel widths, scalings) is chosen from the first piece, which must hold
        two different labels. ``fit`` forgets what was learnt here.

        Parameters
        ----------
        X : array, sparse matrix, data frame or dict of these
            Rows of this piece.
        y : array-like of shape (n_rows,)
            Their labels.
        classes : array-like, optional
            All labels that will come; without it labels may come at any time.
        **others
            ``sample_weight`` is refused with a sentence, as by ``fit``.

        Returns
        -------
        MKLClassifier
            The estimator itself.

        Examples
        --------
        >>> import medley
        >>> X, y = medley.generate("waveform", rows=300, seed=1)
        >>> model = medley.MKLClassifier(["linear(norm=diag)"])
        >>> for start in range(0, 300, 100):
        ...     model = model.partial_fit(X[start:start+100], y[start:start+100], classes=[0, 1, 2])
        >>> model.predict(X).shape
        (300,)
        """
        take_old("partial_fit", others, {})
        learner = getattr(self, "_learner", None)
        if learner is None and getattr(self, "_pieces", 0) > 0:
            raise UsageError(
                "this model was copied or unpickled, and what partial_fit needs to go on does not "
                "travel with it; predict works, fit starts anew"
            )
        with self._all_or_nothing():
            plan, X, y = self._take(X, y, reset=learner is None)
            check_classification_targets(y)
            self._grow_classes(y, classes, learner is None)
            dataset = self._put(plan, X, [])
            dataset.put_labels(self._codes(y), label_texts(self.classes_))
            if learner is None:
                learner = Learner(self._learner_options())
            learner.partial_fit(dataset)
            self._learner, self._pieces = learner, getattr(self, "_pieces", 0) + 1
            self._keep(learner.model())
        return self

    def _grow_classes(self, y, classes, first):
        known = np.unique(y)
        if classes is not None:
            classes = np.unique(column_or_1d(classes))
            if not first and not np.array_equal(classes, self.classes_):
                raise UsageError("classes is not what it was in the first call of partial_fit")
            if not np.isin(known, classes).all():
                raise InputError("y has labels that are not among classes")
            known = classes
        if not first:
            check_kind(known, self.classes_)
        self.classes_ = known if first else np.unique(np.concatenate([self.classes_, known]))

    # ---- prediction ----

    def _predicted(self, X, grams=None, probabilities=False):
        """Numbers of classes_, and scores in their order."""
        dataset = self._new_rows(X, grams)
        answer = self.model_.predict(dataset, self._threads, self._device, probabilities)
        order = self._order()
        scores = np.full((len(answer.label), len(self.classes_)), -np.inf)
        if probabilities:
            scores[:] = 0
        scores[:, order] = answer.score
        return order[answer.label], scores

    def _order(self):
        """The place in classes_ of each label of the model."""
        return label_order(self.classes_, self.model_.labels)

    def predict(self, X: Rows, grams: Grams = None) -> np.ndarray:
        """Predict the label of every row.

        Parameters
        ----------
        X : array, sparse matrix, data frame or dict of these
            Rows, as ``fit`` had them.
        grams : list of arrays, optional
            Values (rows, training rows) of each kernel that was given as a matrix.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        codes, _ = self._predicted(X, grams)
        return self.classes_[codes]

    def predict_proba(self, X: Rows, grams: Grams = None) -> np.ndarray:
        """Predict probabilities: to be trusted with calibrate=True or loss="logistic".

        Parameters
        ----------
        X : array, sparse matrix, data frame or dict of these
            Rows, as ``fit`` had them.
        grams : list of arrays, optional
            As for ``predict``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of ``classes_``.
        """
        _, shares = self._predicted(X, grams, probabilities=True)
        return shares / shares.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Rows, grams: Grams = None) -> np.ndarray:
        """Predict logarithms of probabilities.

        Parameters
        ----------
        X : array, sparse matrix, data frame or dict of these
            Rows, as ``fit`` had them.
        grams : list of arrays, optional
            As for ``predict``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Logarithms of ``predict_proba``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, grams))

    def decision_function(self, X: Rows, grams: Grams = None) -> np.ndarray:
        """Tell the scores of classes.

        Parameters
        ----------
        X : array, sparse matrix, data frame or dict of these
            Rows, as ``fit`` had them.
        grams : list of arrays, optional
            As for ``predict``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or (n_rows,)
            Scores; of two classes one number, positive for the second.
        """
        _, scores = self._predicted(X, grams)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def score(self, X: Rows, y: ArrayLike, sample_weight: Optional[ArrayLike] = None,
              grams: Grams = None) -> float:
        """Tell the share of right labels.

        Parameters
        ----------
        X : array, sparse matrix, data frame or dict of these
            Rows, as ``fit`` had them.
        y : array-like of shape (n_rows,)
            Their labels.
        sample_weight : array-like of shape (n_rows,), optional
            What each row counts.
        grams : list of arrays, optional
            As for ``predict``.

        Returns
        -------
        float
            Accuracy.
        """
        from sklearn.metrics import accuracy_score  # which takes as long to import as all else

        needs_y(y)
        check_kind(y, self.classes_ if hasattr(self, "model_") else [])
        return accuracy_score(y, self.predict(X, grams), sample_weight=sample_weight)

    # ---- the rest ----

    def _labelled(self, X, y, grams=None):
        needs_y(y)
        return self._with_labels(self._new_rows(X, grams), column_or_1d(y))

    def _exceptions(self):
        exceptions = super()._exceptions()
        if self.calibrate:
            exceptions["check_classifiers_train"] = (
                "the check wants predict to be the class of the highest probability; calibration "
                "adds an offset for each class to probabilities and leaves predicted labels as "
                "they are without it, as the command does: the two differ where classes are close"
            )
        return exceptions

    def _check_kind(self, model):
        if not model.labels or model.summary()["task"] not in ("binary", "multiclass"):
            raise InputError("the model does not predict labels of rows; use another estimator")

    def _after_load(self, classes, X):
        super()._after_load(classes, X)
        self.classes_ = chosen_labels(self.model_.labels, classes)

    def __getstate__(self):
        state = dict(super().__getstate__())
        state.pop("_learner", None)
        return state
