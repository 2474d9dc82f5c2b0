# SPDX-License-Identifier: BSD-3-Clause
"""The structs of the public headers, field by field.

A test compiles a C program from the headers that prints the size of each struct and the place of
each field, so what is written here cannot drift away from them.
"""

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int32
from ctypes import c_long, c_size_t, c_uint64, c_ulonglong, c_void_p

OK, STOPPED = 0, 1
FAILED, USAGE, BAD_INPUT, NOT_SUPPORTED = -1, -2, -3, -4
FLOAT32, FLOAT64 = 0, 1


class Error(ctypes.Structure):
    c_name = "medley_error"
    _fields_ = [
        ("code", c_int),
        ("message", c_char * 640),
        ("file", c_char * 256),
        ("line", c_long),
    ]


class ReadOptions(ctypes.Structure):
    c_name = "medley_read_options"
    _fields_ = [
        ("struct_size", c_size_t),
        ("format", c_char_p),
        ("label", c_char_p),
        ("columns", c_char_p),
        ("header", c_int),
        ("feature_count", c_size_t),
        ("ignore_labels", c_bool),
        ("text_columns", c_bool),
    ]


class Table(ctypes.Structure):
    c_name = "medley_table"
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("rows", c_size_t),
        ("columns", c_size_t),
        ("type", c_int),
        ("values", c_void_p),
        ("stride", c_size_t),
        ("start", c_void_p),
        ("index", c_void_p),
        ("height", c_size_t),
        ("width", c_size_t),
        ("borrow", c_bool),
    ]


class Progress(ctypes.Structure):
    c_name = "medley_progress"
    _fields_ = [
        ("stage", c_char_p),
        ("done", c_size_t),
        ("total", c_size_t),
        ("objective", c_double),
        ("dev_accuracy", c_double),
        ("seconds", c_double),
        ("gap", c_double),
    ]


ProgressCallback = CFUNCTYPE(c_bool, c_void_p, POINTER(Progress))


class Observer(ctypes.Structure):
    c_name = "medley_observer"
    _fields_ = [("context", c_void_p), ("progress", ProgressCallback)]


class OptionInfo(ctypes.Structure):
    c_name = "medley_option_info"
    _fields_ = [
        ("name", c_char_p),
        ("argument", c_char_p),
        ("fallback", c_char_p),
        ("help", c_char_p),
        ("repeatable", c_bool),
    ]


class Listing(ctypes.Structure):
    c_name = "medley_listing"
    _fields_ = [
        ("name", c_char_p),
        ("summary", c_char_p),
        ("formula", c_char_p),
        ("parameters", c_char * 512),
        ("weights", c_char_p),
        ("format", c_char_p),
    ]


class GenerateOptions(ctypes.Structure):
    c_name = "medley_generate_options"
    _fields_ = [
        ("struct_size", c_size_t),
        ("rows", c_size_t),
        ("seed", c_uint64),
        ("dimension", c_size_t),
        ("views", c_size_t),
        ("classes", c_size_t),
        ("noise", c_double),
    ]


class PathOptions(ctypes.Structure):
    c_name = "medley_path_options"
    _fields_ = [
        ("struct_size", c_size_t),
        ("count", c_size_t),
        ("lambda", POINTER(c_double)),
        ("ratio", c_double),
    ]


class BlockInfo(ctypes.Structure):
    c_name = "medley_block_info"
    _fields_ = [
        ("name", c_char_p),
        ("weight", c_double),
        ("norm", c_double),
        ("features", c_size_t),
    ]


class Epoch(ctypes.Structure):
    c_name = "medley_epoch"
    _fields_ = [
        ("objective", c_double),
        ("loss", c_double),
        ("dev_accuracy", c_double),
        ("seconds", c_double),
        ("dual", c_double),
        ("gap", c_double),
        ("active", c_size_t),
        ("updates", c_size_t),
    ]


class Summary(ctypes.Structure):
    c_name = "medley_summary"
    _fields_ = [
        ("task", c_char_p),
        ("method", c_char_p),
        ("loss", c_char_p),
        ("penalty", c_char_p),
        ("lambda", c_double),
        ("C", c_double),
        ("spicy_C", c_double),
        ("eta0", c_double),
        ("examples", c_size_t),
        ("parts", c_size_t),
        ("blocks", POINTER(BlockInfo)),
        ("block_count", c_size_t),
        ("active_blocks", c_size_t),
        ("objective", c_double),
        ("dual", c_double),
        ("gap", c_double),
        ("bias", c_double),
        ("iterations", c_size_t),
        ("newton_steps", c_size_t),
        ("passes", c_size_t),
        ("epochs", POINTER(Epoch)),
        ("epoch_count", c_size_t),
        ("seconds_kernels", c_double),
        ("seconds_train", c_double),
        ("peak_rss_mb", c_double),
        ("support_rows", c_size_t),
        ("seed", c_ulonglong),
        ("threads", c_size_t),
        ("converged", c_bool),
        ("updates", c_size_t),
        ("radius", c_double),
        ("bound", c_double),
        ("temperature", c_double),
        ("offsets", POINTER(c_double)),
    ]


class Feature(ctypes.Structure):
    c_name = "medley_feature"
    _fields_ = [("text", c_char_p), ("value", c_double)]


class TaskInfo(ctypes.Structure):
    c_name = "medley_task_info"
    _fields_ = [
        ("title", c_char_p),
        ("does", c_char_p),
        ("does_unlabelled", c_char_p),
        ("example", c_char_p),
        ("examples", c_char_p),
        ("parts", c_char_p),
        ("block", c_char_p),
        ("blocks", c_char_p),
        ("no_features", c_char_p),
        ("no_scores", c_char_p),
        ("has_labels", c_bool),
        ("has_probabilities", c_bool),
        ("has_heads", c_bool),
        ("has_certificate", c_bool),
    ]


class Prediction(ctypes.Structure):
    c_name = "medley_prediction"
    _fields_ = [
        ("rows", c_size_t),
        ("labels", c_size_t),
        ("value", POINTER(c_double)),
        ("label", POINTER(c_int32)),
        ("score", POINTER(c_float)),
        ("sequences", c_size_t),
        ("best", c_size_t),
        ("best_label", POINTER(c_int32)),
        ("best_score", POINTER(c_double)),
        ("seconds_score", c_double),
        ("seconds_decode", c_double),
        ("head", POINTER(c_int32)),
    ]


class PredictOptions(ctypes.Structure):
    c_name = "medley_predict_options"
    _fields_ = [
        ("struct_size", c_size_t),
        ("threads", c_size_t),
        ("probabilities", c_bool),
        ("keep_labels", c_bool),
        ("best", c_size_t),
        ("tags", c_char_p),
    ]


class Evaluation(ctypes.Structure):
    c_name = "medley_evaluation"
    _fields_ = [
        ("examples", c_size_t),
        ("parts", c_size_t),
        ("labels", c_size_t),
        ("correct", c_size_t),
        ("accuracy", c_double),
        ("rmse", c_double),
        ("r2", c_double),
        ("exact_match", c_double),
        ("confusion", POINTER(c_size_t)),
        ("unknown_labels", c_size_t),
        ("has_chunks", c_bool),
        ("chunk_precision", c_double),
        ("chunk_recall", c_double),
        ("chunk_f1", c_double),
        ("log_loss", c_double),
        ("brier", c_double),
        ("calibration_error", c_double),
        ("seconds_score", c_double),
        ("seconds_decode", c_double),
        ("seconds_total", c_double),
        ("uas", c_double),
        ("las", c_double),
        ("uas_no_punct", c_double),
        ("las_no_punct", c_double),
    ]


class EvaluateOptions(ctypes.Structure):
    c_name = "medley_evaluate_options"
    _fields_ = [
        ("struct_size", c_size_t),
        ("threads", c_size_t),
        ("probabilities", c_bool),
        ("tags", c_char_p),
    ]


class Choice(ctypes.Structure):
    c_name = "medley_choice"
    _fields_ = [("option", c_char_p), ("values", c_char_p)]


class TuneOptions(ctypes.Structure):
    c_name = "medley_tune_options"
    _fields_ = [("struct_size", c_size_t), ("folds", c_size_t), ("measure", c_char_p)]


class Trial(ctypes.Structure):
    c_name = "medley_trial"
    _fields_ = [
        ("values", POINTER(c_char_p)),
        ("mean", c_double),
        ("deviation", c_double),
        ("standard_error", c_double),
        ("active", c_double),
        ("seconds", c_double),
        ("fold", POINTER(c_double)),
        ("problem", c_char_p),
    ]


class Tuning(ctypes.Structure):
    c_name = "medley_tuning"
    _fields_ = [
        ("measure", c_char_p),
        ("higher_is_better", c_bool),
        ("options", POINTER(c_char_p)),
        ("option_count", c_size_t),
        ("trials", POINTER(Trial)),
        ("trial_count", c_size_t),
        ("fold_count", c_size_t),
        ("best", c_size_t),
        ("one_error", c_size_t),
        ("kernels_shared", c_bool),
        ("seconds_kernels", c_double),
        ("seconds_total", c_double),
        ("threads", c_size_t),
    ]


class PathPoint(ctypes.Structure):
    c_name = "medley_path_point"
    _fields_ = [
        ("lambda", c_double),
        ("C", c_double),
        ("objective", c_double),
        ("dual", c_double),
        ("gap", c_double),
        ("score", c_double),
        ("active", c_size_t),
        ("seconds", c_double),
        ("weights", POINTER(c_double)),
        ("norms", POINTER(c_double)),
    ]


class Path(ctypes.Structure):
    c_name = "medley_path"
    _fields_ = [
        ("task", c_char_p),
        ("method", c_char_p),
        ("loss", c_char_p),
        ("penalty", c_char_p),
        ("measure", c_char_p),
        ("higher_is_better", c_bool),
        ("blocks", POINTER(c_char_p)),
        ("block_count", c_size_t),
        ("points", POINTER(PathPoint)),
        ("point_count", c_size_t),
    ]


class Contender(ctypes.Structure):
    c_name = "medley_contender"
    _fields_ = [
        ("name", c_char_p),
        ("score", c_double),
        ("seconds", c_double),
        ("is_model", c_bool),
    ]


class ReportOptions(ctypes.Structure):
    c_name = "medley_report_options"
    _fields_ = [
        ("struct_size", c_size_t),
        ("title", c_char_p),
        ("data", c_void_p),
        ("data_name", c_char_p),
        ("tuning", POINTER(Tuning)),
        ("path", POINTER(Path)),
        ("contenders", POINTER(Contender)),
        ("contender_count", c_size_t),
        ("examples", c_size_t),
        ("top", c_size_t),
        ("threads", c_size_t),
        ("tags", c_char_p),
        ("data_chose", c_bool),
    ]


PathTaker = CFUNCTYPE(c_bool, c_void_p, c_void_p)

class Example(ctypes.Structure):
    c_name = "medley_example"
    _fields_ = [
        ("length", c_size_t),
        ("labels", c_size_t),
        ("row", c_size_t),
        ("info", POINTER(c_int32)),
        ("info_width", c_size_t),
    ]


class Inference(ctypes.Structure):
    c_name = "medley_inference"
    _fields_ = [
        ("example", Example),
        ("score", POINTER(c_float)),
        ("gold", POINTER(c_int32)),
        ("output", POINTER(c_int32)),
        ("marginal", POINTER(c_float)),
        ("value", POINTER(c_double)),
    ]


_WORDS = POINTER(ctypes.c_uint32)


class Structure(ctypes.Structure):
    c_name = "medley_structure"
    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("context", c_void_p),
        ("shared_parts", CFUNCTYPE(c_size_t, c_void_p, c_size_t)),
        ("most_shared", CFUNCTYPE(c_size_t, c_void_p, c_size_t, c_size_t)),
        ("shared_of", CFUNCTYPE(c_size_t, c_void_p, POINTER(Example), POINTER(c_int32), _WORDS)),
        ("decode", c_void_p),
        ("decode_with_cost", c_void_p),
        ("most_cost", c_void_p),
        ("marginals", c_void_p),
        ("workspace_bytes", c_void_p),
        ("infer", CFUNCTYPE(c_int, c_void_p, POINTER(POINTER(Inference)), c_size_t)),
        ("can_infer_marginals", c_bool),
    ]


STRUCTS = [
    value
    for value in list(globals().values())
    if isinstance(value, type) and issubclass(value, ctypes.Structure) and hasattr(value, "c_name")
]
