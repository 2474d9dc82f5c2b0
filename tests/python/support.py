# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share: where things are, the command, small data."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _get_feature_names

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("MEDLEY_DATA") or ROOT.parent / "shared" / "data")
COMMAND = Path(os.environ.get("MEDLEY") or ROOT / "build" / "medley")


def needs_data(*names):
    missing = [name for name in names if not (DATA / name).exists()]
    return unittest.skipIf(missing, f"there is no {DATA / (missing or [''])[0]}; set MEDLEY_DATA")


def needs_command(test):
    return unittest.skipIf(not COMMAND.exists(), f"there is no {COMMAND}")(test)


def command(*arguments):
    """Runs the command and returns what it printed."""
    done = subprocess.run(
        [str(COMMAND), *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"medley {arguments} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def scikit_learn_takes(labels):
    """Later versions take no bytes."""
    try:
        return type_of_target(labels) is not None
    except TypeError:
        return False


class InFolder(unittest.TestCase):
    """Each test has an empty folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)


class Frame:
    """As much of a DataFrame as is looked at: pandas need not be installed."""

    def __init__(self, table, names):
        self.table, self.columns, self.shape = table, list(names), table.shape

    def __len__(self):
        return len(self.table)

    def __getitem__(self, names):
        return Frame(self.table[:, [self.columns.index(name) for name in names]], names)

    def __array__(self, dtype=None):
        return self.table.astype(dtype) if dtype else self.table


def frame(table, names):
    """A data frame whose columns scikit-learn knows by name: later versions want one of pandas."""
    if _get_feature_names(Frame(table, names)) is not None:
        return Frame(table, names)
    try:
        import pandas
    except ImportError:
        raise unittest.SkipTest("this version of scikit-learn knows frames of pandas only") from None
    return pandas.DataFrame(table, columns=list(names))


def rings(rows=120, seed=0, columns=4):
    """Two classes of float32 rows, one around the other."""
    random = np.random.RandomState(seed)
    y = np.arange(rows) % 2
    X = random.randn(rows, columns) * (1 + 2 * y[:, None])
    return X.astype(np.float32), y


def sentences(count=60, seed=0):
    """Words, their parts of speech and chunk labels, by a small grammar."""
    random = np.random.RandomState(seed)
    X, y = [], []
    for _ in range(count):
        words, labels = [], []
        for _ in range(1 + random.randint(2)):
            words.append(random.choice(["the", "a", "some"]))
            labels.append("B-NP")
            if random.rand() < 0.5:
                words.append(random.choice(["big", "red", "old"]))
                labels.append("I-NP")
            words.append(random.choice(["dog", "cat", "house", "tree"]))
            labels.append("I-NP")
            words.append(random.choice(["sees", "likes", "runs"]))
            labels.append("B-VP")
        X.append([str(word) for word in words])
        y.append(labels)
    return X, y


def trees(count=40, seed=0):
    """Sentences as (form, upos) and their trees."""
    random = np.random.RandomState(seed)
    X, y = [], []
    for _ in range(count):
        adjective = random.rand() < 0.5
        noun = 3 if adjective else 2
        words = [(str(random.choice(["the", "a"])), "DET")]
        arcs = [(noun, "det")]
        if adjective:
            words.append((str(random.choice(["big", "old"])), "ADJ"))
            arcs.append((noun, "amod"))
        words.append((str(random.choice(["dog", "cat"])), "NOUN"))
        arcs.append((noun + 1, "nsubj"))
        words.append((str(random.choice(["barks", "sleeps"])), "VERB"))
        arcs.append((0, "root"))
        X.append(words)
        y.append(arcs)
    return X, y
