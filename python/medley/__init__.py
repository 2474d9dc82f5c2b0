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
from ._select import Path, Trial, Tuning, path, tune
from ._structure import Batch, Structure
from .classifier import MKLClassifier
from .parser import DependencyParser
from .regressor import MKLRegressor
from .sequence import SequenceLabeler
from .structured import StructuredPredictor

__version__ = _lib.medley_version().decode()

__all__ = [
    "Distances",
    "Batch",
    "Block",
    "DependencyParser",
    "FileError",
    "InputError",
    "MKLClassifier",
    "MKLRegressor",
    "MedleyError",
    "NotSupportedError",
    "OutOfMemoryError",
    "Path",
    "Progress",
    "Ranks",
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
    "tune",
]
