# SPDX-License-Identifier: BSD-3-Clause
"""What there is to choose from, generated data, and files."""

import ctypes
import os
from typing import List, NamedTuple, Optional

from . import _structs as s
from ._checks import whole
from ._dataset import Dataset, read_file, to_python
from ._errors import UsageError
from ._library import c_text, create, lib, text
from ._options import option_infos
from .parser import trees_of


class Listed(NamedTuple):
    """Something that can be chosen by name."""

    name: str
    summary: str
    formula: Optional[str]
    parameters: str


class Option(NamedTuple):
    """An option of the command, to be given in the dict ``options`` of an estimator."""

    name: str
    argument: str
    default: str
    help: str
    repeatable: bool


def blas() -> str:
    """The BLAS in use: "OpenBLAS 0.3.21 (SkylakeX)" ...; "reference" is many times slower.

    >>> from medley import blas
    >>> blas().split()[0] in ("OpenBLAS", "MKL", "BLIS", "ATLAS", "reference", "unknown")
    True
    """
    return text(lib.medley_blas())


def kinds() -> List[str]:
    """The kinds of things that ``listing`` knows."""
    names, found = lib.medley_list_kinds(), []
    while names[len(found)]:
        found.append(text(names[len(found)]))
    return found


def listing(kind: str) -> List[Listed]:
    """Everything of a kind: kernels, penalties, losses, methods ...

    >>> from medley import listing
    >>> [kernel.name for kernel in listing("kernels")][:3]
    ['linear', 'poly', 'rbf']
    """
    if kind not in kinds():
        raise UsageError(f"there is no kind '{kind}'; kinds are {', '.join(kinds())}")
    found, one = [], s.Listing()
    while lib.medley_list(ctypes.byref(one), c_text(kind), len(found)):
        found.append(
            Listed(text(one.name), text(one.summary), text(one.formula), text(one.parameters))
        )
    return found


def list_kernels() -> List[Listed]:
    """The kernels."""
    return listing("kernels")


def list_penalties() -> List[Listed]:
    """The penalties."""
    return listing("penalties")


def list_losses() -> List[Listed]:
    """The losses."""
    return listing("losses")


def list_methods() -> List[Listed]:
    """The methods of learning."""
    return listing("methods")


def list_tasks() -> List[Listed]:
    """The tasks: what can be predicted."""
    return listing("tasks")


def list_templates() -> List[Listed]:
    """The built-in sets of feature templates."""
    return listing("templates")


def list_generators() -> List[Listed]:
    """The generators of synthetic data."""
    return listing("generators")


def list_formats() -> List[Listed]:
    """The file formats."""
    return listing("formats")


def list_options() -> List[Option]:
    """The options of training."""
    infos = option_infos()
    return [
        Option(text(o.name), text(o.argument), text(o.fallback), text(o.help), o.repeatable)
        for o in infos
    ]


def _python_data(dataset):
    has_trees = lib.medley_dataset_word_columns(dataset.pointer) == 10 and any(
        lib.medley_dataset_head(dataset.pointer, row) >= 0 for row in range(dataset.rows)
    )
    return trees_of(dataset) if has_trees else to_python(dataset)


def generate(name: str, rows: int = 0, seed: int = 1, *, dimension: int = 0, views: int = 0,
             classes: int = 0, noise: float = 1.0):
    """Synthetic data as (X, y): see ``list_generators()``.

    Rows come as a float32 array, several views as ``medley.Views``, sequences as lists.

    >>> import medley
    >>> X, y = medley.generate("ringnorm", rows=50, seed=3)
    >>> X.shape, sorted(set(y.tolist()))
    ((50, 20), [-1, 1])
    """
    options = s.GenerateOptions(
        rows=whole("rows", rows),
        seed=whole("seed", seed),
        dimension=whole("dimension", dimension),
        views=whole("views", views),
        classes=whole("classes", classes),
        noise=noise,
    )
    return _python_data(Dataset(create("medley_generate", c_text(name), ctypes.byref(options))))


def read(path, *, format=None, label=None, columns=None, folds=None, text_columns=False):
    """A file in any format of the library as (X, y), y None where it has no labels.

    Sparse tables come as dense ones; CoNLL-U comes as sentences and trees, tagged words as lists of
    tuples. folds: rows of the named folds only, such as "0" or "1-9".
    """
    dataset = read_file(
        os.fspath(path), format=format, label=label, columns=columns, text_columns=text_columns
    )
    if folds is not None:
        dataset = Dataset(create("medley_dataset_folds", dataset.pointer, c_text(str(folds))))
    return _python_data(dataset)
