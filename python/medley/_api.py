# SPDX-License-Identifier: BSD-3-Clause
"""Everything that ``medley`` offers, in one place: loaded when the first of these names is used."""

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
from ._path import Path, path, regularization_path
from ._ranks import Ranks
from ._report import Report
from ._structure import Batch, Structure
from ._tune import Trial, Tuning, tune
from .classifier import MKLClassifier
from .parser import DependencyParser
from .regressor import MKLRegressor
from .sequence import SequenceLabeler
from .structured import StructuredPredictor

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
