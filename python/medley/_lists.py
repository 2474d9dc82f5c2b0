# SPDX-License-Identifier: BSD-3-Clause
"""What there is to choose from, generated data, and files."""

import ctypes
import os
from typing import Any, List, NamedTuple, Optional, Tuple, Union

from . import _structs as s
from ._checks import whole
from ._dataset import Dataset, read_file, to_python, trees_of
from ._errors import UsageError
from ._library import c_text, create, lib, text
from ._options import option_infos


class Listed(NamedTuple):
    """Something that can be chosen by name.

    Attributes
    ----------
    name : str
        Its name.
    summary : str
        What it is.
    formula : str or None
        How it is computed.
    parameters : str
        What may stand in brackets behind the name.
    """

    name: str
    summary: str
    formula: Optional[str]
    parameters: str


class Option(NamedTuple):
    """An option of the command, to be given in the dict ``options`` of an estimator.

    Attributes
    ----------
    name : str
        Its name.
    argument : str
        What is to be given; "": True or False.
    default : str
        What holds without it.
    help : str
        What it does.
    repeatable : bool
        May a list be given?
    """

    name: str
    argument: str
    default: str
    help: str
    repeatable: bool


def blas() -> str:
    """Tell the BLAS in use.

    Returns
    -------
    str
        "OpenBLAS 0.3.21 (SkylakeX)" ...; "reference" is many times slower.

    Examples
    --------
    >>> from medley import blas
    >>> blas().split()[0] in ("OpenBLAS", "MKL", "BLIS", "ATLAS", "reference", "unknown")
    True
    """
    return text(lib.medley_blas())


def kinds() -> List[str]:
    """Tell the kinds of things that ``listing`` knows.

    Returns
    -------
    list of str
        Their names.

    Examples
    --------
    >>> import medley
    >>> medley.kinds()[:3]
    ['kernels', 'penalties', 'losses']
    """
    names = lib.medley_list_kinds()
    found: List[str] = []
    while names[len(found)]:
        found.append(text(names[len(found)]))
    return found


def listing(kind: str) -> List[Listed]:
    """List everything of a kind: kernels, penalties, losses, methods ...

    Parameters
    ----------
    kind : str
        One of ``medley.kinds()``.

    Returns
    -------
    list of Listed
        Names and what they mean.

    Examples
    --------
    >>> from medley import listing
    >>> [kernel.name for kernel in listing("kernels")][:3]
    ['linear', 'poly', 'rbf']
    """
    if kind not in kinds():
        raise UsageError(f"there is no kind '{kind}'; kinds are {', '.join(kinds())}")
    found: List[Listed] = []
    one = s.Listing()
    while lib.medley_list(ctypes.byref(one), c_text(kind), len(found)):
        found.append(
            Listed(text(one.name), text(one.summary), text(one.formula), text(one.parameters))
        )
    return found


def list_kernels() -> List[Listed]:
    """List the kernels.

    Returns
    -------
    list of Listed
        Names and what they mean.
    """
    return listing("kernels")


def list_penalties() -> List[Listed]:
    """List the penalties.

    Returns
    -------
    list of Listed
        Names and what they mean.
    """
    return listing("penalties")


def list_losses() -> List[Listed]:
    """List the losses.

    Returns
    -------
    list of Listed
        Names and what they mean.
    """
    return listing("losses")


def list_methods() -> List[Listed]:
    """List the methods of learning.

    Returns
    -------
    list of Listed
        Names and what they mean.
    """
    return listing("methods")


def list_tasks() -> List[Listed]:
    """List the tasks: what can be predicted.

    Returns
    -------
    list of Listed
        Names and what they mean.
    """
    return listing("tasks")


def list_templates() -> List[Listed]:
    """List the built-in sets of feature templates.

    Returns
    -------
    list of Listed
        Names and what they mean.
    """
    return listing("templates")


def list_generators() -> List[Listed]:
    """List the generators of synthetic data.

    Returns
    -------
    list of Listed
        Names and what they mean.
    """
    return listing("generators")


def list_formats() -> List[Listed]:
    """List the file formats.

    Returns
    -------
    list of Listed
        Names and what they mean.
    """
    return listing("formats")


def list_options() -> List[Option]:
    """List the options of training.

    Returns
    -------
    list of Option
        Names, defaults and what they do.
    """
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
             classes: int = 0, noise: float = 1.0) -> Tuple[Any, Any]:
    """Make synthetic data.

    Parameters
    ----------
    name : str
        One of ``list_generators()``.
    rows : int, default 0
        Rows, sequences or sentences; 0: what suits the generator, and so below.
    seed : int, default 1
        One number gives the same data on every machine.
    dimension : int, default 0
        Columns of each view, where that is free.
    views : int, default 0
        Of data that have several.
    classes : int, default 0
        Of data that have several views.
    noise : float, default 1.0
        1 is the usual amount, 0 none.

    Returns
    -------
    X : ndarray, Views or list
        Rows come as a float32 array, several views as ``medley.Views``, sequences as lists.
    y : ndarray or list
        Their labels.

    Examples
    --------
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


def read(path: Union[str, "os.PathLike[str]"], *, format: Optional[str] = None,
         label: Optional[str] = None, columns: Optional[str] = None,
         folds: Union[None, int, str] = None, text_columns: bool = False) -> Tuple[Any, Any]:
    """Read a file in any format of the library.

    Parameters
    ----------
    path : str or path
        The file, which may be compressed with gzip.
    format : str, optional
        One of ``list_formats()``; default: by name and content.
    label : str, optional
        The column of labels: its name, its number from 1, "last" or "none".
    columns : str, optional
        Columns to keep: "1-5,8" or names.
    folds : str or int, optional
        Rows of the named folds only, such as "0" or "1-9".
    text_columns : bool, default False
        Columns hold words, even if all look like numbers.

    Returns
    -------
    X : ndarray, Views or list
        Sparse tables come as dense ones, CoNLL-U as sentences, tagged words as lists of tuples.
    y : ndarray, list or None
        Labels or trees; None where there are none.

    Examples
    --------
    >>> import medley, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "table.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("1,2,a\\n3,4,b\\n")
    ...     X, y = medley.read(path, label="last")
    >>> X.tolist(), y.tolist()
    ([[1.0, 2.0], [3.0, 4.0]], ['a', 'b'])
    """
    dataset = read_file(
        os.fspath(path), format=format, label=label, columns=columns, text_columns=text_columns
    )
    if folds is not None:
        dataset = Dataset(create("medley_dataset_folds", dataset.pointer, c_text(str(folds))))
    return _python_data(dataset)
