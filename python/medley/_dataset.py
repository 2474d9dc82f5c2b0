# SPDX-License-Identifier: BSD-3-Clause
"""Data of the library, built from what Python users bring.

Dense arrays are handed over by pointer. C-contiguous float32 is borrowed: the library computes on
the very memory of the array. Anything else is turned into float32 by the library itself, without
another copy in Python; only arrays whose rows are not contiguous are copied here.
"""

import ctypes

import numpy as np
from scipy import sparse

from . import _structs as s
from ._errors import InputError, UsageError
from ._library import Handle, c_text, c_texts, call, create, lib, text


class Views(dict):
    """Several tables of the same rows, by name: a dict that scikit-learn can cut.

    A plain dict of arrays will do for ``fit`` and ``predict``; this one also has rows, so that
    ``GridSearchCV``, ``cross_val_score`` and ``train_test_split`` work on it.

    >>> import numpy as np
    >>> views = Views(shape=np.zeros((4, 2)), colour=np.ones((4, 3)))
    >>> views.shape
    (4, 5)
    >>> sorted(views[[0, 2]].items())[0][1].shape
    (2, 3)
    """

    @property
    def shape(self):
        columns = sum(table.shape[1] for table in self.values())
        return (len(self), columns)

    def __len__(self):
        for table in self.values():
            return table.shape[0]
        return 0

    def __getitem__(self, key):
        if isinstance(key, str):
            return dict.__getitem__(self, key)
        return Views({name: _rows_of(table, key) for name, table in self.items()})

    def __reduce__(self):
        return Views, (dict(self.items()),)


def _rows_of(table, key):
    return table.iloc[key] if hasattr(table, "iloc") else table[key]


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

    @property
    def rows(self):
        return lib.medley_dataset_rows(self.pointer)

    def put_table(self, values, name="", image_shape=None):
        table, kept = _table(values, name, image_shape)
        call("medley_dataset_put_table", self.pointer, ctypes.byref(table))
        self.kept.append(kept)

    def put_gram(self, values, name, diagonal=None):
        values = values.toarray() if sparse.issparse(values) else values
        table, kept = _table(values, name, None)
        if diagonal is not None:
            diagonal = np.ascontiguousarray(diagonal, dtype=np.float64)
        pointer = None if diagonal is None else _pointer(diagonal, ctypes.c_double)
        call("medley_dataset_put_gram", self.pointer, ctypes.byref(table), pointer)
        self.kept.append((kept, diagonal))

    def put_labels(self, codes, names):
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        pointer, texts = _pointer(codes, ctypes.c_int32), c_texts(names)
        call("medley_dataset_put_labels", self.pointer, pointer, len(codes), texts, len(names))

    def put_targets(self, targets):
        targets = np.ascontiguousarray(targets, dtype=np.float64)
        pointer = _pointer(targets, ctypes.c_double)
        call("medley_dataset_put_targets", self.pointer, pointer, len(targets))

    def put_sequences(self, lengths):
        lengths = np.ascontiguousarray(lengths, dtype=np.uintp)
        pointer = _pointer(lengths, ctypes.c_size_t)
        call("medley_dataset_put_sequences", self.pointer, pointer, len(lengths))


def _table(values, name, image_shape):
    """A medley_table over an array or a sparse matrix, and what must stay alive with it."""
    table = s.Table(struct_size=ctypes.sizeof(s.Table), name=c_text(name))
    if image_shape is not None:
        table.height, table.width = image_shape
    if sparse.issparse(values):
        matrix = sparse.csr_matrix(values)
        if matrix.shape[1] > np.iinfo(np.int32).max:
            raise InputError(f"{matrix.shape[1]} columns are more than the library can number")
        numbers = np.ascontiguousarray(_as_float(matrix.data))
        start = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
        index = np.ascontiguousarray(matrix.indices, dtype=np.int32)
        table.rows, table.columns = matrix.shape
        table.start, table.index = start.ctypes.data, index.ctypes.data
        kept = (numbers, start, index)
    else:
        numbers, table.stride = _dense(values)
        table.rows, table.columns = numbers.shape
        table.borrow = True
        kept = (numbers,)
    table.type, table.values = _number_type(numbers), numbers.ctypes.data
    return table, kept


def read_options(**fields):
    """A medley_read_options; texts may be str."""
    options = s.ReadOptions(struct_size=ctypes.sizeof(s.ReadOptions), header=-1)
    for name, value in fields.items():
        setattr(options, name, c_text(value) if isinstance(value, str) else value)
    return options


def parse(content, name, **fields):
    """A dataset read from a text in one of the formats."""
    data = content if isinstance(content, bytes) else content.encode()
    pointer = create(
        "medley_dataset_parse", data, len(data), c_text(name), ctypes.byref(read_options(**fields))
    )
    return Dataset(pointer)


def read_file(path, **fields):
    """A dataset read from a file."""
    options = ctypes.byref(read_options(**fields))
    return Dataset(create("medley_dataset_read", c_text(path), options))


# ---- labels as texts ----

UNKNOWN = "(unknown)"  # the label of rows whose own is not among the classes

def label_text(label):
    """A label as the command would write it: 1.0 is 1, the rest is str()."""
    if isinstance(label, (bool, np.bool_)):
        return str(bool(label))
    if isinstance(label, (float, np.floating)):
        return str(int(label)) if float(label).is_integer() else repr(float(label))
    if isinstance(label, bytes):
        return label.decode(errors="replace")
    return str(label)


def _looks_like_other(name):
    """Would the library write this text as another number? ("01" is 1 to it)"""
    try:
        return label_text(float(name)) != name
    except ValueError:
        return False


def label_texts(classes):
    """Distinct names for classes; numbers where their texts are not distinct or hold a NUL."""
    names = [label_text(label) for label in classes]
    names = [f"'{name}'" if _looks_like_other(name) else name for name in names]
    if len(set(names)) < len(names) or any("\0" in name for name in names):
        names = [str(i) for i in range(len(names))]
    return names


def label_order(classes, model_labels):
    """The place in classes of each label of a model."""
    place = {name: i for i, name in enumerate(label_texts(classes))}
    return np.array([place.get(name, i) for i, name in enumerate(model_labels)], dtype=np.intp)


def known_labels(names):
    """Classes from the names in a model: numbers if all of them are, else texts."""
    for kind in (int, float):
        try:
            values = [kind(name) for name in names]
        except ValueError:
            continue
        if [label_text(value) for value in values] == list(names):
            return np.array(values)
    return np.array(names, dtype=object if not names else None)


# ---- back to Python ----


def _table_of(dataset):
    """The first table as a float32 array."""
    rows, columns = dataset.rows, lib.medley_dataset_columns(dataset.pointer)
    values = np.empty((rows, columns), dtype=np.float32)
    for row in range(rows):
        lib.medley_dataset_row(dataset.pointer, row, _pointer(values[row], ctypes.c_float))
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
