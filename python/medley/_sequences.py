# SPDX-License-Identifier: BSD-3-Clause
"""Lists of sequences and of their labels as users bring them: checks, kinds, one table of all."""

from typing import Any, Sequence

import numpy as np
from scipy import sparse

from ._checks import needs_y
from ._errors import InputError

Sequences = Sequence[Any]  # of lists of tokens, or of arrays with a row for each position


def _is_text(value):
    return isinstance(value, (str, bytes))


def length_of(sequence):
    return sequence.shape[0] if hasattr(sequence, "shape") else len(sequence)


def as_sequences(X, item="sequence"):
    """X as a list of lists or arrays; item: what one of them is called."""
    if _is_text(X) or isinstance(X, dict) or not hasattr(X, "__len__") or sparse.issparse(X):
        raise InputError(f"X is a list, with a list or an array for each {item}")
    X = list(X)
    for i, sequence in enumerate(X):
        if _is_text(sequence):
            raise InputError(f"{item} {i} is a text; give a list of tokens and a list of labels")
        shape = getattr(sequence, "shape", None)
        is_dict = isinstance(sequence, dict) and not sparse.issparse(sequence)  # as DOK matrices are
        if is_dict or shape == () or not (shape or hasattr(sequence, "__len__")):
            raise InputError(f"{item} {i} is a {type(sequence).__name__}; give a list of tokens")
    return X


def filled(X):
    """Sequences that are not empty, and their numbers in X."""
    kept = [(i, sequence) for i, sequence in enumerate(X) if length_of(sequence)]
    return [sequence for _, sequence in kept], [i for i, _ in kept]


def labelled_sequences(X, y):
    """Sequences with their labels, without empty ones, and their numbers in X."""
    needs_y(y)
    X = as_sequences(X)
    if not hasattr(y, "__len__") or _is_text(y):
        raise InputError("y is a list of lists of labels")
    y = list(y)
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} sequences and y has {len(y)}")
    if not X:
        raise InputError("there are no sequences to learn from")
    for i, (sequence, labels) in enumerate(zip(X, y)):
        if isinstance(labels, (str, bytes, dict)) or not hasattr(labels, "__len__"):
            raise InputError(f"y[{i}] is a {type(labels).__name__}; give a list of labels")
        if length_of(sequence) != len(labels):
            raise InputError(
                f"sequence {i} has {length_of(sequence)} tokens and {len(labels)} labels"
            )
    kept, numbers = filled(X)
    if not kept:
        raise InputError("all sequences are empty")
    return kept, [y[i] for i in numbers], numbers


def distinct_labels(labels):
    """The classes, sorted, with the dtype of the labels; and the number of each label."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InputError("y is a list of lists of labels")
    if any(label is None for label in labels) or (array.dtype.kind == "f"
                                                  and np.isnan(array).any()):
        raise InputError("y has a label that is None or NaN; every position needs a label")
    if array.dtype.kind in "USOibuf" and not _mixed(labels):
        try:
            return np.unique(array, return_inverse=True)
        except (TypeError, ArithmeticError):
            pass  # objects that cannot be put in order, Decimal("NaN") among them
    raise InputError("labels are of different types; give texts only or numbers only")


def _mixed(labels):
    texts = sum(isinstance(label, (str, bytes)) for label in labels)
    return 0 < texts < len(labels)


def plain(label):
    """A label as a dict knows it."""
    return label.item() if isinstance(label, np.generic) else label


# ---- kinds ----


def _is_table(sequence):
    return sparse.issparse(sequence) or (
        hasattr(sequence, "dtype") and np.ndim(sequence) == 2 and sequence.dtype.kind in "fiub"
    )


def kind_of(sequences):
    """"numbers", "attributes" or "words", by the first token."""
    first = sequences[0]
    if _is_table(first):
        return "numbers"
    token = first[0]
    if isinstance(token, dict):
        return "attributes"
    if isinstance(token, str) or (np.ndim(token) == 1 and len(token) and isinstance(token[0], str)):
        return "words"
    try:
        if np.ndim(first) == 2 and np.asarray(first).dtype.kind in "fiub":
            return "numbers"
    except ValueError:
        pass  # rows of different lengths
    raise InputError(
        "a token is a text, a tuple of texts or a dict of attributes; or a sequence is an array of "
        "numbers with a row for each position"
    )


def one_table(sequences, numbers):
    """All rows of all sequences; numbers: those of the sequences in X, for errors."""
    tables = [_table(sequence, number) for sequence, number in zip(sequences, numbers)]
    widths = {table.shape[1] for table in tables}
    if len(widths) > 1:
        raise InputError(f"sequences have different numbers of columns: {sorted(widths)}")
    if any(sparse.issparse(table) for table in tables):
        return sparse.vstack(tables, format="csr")
    return np.concatenate(tables)


def _table(sequence, number):
    try:
        table = sparse.csr_matrix(sequence) if sparse.issparse(sequence) else np.asarray(sequence)
    except ValueError:  # rows of different lengths
        table = np.empty(0)
    if len(table.shape) != 2 or table.dtype.kind not in "fiub":
        raise InputError(f"X[{number}] is no array of numbers with a row for each position")
    values = table.data if sparse.issparse(table) else table
    if values.dtype.kind == "f" and values.size:
        beyond = ~(np.abs(values) <= np.finfo(np.float32).max)
        if beyond.any():
            place = ""
            if not sparse.issparse(table):
                place = f"[{np.argwhere(beyond)[0][0]}]"
            raise InputError(
                f"X[{number}]{place} holds {values[beyond].flat[0]}; finite numbers within the "
                "range of float32 are needed"
            )
    return table


def split(items, lengths):
    """Items of all positions as a list for each sequence."""
    pieces, start = [], 0
    for length in lengths:
        pieces.append(items[start : start + length])
        start += length
    return pieces
