# SPDX-License-Identifier: BSD-3-Clause
"""Labels as the texts that the library knows them by, and back.

The library writes a label that is a number in one way only ("01" is 1 to it). A text that it would
write otherwise gets quotes in the model, which are taken off again when a model is loaded.
"""

import numpy as np

from ._errors import InputError


def _number_text(value):
    """A number as the library writes it."""
    texts = [f"{value:.{digits}g}" for digits in (15, 16, 17)]
    return next((text for text in texts if float(text) == value), texts[-1])


def label_text(label):
    """A label as the command would write it: 1.0 is 1, the rest is str()."""
    if isinstance(label, (bool, np.bool_)):
        return str(bool(label))
    if isinstance(label, (float, np.floating)):
        return _number_text(float(label) + 0.0)  # no negative zero
    if isinstance(label, bytes):
        return label.decode(errors="replace")
    return str(label)


def _looks_like_other(name):
    """Would the library write this text as another number, or is it empty, as no label is?"""
    try:
        return name in ("", "-0") or _number_text(float(name)) != name
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
    strange = [name for name in model_labels if name not in place]
    if strange:
        raise InputError(
            f"the model has the label '{strange[0]}', which is not among classes_; it has "
            f"{_some(model_labels)}"
        )
    return np.array([place[name] for name in model_labels], dtype=np.intp)


def _some(labels):
    return ", ".join(map(str, labels[:8])) + (" ..." if len(labels) > 8 else "")


def known_labels(names):
    """Classes from the names in a model: numbers if all of them are, else texts."""
    plain = [name[1:-1] if _is_quoted(name) else name for name in names]
    for kind, texts, written in ((int, plain, str), (float, names, label_text)):
        try:
            values = [kind(name) for name in texts]
        except ValueError:
            continue
        if [written(value) for value in values] == list(texts) and all(
            abs(value) < np.inf for value in values
        ):
            return np.array(values)
    return np.array(plain, dtype=object if not plain else None)


def _is_quoted(name):
    """Has label_texts put quotes around this name?"""
    quoted = len(name) > 1 and name[0] == name[-1] == "'"
    return quoted and _looks_like_other(name[1:-1])


def chosen_labels(names, classes):
    """Classes for a model that was loaded: those that the user names, or what the names tell."""
    if classes is None:
        return known_labels(names)
    classes = np.unique(np.asarray(classes))
    label_order(classes, names)
    return classes


def free_name(names):
    """A name for labels that the model does not know."""
    name = "(unknown)"
    while name in names:
        name += "'"
    return name


# ---- kinds ----


def _kind(label):
    if isinstance(label, str):
        return "texts"
    return "bytes" if isinstance(label, bytes) else "numbers"


def _kinds(labels):
    array = np.asarray(labels)
    known = {"U": "texts", "S": "bytes", "b": "numbers", "i": "numbers", "u": "numbers",
             "f": "numbers"}
    if array.dtype.kind in known:
        return {known[array.dtype.kind]}
    return {_kind(label) for label in array.ravel().tolist()}


def check_kind(y, classes):
    """Raises where all labels must be wrong because they are texts and the classes numbers."""
    if len(y) == 0 or len(classes) == 0:
        return
    ours, theirs = _kinds(classes), _kinds(y)
    if ours.isdisjoint(theirs):
        raise InputError(
            f"y holds {' and '.join(sorted(theirs))}, the classes are {' and '.join(sorted(ours))} "
            f"({_some(np.asarray(classes).tolist())}); give y as they are, and for a model from a "
            "file name them: load(path, classes=[...])"
        )


def _is_missing(label):
    return (label is None or (isinstance(label, (float, np.floating)) and label != label)
            or type(label).__name__ in ("NAType", "NaTType"))


def refuse_missing(y):
    """None and NaN among texts become the texts 'None' and 'nan' in an array: classes of their own."""
    labels = y if isinstance(y, (list, tuple)) else np.asarray(y)
    if isinstance(labels, np.ndarray):
        labels = labels.ravel().tolist() if labels.dtype == object else ()
    for row, label in enumerate(labels):
        if _is_missing(label):
            raise InputError(f"y has {label!r} as the label of row {row}; every row needs a label")
