# SPDX-License-Identifier: BSD-3-Clause
"""What somebody gets who sets nothing: defaults.py [--runs N] [--set NAME=VALUE] [TABLE ...]

MKLClassifier() on raw tables against SVC() after a StandardScaler, five stratified folds, the same
for both. Prints accuracies, their difference, seconds of training and prediction (all folds, inside
one process, so that starting one and reading files are left out; the fastest of N runs) and their
ratio. The tables of DEVELOPMENT are those that the defaults were chosen by; those of TEST were only
looked at afterwards. Numbers are apart: MKLRegressor() against SVR(), share of the variance that is
explained. Files are looked for in $MEDLEY_DATA (default ../shared/data) and skipped where there are
none. Run it with build-python/venv/bin/python3.
"""

import argparse
import json
import os
import time
from pathlib import Path

import numpy
from sklearn import datasets
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import medley

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("MEDLEY_DATA") or ROOT.parent / "shared" / "data")
DEVELOPMENT = ["iris", "wine", "breast", "digits", "liver", "pima", "ionosphere", "sonar"]
TEST = ["splice", "waveform", "ringnorm", "twonorm", "mfeat-fou", "mfeat-mor", "diabetes"]
OWN = {"iris": datasets.load_iris, "wine": datasets.load_wine, "digits": datasets.load_digits,
       "breast": datasets.load_breast_cancer}
FOLDERS = {"liver": "uci", "pima": "uci", "ionosphere": "uci", "sonar": "uci", "splice": "ida",
           "waveform": "ida", "ringnorm": "ida", "twonorm": "ida", "mfeat-fou": "mfeat",
           "mfeat-mor": "mfeat"}


def load(name):
    """Rows and labels; None where the file is not there."""
    if name in OWN:
        return OWN[name](return_X_y=True)
    if name == "diabetes":  # a number: is it above the median?
        X, y = datasets.load_diabetes(return_X_y=True, scaled=False)
        return X, (y > numpy.median(y)).astype(int)
    path = DATA / FOLDERS[name] / f"{name}.csv.gz"
    if not path.exists():
        return None
    table = numpy.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, :-1], table[:, -1].astype(int)


def scores(make, folds, X, y, runs):
    """Score of each fold, and the seconds of the fastest run over all of them."""
    best = float("inf")
    for _ in range(runs):
        seconds, told = 0.0, []
        for train, test in folds:
            start = time.perf_counter()
            model = make().fit(X[train], y[train])
            guess = model.predict(X[test])
            seconds += time.perf_counter() - start
            told.append(guess)
        best = min(best, seconds)
    return told, best


def accuracy(told, folds, y):
    return 100 * numpy.mean([numpy.mean(guess == y[test])
                             for guess, (_, test) in zip(told, folds)])


def explained(told, folds, y):
    return 100 * numpy.mean([1 - numpy.sum((guess - y[test]) ** 2)
                             / numpy.sum((y[test] - y[test].mean()) ** 2)
                             for guess, (_, test) in zip(told, folds)])


def show(name, figures):
    ours, theirs, seconds, their_seconds = figures
    print(f"{name:12} {ours:7.2f} {theirs:7.2f} {ours - theirs:+7.2f} {seconds:9.3f} "
          f"{their_seconds:8.3f} {seconds / their_seconds:7.2f}", flush=True)


def compare(name, arguments, options):
    data = load(name)
    if data is None:
        print(f"{name:12} skipped: no {FOLDERS[name]}/{name}.csv.gz in {DATA}")
        return None
    X, y = data
    folds = list(StratifiedKFold(5, shuffle=True, random_state=arguments.seed).split(X, y))
    ours, seconds = scores(lambda: medley.MKLClassifier(**options), folds, X, y, arguments.runs)
    theirs, their_seconds = scores(lambda: make_pipeline(StandardScaler(), SVC()), folds, X, y,
                                   arguments.runs)
    return [accuracy(ours, folds, y), accuracy(theirs, folds, y), seconds, their_seconds]


def compare_numbers(arguments, options):
    X, y = datasets.load_diabetes(return_X_y=True, scaled=False)
    folds = list(KFold(5, shuffle=True, random_state=arguments.seed).split(X))
    ours, seconds = scores(lambda: medley.MKLRegressor(**options), folds, X, y, arguments.runs)
    theirs, their_seconds = scores(lambda: make_pipeline(StandardScaler(), SVR()), folds, X, y,
                                   arguments.runs)
    show("diabetes", [explained(ours, folds, y), explained(theirs, folds, y), seconds,
                      their_seconds])


def compare_all(names, arguments, options):
    told = {}
    for name in names:
        figures = compare(name, arguments, options)
        if figures is not None:
            told[name] = figures
            show(name, figures)
    return told


def value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--runs", default=3, type=int)
    parser.add_argument("--seed", default=0, type=int, help="of the folds")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                        help="give Medley this option after all")
    arguments = parser.parse_args()
    options = {text.split("=", 1)[0]: value(text.split("=", 1)[1]) for text in arguments.set}
    print(f"{'':12} {'medley':>7} {'SVC':>7} {'differ':>7} {'medley s':>9} {'SVC s':>8} "
          f"{'ratio':>7}")
    told = {}
    for title, names in (("development", DEVELOPMENT), ("test", TEST)):
        wanted = [name for name in names if not arguments.tables or name in arguments.tables]
        part = compare_all(wanted, arguments, options)
        if part:
            show(title, numpy.mean(list(part.values()), axis=0))
        told.update(part)
    if told:
        table = numpy.array(list(told.values()))
        show("all", table.mean(axis=0))
        print(f"least difference {min(table[:, 0] - table[:, 1]):+.2f}, largest ratio of seconds "
              f"{max(table[:, 2] / table[:, 3]):.2f}")
        print(json.dumps({"benchmark": "defaults", "tables": told}))
    if not arguments.tables:
        print("numbers (percent of the variance explained):")
        compare_numbers(arguments, {})


if __name__ == "__main__":
    main()
