# SPDX-License-Identifier: BSD-3-Clause
"""The two examples of README.md over several seeds, beside scikit-learn: first_examples.py [--seeds N] [--friedman N]

Blobs, by the commands of README.md: twelve tables, two of which tell the class together; 400 rows to learn from,
2,000 to test on. Friedman's function, by its lines of Python: 200 rows to learn from, 1,000 to test on, a kernel for
each column and each pair of columns. Prints accuracies and R2 of every seed, their means, and on how many seeds Medley
is the best. Everything is tuned by five folds of the rows to learn from: C of Medley; kernel, C and gamma of the SVMs
and C of logistic regression, on standardised columns; trees, depth and rate of boosting. The Gaussian process has a
length scale for each column. Run it with build-python/venv/bin/python3; it takes some minutes.
"""

import argparse
import itertools
import json
import os
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy
from sklearn.datasets import make_friedman1
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

import medley

ROOT = Path(__file__).resolve().parents[1]
VIEWS = 12
C_LIST = "0.02,0.05,0.1,0.2,0.5,1"
SVC_GRID = [{"svc__kernel": ["linear"], "svc__C": [0.001, 0.01, 0.1, 1, 10]},
            {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.0003, 0.001, 0.003, 0.01, 0.03]}]
LASSO_GRID = {"logisticregression__C": [0.01, 0.03, 0.1, 0.3, 1]}
SVR_GRID = {"svr__C": [0.1, 1, 10, 100, 1000], "svr__gamma": [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1]}
BOOSTING_GRID = {"n_estimators": [100, 300, 1000], "max_depth": [2, 3, 4], "learning_rate": [0.03, 0.1]}


def blobs(seed, command):
    """Share of right answers, and how many kernels Medley uses."""
    with tempfile.TemporaryDirectory() as folder:
        def medley_command(*words):
            done = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, check=True)
            return done.stdout

        def accuracy():
            told = json.loads(medley_command("eval", "--json", "m.medley", "--folds", "1-5/6", *tables))
            return 100 * told["accuracy"]

        medley_command("generate", "blobs", "--views", str(VIEWS), "--classes", "4", "--rows", "2400",
                       "--seed", str(seed), "--output", "my.csv")
        files = [f"my-view{v}.csv" for v in range(1, VIEWS + 1)]
        tables = [word for v, file in enumerate(files, 1) for word in ("--view", f"v{v}={file}")]
        found = {}
        tuned = json.loads(medley_command("tune", "--json", "--model", "m.medley", "--method", "spicy", "--C", C_LIST,
                                          "--choose", "one-error", "--folds", "0/6", *tables))
        found["Medley"] = accuracy()
        for name, options in {"untuned": [], "average": ["--method", "average"], "best": ["--method", "best"]}.items():
            medley_command("train", "--quiet", "--model", "m.medley", "--folds", "0/6", *options, *tables)
            found[name] = accuracy()
        parts = [[medley.read(Path(folder) / file, folds=part) for file in files] for part in ("0/6", "1-5/6")]
        (train, y), (test, truth) = ((numpy.hstack([X for X, _ in part]), part[0][1]) for part in parts)
    lasso = LogisticRegression(penalty="l1", solver="saga", max_iter=2000, tol=1e-3)
    peers = {"SVC": make_pipeline(StandardScaler(), SVC()),
             "SVC, tuned": GridSearchCV(make_pipeline(StandardScaler(), SVC()), SVC_GRID, n_jobs=-1),
             "lasso, tuned": GridSearchCV(make_pipeline(StandardScaler(), lasso), LASSO_GRID, n_jobs=-1)}
    found |= {name: 100 * peer.fit(train, y).score(test, truth) for name, peer in peers.items()}
    return found, tuned["model"]["active_blocks"]


def choose_and_refit(X, y):
    """Which of the columns and pairs matter, by a strong penalty; a model of all; and one of these alone."""
    views = {f"x{i}": [i] for i in range(20)}
    views |= {f"x{a},x{b}": [a, b] for a, b in itertools.combinations(range(20), 2)}
    first = medley.MKLRegressor("rbf(auto)", views=views, C=0.02).fit(X, y)
    chosen = [block.split("@")[1] for block, weight in zip(first.blocks_, first.weights_) if weight]
    model = medley.MKLRegressor("rbf(auto)", views={view: views[view] for view in chosen})
    usual = medley.MKLRegressor("rbf(auto)", views=views).fit(X, y)
    return first, usual, GridSearchCV(model, {"C": [0.1, 1, 10]}).fit(X, y)


def friedman(seed):
    """R2, and how many kernels Medley uses."""
    X, y = make_friedman1(1200, n_features=20, noise=1.0, random_state=seed)
    first, usual, second = choose_and_refit(X[:200], y[:200])
    kernel = ConstantKernel(10) * RBF(numpy.ones(20)) + WhiteKernel(1)
    peers = {
        "SVR, tuned": GridSearchCV(make_pipeline(StandardScaler(), SVR()), SVR_GRID),
        "boosting, tuned": GridSearchCV(GradientBoostingRegressor(random_state=0), BOOSTING_GRID, n_jobs=-1),
        "Gaussian process": GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=1, random_state=0),
    }
    found = {"Medley": second.score(X[200:], y[200:]), "without choosing": usual.score(X[200:], y[200:])}
    found |= {name: peer.fit(X[:200], y[:200]).score(X[200:], y[200:]) for name, peer in peers.items()}
    return found, int(numpy.count_nonzero(first.weights_))


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
    print(f"Medley is the best on {ahead} of {len(rows)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", default=10, type=int, help="of blobs, from 1")
    parser.add_argument("--friedman", default=5, type=int, help="seeds of Friedman's function, from 0")
    arguments = parser.parse_args()
    command = os.path.abspath(os.environ.get("MEDLEY") or ROOT / "build" / "medley")
    warnings.simplefilter("ignore", ConvergenceWarning)
    examples = {
        "Blobs, accuracy in %": (range(1, arguments.seeds + 1), lambda seed: blobs(seed, command), 1),
        "Friedman's function, R2": (range(arguments.friedman), friedman, 3),
    }
    for title, (seeds, run, digits) in examples.items():
        found = {seed: run(seed) for seed in seeds}
        if found:
            table(title, {seed: figures for seed, (figures, _) in found.items()}, digits)
            print("kernels in use:", ", ".join(str(count) for _, count in found.values()), end="\n\n")


if __name__ == "__main__":
    main()
