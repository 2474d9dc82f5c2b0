# SPDX-License-Identifier: BSD-3-Clause
"""Errors of the library as exceptions, with the library's sentences in Python's names."""

import errno
import os
from typing import Any

from . import _structs
from ._names import in_python


class MedleyError(Exception):
    """Something went wrong in the library.

    Parameters
    ----------
    message : str
        One sentence.
    file : str, default ""
        The input at fault.
    line : int, default 0
        Its line.

    Attributes
    ----------
    message : str
        One sentence: what was found, what was expected, the remedy.
    file : str
        The input at fault, or "".
    line : int
        Its line, 0 if none.
    """

    def __init__(self, message: str, file: str = "", line: int = 0) -> None:
        super().__init__(message, file, line)
        self.message, self.file, self.line = message, file, line

    def __str__(self) -> str:
        place = self.file
        if place and self.line:
            place += f":{self.line}"
        return f"{place}: {self.message}" if place else self.message


class UsageError(MedleyError, ValueError):
    """Parameters that do not exist or do not fit together."""


class InputError(MedleyError, ValueError):
    """Data that cannot be used as they are."""


class NotSupportedError(MedleyError, ValueError):
    """A feature that this build or method does not have."""


class OutOfMemoryError(MedleyError, MemoryError):
    """There is not enough memory."""


class FileError(MedleyError, OSError):
    """A file or the system refused.

    Attributes
    ----------
    filename : str or None
        The file.
    errno : int or None
        The system's number of the reason, where it is known.
    """

    # OSError turns two or three arguments into errno, sentence and file name: keep it from that.
    def __new__(cls, *arguments: Any) -> "FileError":
        return OSError.__new__(cls)

    def __init__(self, message: str, file: str = "", line: int = 0) -> None:
        self.args = (message, file, line)
        self.message, self.file, self.line = message, file, line
        self.filename, self.errno = file or None, _reason(message)

    def __reduce__(self) -> Any:
        return type(self), (self.message, self.file, self.line)


def _reason(message):
    """The number of the system's error whose sentence is in the message, else None."""
    found = [number for number in errno.errorcode if os.strerror(number) in message]
    return max(found, key=lambda number: len(os.strerror(number)), default=None)


_BY_CODE = {
    _structs.USAGE: UsageError,
    _structs.BAD_INPUT: InputError,
    _structs.NOT_SUPPORTED: NotSupportedError,
}


def from_status(status, error):
    """The exception for a negative status and what the library wrote into its medley_error."""
    message = error.message.decode(errors="replace") or f"the library answered {status}"
    file = os.fsdecode(error.file)
    kind = _BY_CODE.get(status) or _failure(message, file)
    return kind(in_python(message), file, error.line)


def _failure(message, file):
    """The exception for what failed through no fault of the arguments, as far as could be seen."""
    if message.startswith("out of memory"):
        return OutOfMemoryError
    return FileError if file or _reason(message) else MedleyError
