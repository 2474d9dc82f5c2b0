# SPDX-License-Identifier: BSD-3-Clause
"""Estimators whose examples are rows: X as scikit-learn has it, views, kernel values."""

from typing import Any, Optional, Sequence

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import _get_feature_names, check_is_fitted, column_or_1d

from ._base import MedleyEstimator
from ._checks import text_keys, within_floats
from ._dataset import Dataset, Views, chosen_columns
from ._errors import InputError, UsageError
from ._kernels import PRECOMPUTED, Plan, is_list_of_matrices
from ._labels import refuse_missing

Rows = Any  # an array, a sparse matrix, a data frame, a dict of these, or kernel values
Grams = Optional[Sequence[Any]]  # kernel values (rows, training rows), or pairs with a diagonal

NUMBERS = [np.float64, np.float32]


def _is_stack(X):
    """Several matrices: a list of them, or an array (rows, training rows, kernels)."""
    return is_list_of_matrices(X) or (isinstance(X, np.ndarray) and X.ndim == 3)


def _usable(names):
    """Names that tell columns apart and that the library can hold, else None."""
    return names if len(set(names)) == len(names) and not any("\0" in n for n in names) else None


def _names_of(X):
    """Names of the columns of a data frame, as scikit-learn sees them; None: there are none."""
    names = _get_feature_names(X)
    return None if names is None else _usable([str(name) for name in names])


_DUMMIES = (
    "pandas.get_dummies(X) makes a column of each value, and so does scikit-learn's OneHotEncoder "
    "inside a pipeline"
)
_REMEDIES = {
    "categories": _DUMMIES,
    "texts": _DUMMIES,
    "times": "such as (times - times.min()).dt.total_seconds()",
}


def _holds_no_numbers(column):
    """What a column of pandas holds in place of numbers, else None."""
    kind = str(column.dtype)
    if kind == "category":
        return "categories"
    if kind.startswith(("datetime", "timedelta", "period")):
        return "times"
    if kind in ("object", "str", "string"):
        try:
            np.asarray(column, dtype=np.float64)
        except ValueError:
            return "texts"
        except TypeError:  # scikit-learn says what it thinks of other objects
            return None
    return None


def _check_columns(table, what):
    """Raises where columns of a data frame of pandas hold no numbers, with their names."""
    if not hasattr(table, "columns") or not hasattr(table, "iloc"):
        return
    found = {}
    for i, name in enumerate(table.columns):
        found.setdefault(_holds_no_numbers(table.iloc[:, i]), []).append(str(name))
    for hold, remedy in _REMEDIES.items():
        if hold in found:
            raise InputError(
                f"the columns {found[hold]} of {what} hold {hold}, and kernels compare numbers; "
                f"turn them into numbers first: {remedy}"
            )


class RowEstimator(MedleyEstimator):
    """Common ground of MKLClassifier and MKLRegressor."""

    _numeric_targets = False

    # ---- what X is ----

    @within_floats("X or y")
    def _take(self, X, y=None, *, reset):
        """Checked X (array, CSR, Views, or a list of matrices), checked y."""
        if y is not None:
            refuse_missing(y)
        plan = Plan(self.kernels)
        plan.check(self._unit_diagonal())
        if isinstance(X, dict) and not sparse.issparse(X):  # scipy's DOK matrix is a dict
            text_keys("X", X)
            if not X.keys():
                raise InputError("X has no views; give a dict {name: array}")
            names = {name: _names_of(X[name]) for name in X}
            X = Views({name: self._check_view(name, X[name]) for name in X})
            X.names = names
            check_consistent_length(*X.values())
        elif plan.whole_is_gram and _is_stack(X):
            X = self._check_stack(X)
        elif plan.gram_views or any(k == "callable" and w[1] for _, k, w in plan.sources):
            raise InputError("kernels name views of X; give X as a dict {name: array}")
        else:
            return (plan, *self._check_rows(X, y, reset))
        if reset:
            self._forget_features()
        if y is not None:
            y = self._check_target(y)
            rows = X[0] if isinstance(X, list) else X
            check_consistent_length(rows, y)
        return plan, X, y

    def _in_order(self, X):
        """The columns that fit had, in its order, where both have names; others are left out."""
        known, names = getattr(self, "feature_names_in_", None), _names_of(X)
        if known is None or names is None or list(known) == names:
            return X
        missing = [name for name in known if name not in set(names)]
        if missing:
            raise InputError(
                f"X has no columns {missing}, which the model was fitted with; its columns are "
                f"{names}; they may stand in any order, and further ones are left out"
            )
        return X[list(known)]

    def _check_rows(self, X, y, reset):
        X = X if reset else self._in_order(X)
        _check_columns(X, "X")
        checks = {"accept_sparse": "csr", "dtype": NUMBERS, "reset": reset}
        if y is None and not reset:
            return self._validate(X, **checks), None
        return self._validate(X, y, y_numeric=self._numeric_targets, **checks)

    def _validate(self, X, *y, **checks):
        try:
            from sklearn.utils.validation import validate_data  # from scikit-learn 1.6 on
        except ImportError:
            return self._validate_data(X, *y, **checks)
        return validate_data(self, X, *y, **checks)

    @staticmethod
    def _check_view(name, table):
        _check_columns(table, f"X[{name!r}]")
        return check_array(table, accept_sparse="csr", dtype=NUMBERS, input_name=f"X[{name!r}]")

    @staticmethod
    def _check_stack(X):
        if isinstance(X, (list, tuple)):
            return [check_array(matrix, dtype=NUMBERS, accept_sparse="csr") for matrix in X]
        return check_array(X, dtype=NUMBERS, allow_nd=True)

    def _forget_features(self):
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)

    def _check_target(self, y):
        return column_or_1d(y, warn=True)

    # ---- datasets ----

    def _tables(self, plan, X):
        """(name, table, names) of the features that the library computes kernels on."""
        if not plan.wants_tables:
            return []
        if isinstance(X, Views):
            names = getattr(X, "names", {})
            return [(v, X[v], names.get(v)) for v in X if v not in plan.gram_views]
        if isinstance(self.views, dict):
            text_keys("views", self.views)
            return [(v, *self._columns(X, which)) for v, which in self.views.items()]
        if not isinstance(self.views, (str, type(None))):
            raise UsageError(f"views={self.views!r}; give a text or a dict {{name: columns}}")
        return [("", X, self._known_names())]

    def _known_names(self):
        """Names of the columns of X, if it had some in fit; it is in their order."""
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else _usable(list(names))

    def _columns(self, X, which):
        """Some columns of X, and their names."""
        if isinstance(which, str) or (isinstance(which, (list, tuple)) and which
                                      and isinstance(which[0], str)):
            names = getattr(self, "feature_names_in_", None)
            wanted = [which] if isinstance(which, str) else list(which)
            if names is None or not set(wanted) <= set(names):
                raise InputError(f"views names the columns {wanted}, and X has no such columns")
            which = [list(names).index(name) for name in wanted]
        names = self._known_names()
        if names is not None:
            names = chosen_columns(np.array([names], dtype=object), which)[0].tolist()
            names = _usable(names)
        return chosen_columns(X, which), names

    def _put(self, plan, X, grams):
        dataset = Dataset()
        for name, table, names in self._tables(plan, X):
            dataset.put_table(table, name, self.image_shape, names)
        for name, values, diagonal in grams:
            values = self._gram_values(name, values)
            if name in plan.distances:
                dataset.put_distances(values, name)
            else:
                dataset.put_gram(values, name, diagonal)
        return dataset

    @staticmethod
    def _gram_values(name, values):
        values = check_array(values, dtype=NUMBERS, accept_sparse="csr", input_name=name)
        return values

    def _training_rows(self, plan, X):
        grams = [(name, values, None) for name, values in plan.training_grams(X)]
        dataset = self._put(plan, X, grams)
        named = plan.whole_is_gram and isinstance(X, Views)
        self._kernel_names = [name for name, _, _ in grams] if named else None
        self.X_fit_ = X if plan.keeps_rows else None
        return dataset

    def _new_rows(self, X, grams=None):
        check_is_fitted(self, "model_")
        plan, X, _ = self._take(X, reset=False)
        if isinstance(X, Views):
            self._check_views(plan, X)
            if plan.whole_is_gram:
                X = self._kernels_in_order(X)
        training = getattr(self, "X_fit_", None)
        return self._put(plan, X, plan.new_grams(X, training, grams, self._unit_diagonal()))

    def _kernels_in_order(self, X):
        """Kernel values of new rows, in the order of training."""
        names = getattr(self, "_kernel_names", None) or list(self.blocks_)  # a model that was loaded has these alone
        given = {str(name): X[name] for name in X}
        for name, lacks in [(n, True) for n in names if n not in given] + [(n, False) for n in given if n not in names]:
            raise InputError(f"X has {'no' if lacks else 'a'} kernel '{name}'; the model was trained with "
                             + ", ".join(f"'{name}'" for name in names[:8]) + (" ..." if len(names) > 8 else ""))
        return Views({name: given[name] for name in names})

    def _check_views(self, plan, X):
        """Do the views have the columns that they had in training?"""
        for name, table, names in self._tables(plan, X):
            expected = self.model_.columns(name)
            named = names is not None and self.model_.column_names(name) is not None
            if expected and not named and table.shape[1] != expected:
                raise InputError(
                    f"the view '{name}' has {table.shape[1]} columns, and had {expected} in "
                    "training"
                )

    def _unit_diagonal(self):
        """Are kernels normalised by K(x, x)?"""
        extra = self.options if isinstance(self.options, dict) else {}
        return extra.get("normalize", self.normalize) == "diag"

    # ---- learning ----

    def _fixed(self, plan, task):
        """Options that are no plain parameters."""
        views = self.views if isinstance(self.views, str) and plan.wants_tables else None
        return {"kernel": plan.specs or None, "views": views, "task": task}

    def _after_load(self, classes, X):
        columns = self.model_.columns("")
        if columns:
            self.n_features_in_ = columns
        names = self.model_.column_names("") if columns else self._names_of_views()
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
            self.n_features_in_ = len(names)
        self.X_fit_ = None
        if X is not None:
            plan, X, _ = self._take(X, reset=False)
            if not plan.keeps_rows:
                raise UsageError("load has no use for X: no kernel is a callable")
            self.X_fit_ = X

    def _names_of_views(self):
        """Columns of all views of a model that was loaded, where all have names, else None.

        A data frame can then be cut into the views, as in training; ``views`` says so.
        """
        views = dict.fromkeys(name.rpartition("@")[2] for name in self.blocks_ if "@" in name)
        names = {view: self.model_.column_names(view) for view in views}
        if not names or None in names.values():
            return None
        if self.views == "auto":
            self.views = names
        return list(dict.fromkeys(name for columns in names.values() for name in columns))

    # ---- scikit-learn's tags ----

    def _is_pairwise(self):
        kernels = self.kernels
        if isinstance(kernels, (list, tuple)) and len(kernels) == 1:
            kernels = kernels[0]
        return isinstance(kernels, str) and kernels == PRECOMPUTED

    def _more_tags(self):
        return {
            "X_types": ["2darray", "sparse"],
            "pairwise": self._is_pairwise(),
            "_xfail_checks": self._exceptions(),
        }

    def _exceptions(self):
        """Checks of scikit-learn that cannot hold, with the reason; none for most parameters."""
        if not self._is_pairwise():
            return {}
        return {
            "check_decision_proba_consistency": "the check hands over features, not kernel values",
            "check_estimators_dtypes": (
                "the check cuts kernel values down to whole numbers, and the matrix is then not "
                "positive semi-definite, which methods with a certificate refuse"
            ),
            "check_positive_only_tag_during_fit": (
                "the check takes the mean off the values, and K(x, x) is then negative"
            ),
        }

    def __sklearn_tags__(self):  # scikit-learn 1.6 and later
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise()
        return tags
