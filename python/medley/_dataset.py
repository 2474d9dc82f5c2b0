# SPDX-License-Identifier: BSD-3-Clause
"""Data of the library, built from what Python users bring.

Dense arrays are handed over by pointer. C-contiguous float32 is borrowed: the library computes on
the very memory of the array. Anything else is turned into float32 by the library itself, without
another copy in Python; only arrays whose rows are not contiguous are copied here.
"""

import ctypes
import re
from contextlib import contextmanager
from numbers import Integral
from typing import Any, Dict, Tuple

import numpy as np
from scipy import sparse

from . import _structs as s
from ._checks import image_size
from ._errors import InputError, MedleyError, UsageError
from ._labels import known_labels
from ._library import Handle, c_text, c_texts, call, create, lib, text


class Views(Dict[str, Any]):
    """Several tables of the same rows, by name: a dict that scikit-learn can cut.

    A plain dict of arrays will do for ``fit`` and ``predict``; this one also has rows, so that
    ``GridSearchCV``, ``cross_val_score`` and ``train_test_split`` work on it.

    Parameters
    ----------
    *arguments, **tables
        As of a dict: {name: array, sparse matrix or data frame}.

    Attributes
    ----------
    shape : (int, int)
        Rows, and columns of all views together.

    Examples
    --------
    >>> import numpy as np
    >>> views = Views(shape=np.zeros((4, 2)), colour=np.ones((4, 3)))
    >>> views.shape
    (4, 5)
    >>> sorted(views[[0, 2]].items())[0][1].shape
    (2, 3)
    """

    @property
    def shape(self) -> Tuple[int, int]:
        """Rows, and columns of all views together."""
        columns = sum(_shape(table)[1] for table in self.values())
        return (len(self), columns)

    def __len__(self) -> int:
        for table in self.values():
            return _shape(table)[0]
        return 0

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return dict.__getitem__(self, key)
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # as scikit-learn 1.9 cuts rows
        return Views({name: _rows_of(table, key) for name, table in self.items()})

    def copy(self) -> "Views":
        """Make a dict of the same tables.

        Returns
        -------
        Views
            The tables themselves are not copied.
        """
        return Views(self.items())

    def __or__(self, other: Any) -> Any:
        return Views({**dict(self.items()), **other}) if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return Views({**other, **dict(self.items())}) if isinstance(other, dict) else NotImplemented

    def __reduce__(self) -> Any:
        return Views, (dict(self.items()),)


def _shape(table):
    return table.shape if hasattr(table, "shape") else np.shape(table)


def _rows_of(table, key):
    if hasattr(table, "iloc"):
        return table.iloc[key]
    if sparse.issparse(table):
        return table.tocsr()[key]  # other layouts cannot be cut
    return (table if hasattr(table, "shape") else np.asarray(table))[key]


def chosen_columns(table, which):
    """A table of some columns: a number, a slice, or a list or array of numbers or flags."""
    which = [which] if isinstance(which, Integral) else which
    try:
        return table[:, which]
    except (IndexError, TypeError):
        raise InputError(
            f"views names the columns {which!r}, and there are {table.shape[1]}, counted from 0"
        ) from None


def _number_type(values):
    return s.FLOAT32 if values.dtype == np.float32 else s.FLOAT64


def _as_float(values):
    """float32 as it is, everything else as float64."""
    values = np.asarray(values)
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _pointer(values, kind):
    return values.ctypes.data_as(ctypes.POINTER(kind))


def _dense(values):
    """Rows that C can walk along, and the numbers from one to the next."""
    values = _as_float(values)
    if values.ndim != 2:
        raise InputError(f"found an array with {values.ndim} dimensions, expected rows and columns")
    size = values.itemsize
    step = values.strides[0] // size
    walkable = (
        values.strides[1] == size
        and values.strides[0] % size == 0
        and step >= values.shape[1]
        and values.dtype.isnative
    )
    if values.size == 0 or not walkable:
        values = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
        step = values.shape[1]
    return values, step


class Dataset(Handle):
    """Owner of a medley_dataset and of the arrays that it borrows."""

    free = "medley_dataset_free"

    def __init__(self, pointer=None):
        super().__init__(create("medley_dataset_create") if pointer is None else pointer)
        self.kept = []
        self.places = None

    @property
    def rows(self):
        return lib.medley_dataset_rows(self.pointer)

    @property
    def lengths(self):
        """Of the sequences."""
        count = lib.medley_dataset_sequences(self.pointer)
        ends = [lib.medley_dataset_sequence_row(self.pointer, i) for i in range(count + 1)]
        return [end - start for start, end in zip(ends[:-1], ends[1:])]

    def put_table(self, values, name="", image_shape=None, names=None):
        """names: of the columns, by which a model finds them in other data; None: by place."""
        table, kept = _table(values, name, image_shape)
        if names is not None and not sparse.issparse(values):
            texts = c_texts(names)
            table.column_names = texts
            kept = (*kept, texts)
        call("medley_dataset_put_table", self.pointer, ctypes.byref(table))
        self.kept.append(kept)

    def put_gram(self, values, name, diagonal=None):
        values = values.toarray() if sparse.issparse(values) else values
        table, kept = _table(values, name, None)
        if diagonal is not None:
            diagonal = np.ascontiguousarray(diagonal, dtype=np.float64)
            if diagonal.shape != (table.rows,):
                raise InputError(
                    f"the diagonal of kernel '{name}' has the shape {diagonal.shape}; K(x, x) of "
                    f"the {table.rows} rows is expected"
                )
        pointer = None if diagonal is None else _pointer(diagonal, ctypes.c_double)
        call("medley_dataset_put_gram", self.pointer, ctypes.byref(table), pointer)
        self.kept.append((kept, diagonal))

    def put_distances(self, values, name):
        table, kept = _table(values, name, None)
        call("medley_dataset_put_distances", self.pointer, ctypes.byref(table))
        self.kept.append(kept)

    def put_labels(self, codes, names):
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        pointer, texts = _pointer(codes, ctypes.c_int32), c_texts(names)
        call("medley_dataset_put_labels", self.pointer, pointer, len(codes), texts, len(names))

    def put_targets(self, targets):
        targets = np.ascontiguousarray(targets, dtype=np.float64)
        pointer = _pointer(targets, ctypes.c_double)
        call("medley_dataset_put_targets", self.pointer, pointer, len(targets))

    def put_info(self, info):
        info = np.ascontiguousarray(info, dtype=np.int32)
        call("medley_dataset_put_info", self.pointer, _pointer(info, ctypes.c_int32), *info.shape)

    def put_sequences(self, lengths):
        lengths = np.ascontiguousarray(lengths, dtype=np.uintp)
        pointer = _pointer(lengths, ctypes.c_size_t)
        call("medley_dataset_put_sequences", self.pointer, pointer, len(lengths))


def _table(values, name, image_shape):
    """A medley_table over an array or a sparse matrix, and what must stay alive with it."""
    table = s.Table(name=c_text(name))
    if image_shape is not None:
        table.height, table.width = image_size(image_shape)
    if sparse.issparse(values):
        matrix = sparse.csr_matrix(values)
        if matrix.shape[1] > np.iinfo(np.int32).max:
            raise InputError(f"{matrix.shape[1]} columns are more than the library can number")
        _check_indices(matrix)
        numbers = np.ascontiguousarray(_as_float(matrix.data))
        start = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
        index = np.ascontiguousarray(matrix.indices, dtype=np.int32)
        table.rows, table.columns = matrix.shape
        table.start = _pointer(start, ctypes.c_int64)
        table.index = _pointer(index, ctypes.c_int32)
        kept = (numbers, start, index)
    else:
        numbers, table.stride = _dense(values)
        table.rows, table.columns = numbers.shape
        table.borrow = True
        kept = (numbers,)
    table.type, table.values = _number_type(numbers), numbers.ctypes.data
    return table, kept


def _check_indices(matrix):
    """64-bit indices must not be cut to ones that look right."""
    index = matrix.indices
    if index.dtype == np.int32 or index.size == 0:
        return  # the library looks at them itself
    if index.min() < 0 or index.max() >= matrix.shape[1]:
        raise InputError(f"a sparse matrix with {matrix.shape[1]} columns has an index beyond them")


class Places:
    """Where the rows of a dataset came from, when it was made of sequences.

    A text that was made of them has a line for each position and an empty one behind each sequence.
    """

    def __init__(self, name, lengths, numbers):
        self.name, self.lengths, self.numbers = name, lengths, numbers

    def _place(self, row, gap):
        """The place of a row, counted from 1; gap: rows between sequences."""
        for length, number in zip(self.lengths, self.numbers):
            if row <= length:
                return f"{self.name}[{number}][{row - 1}]"
            row -= length + gap
        return self.name

    def moved(self, problem):
        """The same error with the place as Python writes it."""
        message = re.sub(r"\brow (\d+)\b", lambda row: self._place(int(row[1]), 0), problem.message)
        file = problem.file
        if file == self.name and problem.line:
            file = self._place(problem.line, 1)
        return type(problem)(message, file, 0 if file.startswith(self.name) else problem.line)


@contextmanager
def located(*datasets):
    """Errors inside name places in sequences, not lines of a text that nobody has seen."""
    try:
        yield
    except MedleyError as problem:
        for dataset in datasets:
            places = getattr(dataset, "places", None)
            if places is not None and problem.file in ("", places.name):
                raise places.moved(problem) from None
        raise


def read_options(**fields):
    """A medley_read_options; texts may be str."""
    options = s.ReadOptions(header=-1, first_index=-1)
    for name, value in fields.items():
        setattr(options, name, c_text(value) if isinstance(value, str) else value)
    return options


def parse(content, name, places=None, **fields):
    """A dataset read from a text in one of the formats. places: where its lines came from."""
    data = content.encode("utf-8", errors="surrogateescape")  # as text() decodes
    options = ctypes.byref(read_options(**fields))
    try:
        dataset = Dataset(create("medley_dataset_parse", data, len(data), c_text(name), options))
    except MedleyError as problem:
        raise problem if places is None else places.moved(problem) from None
    dataset.places = places
    return dataset


def read_file(path, **fields):
    """A dataset read from a file."""
    options = ctypes.byref(read_options(**fields))
    return Dataset(create("medley_dataset_read", c_text(path), options))


# ---- back to Python ----


def _table_of(dataset):
    """The first table as a float32 array."""
    rows, columns = dataset.rows, lib.medley_dataset_columns(dataset.pointer)
    values = np.empty((rows, columns), dtype=np.float32)
    for row in range(rows):
        lib.medley_dataset_row(_pointer(values[row], ctypes.c_float), dataset.pointer, row)
    return values


def _tables_of(dataset):
    count = lib.medley_dataset_table_count(dataset.pointer)
    if count == 1:
        return _table_of(dataset)
    views = Views()
    for i in range(count):
        name = text(lib.medley_dataset_table_name(dataset.pointer, i))
        one = Dataset(create("medley_dataset_keep_table", dataset.pointer, i))
        views[name] = _table_of(one)
    return views


def _words_of(dataset):
    columns = lib.medley_dataset_word_columns(dataset.pointer)
    word = lib.medley_dataset_word
    return [
        tuple(text(word(dataset.pointer, row, column)) or "" for column in range(columns))
        for row in range(dataset.rows)
    ]


def _labels_of(dataset):
    count = lib.medley_dataset_label_count(dataset.pointer)
    if count == 0:
        return None
    names = [text(lib.medley_dataset_label_name(dataset.pointer, i)) for i in range(count)]
    codes = [lib.medley_dataset_label(dataset.pointer, row) for row in range(dataset.rows)]
    if min(codes) < 0:
        return np.array([names[code] if code >= 0 else None for code in codes], dtype=object)
    return known_labels(names)[codes]


def to_python(dataset):
    """X and y of a dataset: arrays, Views, or lists of sequences; y is None where there is none."""
    rows_alone = lib.medley_dataset_sequences(dataset.pointer) == 0
    has_tables = lib.medley_dataset_table_count(dataset.pointer) > 0
    values = _tables_of(dataset) if has_tables else _words_of(dataset)
    labels = _labels_of(dataset)
    if rows_alone:
        return values, labels
    count = lib.medley_dataset_sequences(dataset.pointer)
    ends = [lib.medley_dataset_sequence_row(dataset.pointer, i) for i in range(count + 1)]
    pieces = list(zip(ends[:-1], ends[1:]))
    if isinstance(values, Views):
        raise UsageError("sequences with several tables cannot be turned into Python's lists")
    sequences = [values[start:end] for start, end in pieces]
    if labels is None:
        return sequences, None
    return sequences, [labels[start:end].tolist() for start, end in pieces]


def trees_of(dataset):
    """Sentences and trees of a dataset that was read from CoNLL-U."""
    columns = {"form": 1, "lemma": 2, "upos": 3, "xpos": 4, "feats": 5}
    rows = []
    for row in range(dataset.rows):
        fields = [text(lib.medley_dataset_word(dataset.pointer, row, c)) for c in range(8)]
        token = {name: fields[c] for name, c in columns.items() if fields[c] != "_"}
        rows.append((token, (lib.medley_dataset_head(dataset.pointer, row), fields[7])))
    X, y, start = [], [], 0
    for length in dataset.lengths:
        X.append([token for token, _ in rows[start : start + length]])
        y.append([arc for _, arc in rows[start : start + length]])
        start += length
    return X, y
