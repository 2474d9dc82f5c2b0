# SPDX-License-Identifier: BSD-3-Clause
"""What Python calls the options of the library, here and in the library's sentences.

A sentence has options in backquotes: `C=-1` becomes C=-1, `scale=standard` becomes
scale='standard'; an option that is no parameter of an estimator becomes options={'ridge': 0.1},
which all of them take.
"""

import functools
import inspect
import re

# Parameters whose option has another name.
OPTION_NAMES = {
    "kernels": "kernel",
    "lambda_": "lambda",
    "n_jobs": "threads",
    "random_state": "seed",
}

# What the command takes as options and Python as arguments of its own.
ARGUMENTS = {
    "best": "predict_best",
    "dev": "eval_set",
    "format": "format",
    "gram": "grams=[...]",
    "gram-diagonal": "grams=[(matrix, diagonal)]",
    "label": "label",
    "labels": "y",
    "proba": "predict_proba",
    "tags": "tags",
    "view": "X",
}

TASKS = {
    "binary": "MKLClassifier",
    "multiclass": "MKLClassifier",
    "regression": "MKLRegressor",
    "chain": "SequenceLabeler",
    "tree": "DependencyParser",
    "custom": "StructuredPredictor",
}


def option_name(parameter):
    """The option that a constructor parameter stands for."""
    return OPTION_NAMES.get(parameter, parameter.replace("_", "-"))


@functools.lru_cache(maxsize=None)
def _parameters():
    """{option: parameter} of all estimators."""
    import medley  # the estimators need this module

    kinds = {getattr(medley, name) for name in TASKS.values()}
    found = {name for kind in kinds for name in inspect.signature(kind).parameters}
    return {option_name(parameter): parameter for parameter in found}


def _quoted(value):
    """Numbers, placeholders (FILE) and what has quotes stay as they are."""
    return value if re.match(r"[-\d.']|[A-Z]+$", value) else f"'{value}'"


def _spelt(match):
    option, value = match["option"], match["value"]
    if option == "task" and value in TASKS:
        return TASKS[value]
    if option in ARGUMENTS:
        return ARGUMENTS[option]
    if option in _parameters():
        parameter = _parameters()[option]
        return parameter if value is None else f"{parameter}={_quoted(value)}"
    return f"options={{'{option}': {'...' if value is None else _quoted(value)}}}"


def in_python(sentence):
    """A sentence of the library with Python's names."""
    return re.sub(r"`(?P<option>[A-Za-z][\w-]*)(?:=(?P<value>[^`]*))?`", _spelt, sentence)
