# SPDX-License-Identifier: BSD-3-Clause
"""The library's sentences speak of options of the command; here they speak of parameters.

``--C=-1`` becomes ``C=-1``, ``--scale standard`` becomes ``scale='standard'``; an option that is
no parameter of an estimator becomes ``options={'ridge': 0.1}``, which all of them take.
"""

import re

# Options that are parameters of the same name, hyphens being underscores.
PARAMETERS = frozenset(
    "C bigram calibrate epochs gap hash_bits loss memory method min_count normalize order p "
    "penalty projective roots scale tags template unlabelled views".split()
)

# Options that are parameters of another name, or something else than an option.
NAMES = {
    "kernel": "kernels",
    "lambda": "lambda_",
    "seed": "random_state",
    "threads": "n_jobs",
    "dev": "held_out",
    "format": "format",  # of medley.read
    "gram": "grams",
    "label": "label",  # of medley.read
    "labels": "y",
    "proba": "predict_proba",
}

TASKS = {
    "binary": "MKLClassifier",
    "multiclass": "MKLClassifier",
    "regression": "MKLRegressor",
    "chain": "SequenceLabeler",
    "tree": "DependencyParser",
}

# What may stand behind an option and a blank as its value; elsewhere the sentence goes on there.
_NUMBER = r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])"
_WORDS = {
    "bigram": "fixed|learned|none",
    "format": "conllu",
    "label": "none",
    "loss": r"[a-z][\w-]*(?:\([^)]*\))?",
    "method": r"(?!has\b)[a-z][\w-]*",
    "normalize": "diag|trace|center|none",
    "penalty": r"'[^']*'|(?!or\b|and\b|is\b|has\b)[a-z][\w-]*(?:\([^)]*\))?",
    "roots": "one|many",
    "scale": "standard|minmax",
    "template": "chunk",
}

# What the command asks for and Python has no such thing: said in other words.
_IN_OTHER_WORDS = [
    (r"use --label COLUMN or --labels FILE", "give y"),
    (r"give labelled data or --labels\b.*", "give y"),
    (r"give --view (\S+)=FILE", r"give X as a dict with the view '\1'"),
    (r"with --view NAME=FILE:COLUMNS", "with views={name: columns}"),
    (r"give --gram-diagonal FILE", "give grams=[(matrix, diagonal)]"),
    (r"give --gram with a matrix", "give grams=[...] with a matrix"),
    (r"the data file its view '(\S+)' was made from; give DATA as well",
     r"the table that its view '\1' was made from; give X as one array of numbers"),
    (r" \(--label says which column is the label\)", ""),
    (r"the columns of the training file", "the columns that training had"),
    (r"give a file with one word a line \(formats columns and conllu\)",
     "give lists of words"),
    (r"use a format that knows its image size \(idx, letter\)", "give image_shape=(height, width)"),
    (r"give --template FILE \(CRF\+\+ or Wapiti\), or --template chunk",
     "give template=FILE (CRF++ or Wapiti), or template='chunk'"),
    (r"give a CoNLL-U file and --task tree", "use DependencyParser"),
]


def _quoted(value):
    number = re.fullmatch(_NUMBER, value) is not None
    return value if number or value.startswith("'") else f"'{value}'"


def _one(match):
    option, value = match["option"], match["given"] or match["word"]
    if option == "task":
        return TASKS.get(value, "task" if value is None else f"task {value}")
    parameter = NAMES.get(option, option.replace("-", "_"))
    if parameter in PARAMETERS or option in NAMES:
        return parameter if value is None else f"{parameter}={_quoted(value)}"
    return f"options={{'{option}': {'...' if value is None else _quoted(value)}}}"


def _pattern():
    known = {**_WORDS, "task": "|".join(TASKS)}
    words = "|".join(rf"(?<=--{option} )(?:{word})(?!\w)" for option, word in known.items())
    return re.compile(
        r"(?<![\w-])--(?P<option>[A-Za-z](?:[\w-]*\w)?)"
        rf"(?:=(?P<given>'[^']*'|[^\s,;:]+)| (?P<word>{words}|{_NUMBER}))?"
    )


_OPTION = _pattern()


def in_python(message):
    """A sentence of the library with Python's names."""
    for pattern, words in _IN_OTHER_WORDS:
        message = re.sub(pattern, words, message)
    return _OPTION.sub(_one, message)
