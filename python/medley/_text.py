# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of Python objects as texts in the formats that the library reads.

Words may be any text here, while formats end a field at a blank, a tab or a line's end: such
characters become no-break spaces or plain ones, and an empty text the character U+200B, so that
one token stays one line.
"""

import os
import re
from numbers import Integral, Real

import numpy as np

from ._checks import within_floats
from ._errors import InputError, MedleyError, UsageError

_BLANKS = re.compile(r"[\s\0]")
_LINE_ENDS = re.compile(r"[\t\r\n\v\f\0\x1c-\x1e\x85\u2028\u2029]")
_NO_BREAK, _EMPTY = "\u00a0", "\u200b"


def word_field(value):
    """A text as one field between blanks."""
    word = value if isinstance(value, str) else str(value)
    return _BLANKS.sub(_NO_BREAK, word) if word else _EMPTY


def _token_line(token, columns, place):
    fields = (token,) if isinstance(token, str) else token
    is_tuple = isinstance(fields, (tuple, list, np.ndarray)) and np.ndim(fields) == 1
    if not is_tuple or any(field is None for field in fields):
        raise InputError(
            f"token {place[1]} of sequence {place[0]} is {token!r}; a text, or a tuple of texts, "
            "is expected as in the first"
        )
    if len(fields) != columns:
        raise InputError(
            f"token {place[1]} of sequence {place[0]} has {len(fields)} columns, expected "
            f"{columns} as in the first"
        )
    return " ".join(map(word_field, fields))


def columns_text(sequences, numbers):
    """Sequences of words, or of tuples of words, as format columns; and the number of columns.

    numbers: those of the sequences, for errors.
    """
    first = sequences[0][0]
    columns = 1 if isinstance(first, str) else len(first)
    lines = []
    for i, sequence in zip(numbers, sequences):
        for j, token in enumerate(sequence):
            lines.append(_token_line(token, columns, (i, j)))
        lines.append("")
    # a byte order mark, so that none is seen in what the first word begins with
    return "\ufeff" + "\n".join(lines) + "\n", columns


# ---- attributes ----


def _attribute_name(text):
    return _LINE_ENDS.sub(" ", text).replace("\\", "\\\\").replace(":", "\\:")


def _attribute(name, value):
    """One attribute of a dict: a text names a feature, a number is its value."""
    if isinstance(value, str):
        return _attribute_name(f"{name}={value}")
    if isinstance(value, (bool, np.bool_)):
        return _attribute_name(str(name)) if value else None
    if isinstance(value, Real):
        with within_floats(f"the attribute {name!r}"):
            return f"{_attribute_name(str(name))}:{float(value)!r}"
    raise InputError(
        f"the attribute {name!r} is a {type(value).__name__}; give a text, a number or a bool"
    )


def _item(token, place):
    if not isinstance(token, dict):
        raise InputError(
            f"token {place[1]} of sequence {place[0]} is {token!r}; a dict of attributes is "
            "expected as in the first"
        )
    fields = [_attribute(name, value) for name, value in token.items()]
    return [field for field in fields if field is not None]


def attributes_text(sequences, numbers):
    """Sequences of dicts as format attributes, without labels. numbers: theirs, for errors."""
    lines = []
    for i, sequence in zip(numbers, sequences):
        for j, token in enumerate(sequence):
            # an item without attributes needs a line: a value of 0 says nothing
            lines.append("\t" + ("\t".join(_item(token, (i, j))) or "__NONE__:0"))
        lines.append("")
    return "\n".join(lines) + "\n"


# ---- CoNLL-U ----

_FIELDS = ("form", "lemma", "upos", "xpos", "feats")


def _conllu_field(value):
    if value is None:
        return "_"
    if isinstance(value, dict):  # feats as a dict
        names = sorted(value, key=lambda name: str(name).lower())
        value = "|".join(f"{name}={value[name]}" for name in names)
    field = _LINE_ENDS.sub(" ", str(value))
    return field if field else "_"


def _conllu_token(token, place):
    if isinstance(token, str):
        token = {"form": token}
    elif isinstance(token, (tuple, list)):
        names = ("form", "upos") if len(token) == 2 else _FIELDS
        if not 1 <= len(token) <= len(_FIELDS):
            raise InputError(
                f"word {place[1]} of sentence {place[0]} has {len(token)} fields; give (form, "
                "upos) or (form, lemma, upos, xpos, feats)"
            )
        token = dict(zip(names, token))
    if not isinstance(token, dict):
        raise InputError(
            f"word {place[1]} of sentence {place[0]} is {token!r}; give a text, a tuple or a dict"
        )
    unknown = sorted(set(token) - set(_FIELDS), key=str)
    if unknown:
        raise InputError(
            f"word {place[1]} of sentence {place[0]} has the field {unknown[0]!r}; fields "
            f"are {', '.join(_FIELDS)}"
        )
    return [_conllu_field(token.get(name)) for name in _FIELDS]


def _arc(arc, place):
    """HEAD and DEPREL from a number or a pair."""
    is_pair = isinstance(arc, (tuple, list)) and len(arc) == 2
    head, relation = arc if is_pair else (arc, None)
    if not isinstance(head, Integral) or isinstance(head, bool):
        raise InputError(
            f"y[{place[0]}][{place[1]}] is {arc!r}; give a pair (head, relation) or a head, which "
            "is a whole number"
        )
    return str(int(head)), _conllu_field(relation)


def conllu_text(sentences, numbers, trees=None):
    """Sentences, and their trees where they are known, as CoNLL-U. numbers: theirs, for errors."""
    lines = []
    for n, (i, sentence) in enumerate(zip(numbers, sentences)):
        for j, token in enumerate(sentence):
            form, lemma, upos, xpos, feats = _conllu_token(token, (i, j))
            head, relation = ("_", "_") if trees is None else _arc(trees[n][j], (i, j))
            lines.append(
                f"{j + 1}\t{form}\t{lemma}\t{upos}\t{xpos}\t{feats}\t{head}\t{relation}\t_\t_"
            )
        lines.append("")
    return "\n".join(lines) + "\n"


# ---- templates ----


class TemplateFile:
    """A template that was given as text, as a file in memory for as long as the context lasts.

    A name of a built-in set or of a file is passed on: what has a line end or a macro and is no
    file is a text. Models keep the file's name, so it is as short and steady as it can be.
    """

    def __init__(self, template):
        self.given, self.name, self.file = template, None, None

    def _is_text(self):
        text = self.given
        return isinstance(text, str) and ("\n" in text or "%" in text) and not os.path.exists(text)

    def __enter__(self):
        if not isinstance(self.given, (str, os.PathLike, type(None))):
            raise UsageError(f"template={self.given!r}; give a name, a path or lines of templates")
        if self.given is None or not self._is_text():
            self.name = None if self.given is None else os.fspath(self.given)
            return self.name
        self.file = os.memfd_create("template")
        os.write(self.file, self.given.encode("utf-8", errors="surrogateescape"))
        self.name = f"/proc/self/fd/{self.file}"
        return self.name

    def __exit__(self, kind, problem, trace):
        if self.file is not None:
            os.close(self.file)
            if isinstance(problem, MedleyError) and problem.file == self.name:
                problem.file = "template"
        return False
