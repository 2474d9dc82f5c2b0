# SPDX-License-Identifier: BSD-3-Clause
"""Medley: multiple kernel learning, with scikit-learn's interface.

``MKLClassifier`` and ``MKLRegressor`` learn from rows, ``SequenceLabeler`` labels sequences and
``DependencyParser`` parses sentences. Each learns from many kernels, views or feature templates at
once and tells which of them matter (``weights_`` of ``blocks_``).

>>> import medley
>>> X, y = medley.generate("waveform", rows=300, seed=1)
>>> model = medley.MKLClassifier(scale="standard").fit(X, y)
>>> bool(abs(model.weights_.sum() - 1) < 1e-6)
True
"""

import importlib
from typing import TYPE_CHECKING, Any, List

from ._dataset import Views
from ._errors import (
    FileError,
    InputError,
    MedleyError,
    NotSupportedError,
    OutOfMemoryError,
    UsageError,
)
from ._kernels import Distances
from ._library import lib as _lib
from ._lists import (
    Listed,
    Option,
    blas,
    generate,
    kinds,
    list_formats,
    list_generators,
    list_kernels,
    list_losses,
    list_methods,
    list_options,
    list_penalties,
    list_tasks,
    list_templates,
    listing,
    read,
)
from ._model import Block
from ._observer import Progress
from ._ranks import Ranks
from ._report import Report
from ._structure import Batch, Structure

if TYPE_CHECKING:
    from ._path import Path, path, regularization_path
    from ._tune import Trial, Tuning, tune
    from .classifier import MKLClassifier
    from .parser import DependencyParser
    from .regressor import MKLRegressor
    from .sequence import SequenceLabeler
    from .structured import StructuredPredictor

__version__ = _lib.medley_version().decode()

# What stands on scikit-learn comes in when it is first asked for: that takes half a second.
_LATER = {
    "DependencyParser": "parser",
    "MKLClassifier": "classifier",
    "MKLRegressor": "regressor",
    "Path": "_path",
    "SequenceLabeler": "sequence",
    "StructuredPredictor": "structured",
    "Trial": "_tune",
    "Tuning": "_tune",
    "path": "_path",
    "regularization_path": "_path",
    "tune": "_tune",
}


def _get_later(name: str) -> Any:
    if name in _LATER.values():
        return importlib.import_module(f".{name}", __name__)
    if name not in _LATER:
        raise AttributeError(f"module 'medley' has no attribute '{name}'")
    value = getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:  # who would take any name for one of ours
    __getattr__ = _get_later


def __dir__() -> List[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "Batch",
    "Block",
    "DependencyParser",
    "Distances",
    "FileError",
    "InputError",
    "Listed",
    "MKLClassifier",
    "MKLRegressor",
    "MedleyError",
    "NotSupportedError",
    "Option",
    "OutOfMemoryError",
    "Path",
    "Progress",
    "Ranks",
    "Report",
    "SequenceLabeler",
    "Structure",
    "StructuredPredictor",
    "Trial",
    "Tuning",
    "UsageError",
    "Views",
    "blas",
    "generate",
    "kinds",
    "list_formats",
    "list_generators",
    "list_kernels",
    "list_losses",
    "list_methods",
    "list_options",
    "list_penalties",
    "list_tasks",
    "list_templates",
    "listing",
    "path",
    "read",
    "regularization_path",
    "tune",
]
