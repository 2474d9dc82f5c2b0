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

from importlib import import_module
from typing import TYPE_CHECKING, Any, List

from ._structs import lib as _lib

if TYPE_CHECKING:  # what editors and type checkers see
    from ._api import *  # noqa: F403

__version__ = _lib.medley_version().decode()

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


def _get_later(name: str) -> Any:
    # scikit-learn takes most of a second to load: that waits until something of it is needed
    if not name.startswith("__"):
        api = import_module("._api", __name__)
        globals().update({each: getattr(api, each) for each in __all__})
        if name in globals():  # a public name, or one of the modules that are loaded now
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if not TYPE_CHECKING:  # who would take any name for one of ours
    __getattr__ = _get_later


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
