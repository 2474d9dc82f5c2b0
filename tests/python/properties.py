# SPDX-License-Identifier: BSD-3-Clause
"""What the property tests share: how many examples, tables of numbers, and what may hold them.

Each property draws its examples from a fixed seed, the same ones every time. MEDLEY_PROPERTIES=1000
in the environment draws so many for each, from another seed every time.
"""

import os
import unittest
import warnings
from contextlib import contextmanager

import numpy as np
from scipy import sparse
from support import ROOT

os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(ROOT / "build-python" / "hypothesis"))
try:
    from hypothesis import HealthCheck, assume, example, given, settings
    from hypothesis import strategies as st
except ImportError:
    raise unittest.SkipTest("Python has no hypothesis; scripts/deps python installs it") from None

MANY = int(os.environ.get("MEDLEY_PROPERTIES") or 0)
EPSILON = float(np.finfo(np.float32).eps)
LARGEST = float(np.finfo(np.float32).max)


def examples(count):
    """Decorator of a property: so many examples, or as many as MEDLEY_PROPERTIES says."""
    return settings(
        max_examples=MANY or count,
        derandomize=not MANY,
        deadline=None,
        database=None,
        print_blob=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@contextmanager
def quietly():
    """Warnings, such as those about columns of different spread, are not what is looked at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# ---- tables of numbers ----

POSITIVE = st.one_of(
    st.integers(0, 9).map(float),
    st.floats(0.03125, 8, width=32),  # smaller ones are refused where all are so
    st.just(0.0),
)
MODERATE = st.one_of(POSITIVE, POSITIVE.map(lambda value: 0.0 - value))


@st.composite
def tables(draw, rows=(1, 12), columns=(1, 6), values=MODERATE):
    """float32 arrays: single rows, single columns, wide and tall ones."""
    shape = draw(st.integers(*rows)), draw(st.integers(*columns))
    count = shape[0] * shape[1]
    drawn = draw(st.lists(values, min_size=count, max_size=count))
    return np.array(drawn, dtype=np.float32).reshape(shape)


@st.composite
def labelled(draw, rows=(4, 12), columns=(1, 6), values=MODERATE, classes=2):
    """A table and a label from 0 on for every row; all classes occur."""
    X = draw(tables((max(rows[0], 2 * classes), rows[1]), columns, values))
    y = np.arange(len(X)) % classes
    return X, draw(st.permutations(y.tolist()).map(np.array))


# ---- what may hold the same numbers ----


def _strided(X):
    wide = np.full((2 * X.shape[0], 3 * X.shape[1] + 1), 7, dtype=X.dtype)
    wide[::2, 1::3] = X
    return wide[::2, 1::3]


def _read_only(X):
    copy = X.copy()
    copy.flags.writeable = False
    return copy


def _unaligned(X):
    if X.dtype.hasobject:
        return X
    held = np.frombuffer(bytearray(X.nbytes + 1), dtype=np.uint8)[1:].view(X.dtype)
    held = held.reshape(X.shape)
    held[...] = X
    return held


LAYOUTS = {
    "as it is": lambda X: X,
    "fortran": np.asfortranarray,
    "strided": _strided,
    "turned around": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": _read_only,
    "unaligned": _unaligned,
    "broadcast": lambda X: np.broadcast_to(X, (2, *X.shape))[1],
    "list": lambda X: X.tolist(),
    "masked": lambda X: np.ma.masked_array(X),
}
DTYPES = ["f4", "f8", "f2", ">f4", ">f8", "longdouble", "i1", "i2", "<i4", ">i8", "u1", "u8", "?",
          "O"]
SPARSE = ["csr", "csc", "coo", "lil", "dok", "bsr"]


def _holds(X, dtype):
    with np.errstate(all="ignore"):
        cast = X.astype(dtype)
        return np.array_equal(cast.astype(np.float64), X.astype(np.float64)) and not (
            np.signbit(X) & (X == 0)).any()


def _with_zeros(matrix, rows):
    """A CSR matrix some of whose zeros are kept as numbers, with columns in reverse order."""
    indices, values, starts = [], [], [0]
    for row in rows:
        columns = [c for c in range(len(row)) if row[c] != 0 or c % 2]
        indices.extend(reversed(columns))
        values.extend(row[c] for c in reversed(columns))
        starts.append(len(indices))
    return sparse.csr_matrix(
        (np.array(values, dtype=rows.dtype), np.array(indices, dtype=np.int32),
         np.array(starts, dtype=np.int32)), shape=rows.shape)


@st.composite
def holders(draw, X, thin=True, objects=True):
    """The numbers of X in another type and layout, or in a sparse matrix."""
    kinds = [kind for kind in DTYPES if _holds(X, kind) and (objects or kind != "O")]
    dtype = draw(st.sampled_from(kinds or ["f4"]))
    if thin and draw(st.booleans()):
        kind = draw(st.sampled_from([*SPARSE, "zeros kept", "64-bit indices"]))
        values = X.astype(dtype if dtype in ("f4", "f8", "i2", "<i4", "i1", "u1") else "f8")
        if kind == "zeros kept":
            return _with_zeros(sparse.csr_matrix(values), values)
        if kind == "64-bit indices":
            matrix = sparse.csr_matrix(values)
            matrix.indices, matrix.indptr = (a.astype(np.int64)
                                             for a in (matrix.indices, matrix.indptr))
            return matrix
        return sparse.csr_matrix(values).asformat(kind)
    return LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](X.astype(dtype))
