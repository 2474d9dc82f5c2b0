# SPDX-License-Identifier: BSD-3-Clause
"""The two examples of README.md over several seeds, beside scikit-learn: first_examples.py [--seeds N] [--friedman N]

Blobs, by the commands of README.md: twelve tables, two of which tell the class together; 400 rows to learn from,
2,000 to test on. Friedman's function, by its lines of Python: 200 rows to learn from, 1,000 to test on, a kernel for
each column and each pair of columns. Prints accuracies and R2 of every seed, their means, and on how many seeds Medley
is the best. Columns are standardised for the SVMs. SVC has its defaults, as Medley has; "tuned" is a grid search by
five folds of the rows to learn from: C and gamma of SVR, trees, depth and rate of boosting. Run it with
build-python/venv/bin/python3; it takes a minute or two.
"""

import argparse
import itertools
import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import medley

ROOT = Path(__file__).resolve().parents[1]
VIEWS = 12
SVR_GRID = {"svr__C": [0.1, 1, 10, 100, 1000], "svr__gamma": [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1]}
BOOSTING_GRID = {"n_estimators": [100, 300, 1000], "max_depth": [2, 3, 4], "learning_rate": [0.03, 0.1]}


def blobs(seed, command):
    """Share of right answers of Medley, of all kernels averaged, of the best one, and of an SVM."""
    with tempfile.TemporaryDirectory() as folder:
        def medley_command(*words):
            done = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, check=True)
            return done.stdout

        medley_command("generate", "blobs", "--views", str(VIEWS), "--classes", "4", "--rows", "2400",
                       "--seed", str(seed), "--output", "my.csv")
        files = [f"my-view{v}.csv" for v in range(1, VIEWS + 1)]
        tables = [word for v, file in enumerate(files, 1) for word in ("--view", f"v{v}={file}")]
        found = {}
        for name, options in {"Medley": [], "average": ["--method", "average"], "best": ["--method", "best"]}.items():
            medley_command("train", "--quiet", "--model", "m.medley", "--folds", "0/6", *options, *tables)
            told = json.loads(medley_command("eval", "--json", "m.medley", "--folds", "1-5/6", *tables))
            found[name] = 100 * told["accuracy"]
        parts = [[medley.read(Path(folder) / file, folds=part) for file in files] for part in ("0/6", "1-5/6")]
        (train, y), (test, truth) = ((numpy.hstack([X for X, _ in part]), part[0][1]) for part in parts)
    found["SVC"] = 100 * make_pipeline(StandardScaler(), SVC()).fit(train, y).score(test, truth)
    return found


def friedman(seed):
    """R2 of Medley, of an SVM and of boosted trees."""
    X, y = make_friedman1(1200, n_features=20, noise=1.0, random_state=seed)
    views = {f"x{i}": [i] for i in range(20)}
    views.update({f"x{a}*x{b}": [a, b] for a, b in itertools.combinations(range(20), 2)})
    machines = {
        "Medley": medley.MKLRegressor("rbf(auto)", views=views),
        "SVR, tuned": GridSearchCV(make_pipeline(StandardScaler(), SVR()), SVR_GRID),
        "boosting, tuned": GridSearchCV(GradientBoostingRegressor(random_state=0), BOOSTING_GRID, n_jobs=-1),
    }
    found = {name: machine.fit(X[:200], y[:200]).score(X[200:], y[200:]) for name, machine in machines.items()}
    return found, int(numpy.count_nonzero(machines["Medley"].weights_))


def table(title, rows, digits):
    """rows: of each seed, figures by name."""
    names = list(next(iter(rows.values())))

    def line(first, figures):
        print(f"{first:>6}" + "".join(f"{figure:>17}" for figure in figures))

    print(title)
    line("seed", names)
    for seed, row in rows.items():
        line(seed, [f"{row[name]:.{digits}f}" for name in names])
    line("mean", [f"{numpy.mean([row[name] for row in rows.values()]):.{digits}f}" for name in names])
    ahead = sum(row["Medley"] > max(value for name, value in row.items() if name != "Medley") for row in rows.values())
    print(f"Medley is the best on {ahead} of {len(rows)}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", default=10, type=int, help="of blobs, from 1")
    parser.add_argument("--friedman", default=5, type=int, help="seeds of Friedman's function, from 0")
    arguments = parser.parse_args()
    command = os.path.abspath(os.environ.get("MEDLEY") or ROOT / "build" / "medley")
    if arguments.seeds > 0:
        table("Blobs, accuracy in %", {seed: blobs(seed, command) for seed in range(1, arguments.seeds + 1)}, 1)
    if arguments.friedman > 0:
        found = {seed: friedman(seed) for seed in range(arguments.friedman)}
        table("Friedman's function, R2", {seed: figures for seed, (figures, _) in found.items()}, 3)
        print("kernels in use:", ", ".join(str(count) for _, count in found.values()))


if __name__ == "__main__":
    main()
