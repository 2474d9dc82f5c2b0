# SPDX-License-Identifier: BSD-3-Clause
"""Checks of what users bring, where C would take anything: whole numbers, pairs, flags."""

import numbers
from contextlib import contextmanager

import numpy as np

from ._errors import InputError, UsageError

_MOST = 2**53


def whole(name, value, least=0):
    """A whole number that C can take, or a sentence."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise UsageError(f"{name}={value!r} is not a whole number")
    if not least <= value <= _MOST:
        raise UsageError(f"{name}={value} is out of range; give {least} or more")
    return int(value)


def image_size(shape):
    """(height, width) of images; None stays None."""
    if shape is None:
        return None
    if not isinstance(shape, (tuple, list, np.ndarray)) or len(shape) != 2:
        raise UsageError(f"image_shape={shape!r}; give a pair (height, width)")
    return tuple(whole("image_shape", size, 1) for size in shape)


def flag(name, value):
    """True or False, and nothing that only looks like it."""
    if not isinstance(value, (bool, np.bool_)):
        raise UsageError(f"{name}={value!r}; give True or False")
    return bool(value)


def pair(eval_set):
    """eval_set as (X, y); a list of one pair, as XGBoost has it, is such a pair, too."""
    if isinstance(eval_set, list) and len(eval_set) == 1:
        eval_set = eval_set[0]
    if not isinstance(eval_set, (tuple, list)) or len(eval_set) != 2:
        raise UsageError("eval_set is a pair (X, y) of data and their labels, or a list of one")
    return tuple(eval_set)


def text_keys(what, mapping):
    """Raises if a key of a dict is no text."""
    for key in mapping:
        if not isinstance(key, str):
            raise InputError(f"{what} has the key {key!r}; names of views are texts")


def needs_y(y):
    if y is None:
        raise InputError("this estimator requires y to be passed, but the target y is None")


@contextmanager
def within_floats(what):
    """Whole numbers that no float holds become an error like others; also a decorator."""
    try:
        yield
    except OverflowError:
        raise InputError(f"{what} holds a whole number beyond the range of floats") from None
