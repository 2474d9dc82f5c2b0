# SPDX-License-Identifier: BSD-3-Clause
"""What the parameter `kernels` says: specs for the library, callables, precomputed matrices."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ._errors import InputError, UsageError

PRECOMPUTED = "precomputed"


def _is_array(item):
    return hasattr(item, "__array__") or sparse.issparse(item)


def is_list_of_matrices(values):
    """Kernel values may be given so, one matrix for each kernel."""
    is_list = isinstance(values, (list, tuple)) and len(values) > 0
    return is_list and _is_array(values[0]) and len(np.shape(values[0]) or values[0].shape) == 2


class Distances:
    """Distances d between training rows, as a kernel exp(-d / gamma).

    gamma is the mean distance of two rows. New rows come as their distances to the training rows, in
    ``grams``.

    Parameters
    ----------
    values : array of shape (n_rows, n_rows)
        The distances.

    Attributes
    ----------
    values : array of shape (n_rows, n_rows)
        The distances.

    Examples
    --------
    >>> import numpy as np, medley
    >>> X, y = medley.generate("twonorm", rows=100, seed=1)
    >>> D = np.abs(X[:, None] - X[None]).sum(axis=2)
    >>> model = medley.MKLClassifier(medley.Distances(D[:80, :80])).fit(X[:80], y[:80])
    >>> bool((model.predict(X[80:], grams=[D[80:, :80]]) == y[80:]).mean() > 0.8)
    True
    """

    def __init__(self, values: ArrayLike) -> None:
        self.values = values

    def __repr__(self) -> str:
        return f"Distances({self.values!r})"


class Plan:
    """The kernels of one estimator, sorted by where their values come from.

    specs: texts for the library; None: its default bank
    sources: (name, kind, what) of each precomputed kernel in order. kind "given": X is the matrix
        (what None) or its view of that name; "callable": a pair of function and view; "array": the
        training values themselves
    distances: names of those whose values are distances
    """

    def __init__(self, kernels):
        self.specs, self.sources, self.distances = [], [], set()
        single = isinstance(kernels, (str, Distances))
        if single or callable(kernels) or _is_array(kernels):
            kernels = [kernels]
        if not hasattr(kernels, "__iter__") or isinstance(kernels, dict):
            raise UsageError(f"kernels={kernels!r}; give a list of kernels, or \"default\"")
        kernels = list(kernels)
        if not kernels:
            raise UsageError("the list of kernels is empty; give at least one, or \"default\"")
        for kernel in kernels:
            self._add(kernel)
        if "default" in self.specs:
            if len(self.specs) > 1:
                raise UsageError("\"default\" stands for a list of its own: give it alone")
            self.specs = None

    def _add(self, kernel):
        if isinstance(kernel, str) and kernel == PRECOMPUTED:
            self._add_given(PRECOMPUTED, None)
        elif isinstance(kernel, str) and kernel.startswith(PRECOMPUTED + "@"):
            view = kernel.split("@", 1)[1].strip()
            self._add_given(view, view)
        elif isinstance(kernel, str):
            self.specs.append(kernel)
        elif callable(kernel):
            self.sources.append((self._unique(_name_of(kernel)), "callable", (kernel, None)))
        elif isinstance(kernel, tuple) and len(kernel) == 2 and callable(kernel[0]):
            function, view = kernel
            name = self._unique(_name_of(function), f"@{view}")
            self.sources.append((name, "callable", (function, view)))
        elif _is_array(kernel):
            name = self._unique(f"kernel{len(self.sources) + 1}")
            self.sources.append((name, "array", kernel))
        elif isinstance(kernel, Distances):
            name = self._unique(f"distance{len(self.sources) + 1}")
            self.distances.add(name)
            self.sources.append((name, "array", kernel.values))
        else:
            raise UsageError(
                f"a kernel cannot be a {type(kernel).__name__}; give a text such as "
                "'rbf(sigma2=5)', a callable k(X, Z), or a square matrix of its values"
            )

    def _add_given(self, name, view):
        if any(kind == "given" and what == view for _, kind, what in self.sources):
            which = PRECOMPUTED if view is None else f"{PRECOMPUTED}@{view}"
            raise UsageError(f"kernels has '{which}' twice; several matrices are several views")
        self.sources.append((self._unique(name), "given", view))

    def _unique(self, name, end=""):
        taken = {source[0] for source in self.sources}
        unique, number = name + end, 2
        while unique in taken:
            unique, number = f"{name}{number}{end}", number + 1
        return unique

    @property
    def wants_tables(self):
        """Does the library compute kernels itself?"""
        return self.specs is None or len(self.specs) > 0

    @property
    def whole_is_gram(self):
        """Is X itself kernel values?"""
        return any(kind == "given" and what is None for _, kind, what in self.sources)

    @property
    def keeps_rows(self):
        """Are the training rows needed for new kernel values?"""
        return any(kind == "callable" for _, kind, _ in self.sources)

    @property
    def gram_views(self):
        """Views of X that are kernel values, not features."""
        return {what for _, kind, what in self.sources if kind == "given" and what is not None}

    def check(self, unit_diagonal):
        """unit_diagonal: are kernels to be normalised by K(x, x)?"""
        if unit_diagonal and any(kind == "given" for _, kind, _ in self.sources):
            raise UsageError(
                "normalize=\"diag\" needs K(x, x) of new rows, and a precomputed X has no place "
                "for it; divide the values by sqrt(K(x, x) K(z, z)) before, or give matrices in "
                "kernels=[...] and pairs (matrix, diagonal) in grams=[...]"
            )
        if self.whole_is_gram and (self.wants_tables or self.keeps_rows):
            raise UsageError(
                "kernels: with \"precomputed\" X is kernel values and there are no features for "
                "the others; give X as a dict of views and name the one that is precomputed: "
                "'precomputed@NAME'"
            )

    def training_grams(self, X):
        """(name, values) of the precomputed kernels on the training rows."""
        grams = self._training_grams(X)
        for name, values in grams:
            shape = values.shape if hasattr(values, "shape") else np.shape(values)
            if len(shape) == 2 and shape[0] != shape[1]:
                raise InputError(
                    f"the kernel '{name}' has values of shape {shape}, expected a square matrix of "
                    "training rows by training rows; what cuts X into rows (cross-validation) cuts "
                    "columns too with kernels=\"precomputed\", but not of views or matrices"
                )
        return grams

    def _training_grams(self, X):
        grams = []
        for name, kind, what in self.sources:
            if kind == "array":
                grams.append((name, what))
            elif kind == "callable":
                grams.append((name, _values(what, X, X)))
            else:
                grams.extend(_given(name, what, X))
        return grams

    def new_grams(self, X, training_X, given, with_diagonal):
        """(name, values, diagonal) for new rows. given: matrices for kernels that are arrays, or
        pairs of matrix and diagonal."""
        given = [] if given is None else given
        if not isinstance(given, (list, tuple)):
            raise InputError("grams is a list of matrices: give grams=[matrix]")
        given = list(given)
        wanted = sum(kind == "array" for _, kind, _ in self.sources)
        if len(given) != wanted:
            raise InputError(
                f"the model has {wanted} kernels that were given as matrices, and {len(given)} "
                "matrices of new rows by training rows came along; give one for each as grams=[...]"
            )
        grams = []
        for name, kind, what in self.sources:
            if kind == "array":
                item = given.pop(0)
                values, diagonal = item if isinstance(item, tuple) and len(item) == 2 else (
                    item, None)
                if not _is_array(values) and not isinstance(values, list):
                    raise InputError(
                        f"grams holds a {type(item).__name__}; give matrices of new rows by "
                        "training rows, or pairs (matrix, diagonal)"
                    )
                if with_diagonal and diagonal is None and name not in self.distances:
                    raise InputError(
                        f"the kernel '{name}' was normalised to unit diagonal; give K(x, x) of the "
                        "new rows as well: grams=[(matrix, diagonal)]"
                    )
                grams.append((name, values, diagonal))
            elif kind == "callable":
                if training_X is None:
                    raise InputError(
                        f"the kernel '{name}' is a callable and wants the training rows; give them "
                        "when the model is loaded: load(path, X=..., kernels=[...])"
                    )
                diagonal = _diagonal(what, X) if with_diagonal else None
                grams.append((name, _values(what, X, training_X), diagonal))
            else:
                grams.extend((*pair, None) for pair in _given(name, what, X))
        return grams


def _name_of(function):
    name = getattr(function, "__name__", type(function).__name__)
    return name if name.isidentifier() else "callable"


def _select(X, view):
    if view is None:
        return X
    if not hasattr(X, "keys") or view not in X:
        raise InputError(f"a kernel is on the view '{view}', and X has no such view")
    return X[view]


def _values(source, X, Z):
    function, view = source
    values = _full(function(_select(X, view), _select(Z, view)))
    rows, columns = _rows(_select(X, view)), _rows(_select(Z, view))
    if values.shape != (rows, columns):
        raise InputError(
            f"the kernel {getattr(function, '__name__', function)!s} returned values of shape "
            f"{values.shape}, expected ({rows}, {columns})"
        )
    return values


def _full(values):
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def _rows(X):
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _diagonal(source, X):
    """K(x, x) of every row, a block at a time."""
    function, view = source
    part = _select(X, view)
    block = 64
    pieces = [part[i : i + block] for i in range(0, _rows(part), block)]
    return np.concatenate([np.diagonal(_full(function(p, p))) for p in pieces])


def _given(name, view, X):
    """X, or one of its views, as matrices of kernel values."""
    values = _select(X, view)
    if view is None and hasattr(values, "keys"):
        return [(str(key), values[key]) for key in values]
    if is_list_of_matrices(values):
        return [(f"{name}{i + 1}", value) for i, value in enumerate(values)]
    if np.ndim(values) == 3:
        return [(f"{name}{m + 1}", values[:, :, m]) for m in range(values.shape[2])]
    return [(name, values)]
