# SPDX-License-Identifier: BSD-3-Clause
"""The shared library: where it is, and the signatures of its functions.

Calls go through ctypes.CDLL, which lets other Python threads run while the library works.
"""

import ctypes
import os
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_float, c_int, c_int32, c_size_t
from ctypes import c_void_p
from pathlib import Path

from . import _structs as s
from ._errors import from_status

ERROR = POINTER(s.Error)
HANDLE = POINTER(c_void_p)
TEXTS = POINTER(c_char_p)

# name: (result, arguments). A result of c_int with ERROR as the last argument is a medley_status.
SIGNATURES = {
    "medley_version": (c_char_p, []),
    "medley_blas": (c_char_p, []),
    "medley_option_count": (c_size_t, []),
    "medley_option_describe": (s.OptionInfo, [c_size_t]),
    "medley_options_create": (c_int, [HANDLE, ERROR]),
    "medley_options_free": (None, [c_void_p]),
    "medley_options_set": (c_int, [c_void_p, c_char_p, c_char_p, ERROR]),
    "medley_list": (c_bool, [POINTER(s.Listing), c_char_p, c_size_t]),
    "medley_list_kinds": (TEXTS, []),
    "medley_nearest_name": (c_char_p, [c_char_p, TEXTS]),
    "medley_dataset_create": (c_int, [HANDLE, ERROR]),
    "medley_dataset_free": (None, [c_void_p]),
    "medley_dataset_read": (c_int, [HANDLE, c_char_p, POINTER(s.ReadOptions), ERROR]),
    "medley_dataset_parse": (
        c_int,
        [HANDLE, c_char_p, c_size_t, c_char_p, POINTER(s.ReadOptions), ERROR],
    ),
    "medley_dataset_put_table": (c_int, [c_void_p, POINTER(s.Table), ERROR]),
    "medley_dataset_put_gram": (c_int, [c_void_p, POINTER(s.Table), POINTER(c_double), ERROR]),
    "medley_dataset_put_labels": (
        c_int,
        [c_void_p, POINTER(c_int32), c_size_t, TEXTS, c_size_t, ERROR],
    ),
    "medley_dataset_put_targets": (c_int, [c_void_p, POINTER(c_double), c_size_t, ERROR]),
    "medley_dataset_put_sequences": (c_int, [c_void_p, POINTER(c_size_t), c_size_t, ERROR]),
    "medley_dataset_keep_wide": (None, [c_void_p]),
    "medley_dataset_folds": (c_int, [HANDLE, c_void_p, c_char_p, ERROR]),
    "medley_dataset_keep_table": (c_int, [HANDLE, c_void_p, c_size_t, ERROR]),
    "medley_dataset_table_count": (c_size_t, [c_void_p]),
    "medley_dataset_table_name": (c_char_p, [c_void_p, c_size_t]),
    "medley_dataset_rows": (c_size_t, [c_void_p]),
    "medley_dataset_columns": (c_size_t, [c_void_p]),
    "medley_dataset_sequences": (c_size_t, [c_void_p]),
    "medley_dataset_sequence_row": (c_size_t, [c_void_p, c_size_t]),
    "medley_dataset_label_count": (c_size_t, [c_void_p]),
    "medley_dataset_label_name": (c_char_p, [c_void_p, c_size_t]),
    "medley_dataset_label": (c_int32, [c_void_p, c_size_t]),
    "medley_dataset_row": (None, [c_void_p, c_size_t, POINTER(c_float)]),
    "medley_dataset_word_columns": (c_size_t, [c_void_p]),
    "medley_dataset_word": (c_char_p, [c_void_p, c_size_t, c_size_t]),
    "medley_dataset_head": (c_int32, [c_void_p, c_size_t]),
    "medley_dataset_write_trees": (c_int, [c_void_p, POINTER(c_int32), TEXTS, c_char_p, ERROR]),
    "medley_generate": (c_int, [HANDLE, c_char_p, POINTER(s.GenerateOptions), ERROR]),
    "medley_fit": (
        c_int,
        [HANDLE, c_void_p, c_void_p, c_void_p, POINTER(s.Observer), ERROR],
    ),
    "medley_model_free": (None, [c_void_p]),
    "medley_model_save": (c_int, [c_void_p, c_char_p, ERROR]),
    "medley_model_load": (c_int, [HANDLE, c_char_p, ERROR]),
    "medley_model_load_with": (c_int, [HANDLE, c_char_p, POINTER(s.Structure), ERROR]),
    "medley_model_read_with": (
        c_int,
        [HANDLE, c_char_p, c_size_t, c_char_p, POINTER(s.Structure), ERROR],
    ),
    "medley_options_set_structure": (c_int, [c_void_p, POINTER(s.Structure), ERROR]),
    "medley_structure_neighbours": (None, [POINTER(s.Structure)]),
    "medley_dataset_put_info": (c_int, [c_void_p, POINTER(c_int32), c_size_t, c_size_t, ERROR]),
    "medley_model_write": (c_int, [c_void_p, POINTER(c_void_p), POINTER(c_size_t), ERROR]),
    "medley_model_read": (c_int, [HANDLE, c_char_p, c_size_t, c_char_p, ERROR]),
    "medley_bytes_free": (None, [c_void_p]),
    "medley_model_label_count": (c_size_t, [c_void_p]),
    "medley_model_label_name": (c_char_p, [c_void_p, c_size_t]),
    "medley_model_is_regression": (c_bool, [c_void_p]),
    "medley_model_is_parser": (c_bool, [c_void_p]),
    "medley_model_reads_words": (c_bool, [c_void_p]),
    "medley_model_columns": (c_size_t, [c_void_p, c_char_p]),
    "medley_model_summary": (POINTER(s.Summary), [c_void_p]),
    "medley_model_features": (
        c_int,
        [c_void_p, c_size_t, c_size_t, POINTER(POINTER(s.Feature)), POINTER(c_size_t), ERROR],
    ),
    "medley_features_free": (None, [POINTER(s.Feature), c_size_t]),
    "medley_predict_with": (
        c_int,
        [POINTER(POINTER(s.Prediction)), c_void_p, c_void_p, POINTER(s.PredictOptions), ERROR],
    ),
    "medley_prediction_free": (None, [POINTER(s.Prediction)]),
    "medley_evaluate_with": (
        c_int,
        [POINTER(s.Evaluation), c_void_p, c_void_p, POINTER(s.EvaluateOptions), ERROR],
    ),
    "medley_evaluation_clear": (None, [POINTER(s.Evaluation)]),
    "medley_learner_create": (c_int, [HANDLE, c_void_p, ERROR]),
    "medley_learner_free": (None, [c_void_p]),
    "medley_learner_partial_fit": (c_int, [c_void_p, c_void_p, ERROR]),
    "medley_learner_model": (c_int, [HANDLE, c_void_p, ERROR]),
    "medley_tune": (
        c_int,
        [
            POINTER(POINTER(s.Tuning)),
            c_void_p,
            c_void_p,
            POINTER(s.Choice),
            c_size_t,
            POINTER(s.TuneOptions),
            POINTER(s.Observer),
            ERROR,
        ],
    ),
    "medley_tuning_free": (None, [POINTER(s.Tuning)]),
    "medley_trace_path": (
        c_int,
        [
            POINTER(POINTER(s.Path)),
            c_void_p,
            c_void_p,
            c_void_p,
            POINTER(s.PathOptions),
            s.PathTaker,
            c_void_p,
            POINTER(s.Observer),
            ERROR,
        ],
    ),
    "medley_path_free": (None, [POINTER(s.Path)]),
    "medley_report_write": (c_int, [c_char_p, c_void_p, POINTER(s.ReportOptions), ERROR]),
}


def library_path():
    """The file that is loaded: $MEDLEY_LIBRARY, else the one inside the package, else, in the
    source tree (where scripts beside the package find it first), the one that was built last."""
    chosen = os.environ.get("MEDLEY_LIBRARY")
    inside = Path(__file__).resolve().with_name("libmedley.so")
    built = inside.parents[2] / "build-python" / "cmake" / inside.name
    return chosen or str(built if built.exists() and not inside.exists() else inside)


def _load():
    path = library_path()
    try:
        library = ctypes.CDLL(path)
    except OSError as problem:
        raise ImportError(
            f"the Medley library cannot be loaded ({problem}); install the package with 'make "
            "python' or 'pip install --no-build-isolation .' in the repository, or set "
            "MEDLEY_LIBRARY to a libmedley.so"
        ) from None
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"{path} has no function {name}: it is of another version")
        function.restype, function.argtypes = result, arguments
    return library


lib = _load()


def call(name, *arguments):
    """Calls a function that returns a medley_status; raises for a negative one."""
    error = s.Error()
    status = getattr(lib, name)(*arguments, byref(error))
    if status < 0:
        raise from_status(status, error)
    return status


def text(value):
    """A C string as str; None stays None. c_text makes the same bytes of it again."""
    return None if value is None else value.decode("utf-8", errors="surrogateescape")


def c_text(value):
    """A str, path or None for an argument of type const char *."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, os.PathLike):
        encoded = os.fsencode(value)
    else:  # names of files may hold bytes that are no UTF-8: Python has them as surrogates
        encoded = str(value).encode("utf-8", errors="surrogateescape")
    if b"\0" in encoded:
        raise ValueError(f"{value!r} holds a NUL character")
    return encoded


def c_texts(values):
    """An array of C strings."""
    return (c_char_p * max(len(values), 1))(*[c_text(value) for value in values])


class Handle:
    """Owner of one object of the library."""

    free = None  # name of the function that frees it

    def __init__(self, pointer):
        self.pointer = pointer

    def __del__(self):
        pointer, self.pointer = getattr(self, "pointer", None), None
        if pointer and lib is not None:
            getattr(lib, self.free)(pointer)

    def __getstate__(self):  # a copy of the pointer would be freed twice
        raise TypeError(f"a {type(self).__name__} of the library can be neither copied nor pickled")


def create(name, *arguments):
    """Calls a function that creates an object into its first argument and returns the pointer."""
    pointer = c_void_p()
    call(name, byref(pointer), *arguments)
    return pointer
