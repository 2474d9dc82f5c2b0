# SPDX-License-Identifier: BSD-3-Clause
"""Calling the library: errors become exceptions, texts become bytes, objects have owners."""

import os
from ctypes import byref, c_char_p, c_void_p

from . import _structs as s
from ._errors import from_status
from ._structs import lib


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
