#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Penalties on the six views of 2,000 handwritten digits (UCI Multiple Features), by scikit-learn's
grid search over the Python package: run.py [--folds K]

Needs `make python`; run it with build-python/venv/bin/python3. MEDLEY_DATA: the folder with mfeat/.
Prints a table in Markdown, which is table.md."""

import argparse
import os
import sys
import time
from pathlib import Path

import medley
from sklearn.model_selection import GridSearchCV, StratifiedKFold

VIEWS = ("fac", "fou", "kar", "mor", "pix", "zer")
PENALTIES = ["mkl", "group-lasso", "block(q=1.5)", "squared-block(q=1.5)", "elastic(t=0.5)", "l2"]
STRENGTHS = [1, 10, 100]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--folds", type=int, default=5)
    folds = parser.parse_args().folds
    root = Path(__file__).resolve().parents[2]
    data = Path(os.environ.get("MEDLEY_DATA", root / ".." / "shared" / "data")) / "mfeat"
    if not data.is_dir():
        sys.exit(f"there is no {data}; set MEDLEY_DATA to the folder with mfeat/")
    views = medley.Views()
    for name in VIEWS:
        views[name], y = medley.read(data / f"mfeat-{name}.csv.gz")
    model = medley.MKLClassifier("rbf(auto)")
    grid = {"penalty": PENALTIES, "C": STRENGTHS}
    parts = StratifiedKFold(folds, shuffle=True, random_state=1)
    began = time.time()
    search = GridSearchCV(model, grid, cv=parts).fit(views, y)
    seconds = time.time() - began
    print("| penalty | " + " | ".join(f"C = {c}" for c in STRENGTHS) + " | seconds a fit |")
    print("|---|" + "---|" * (len(STRENGTHS) + 1))
    results = search.cv_results_
    for penalty in PENALTIES:
        mine = [i for i, p in enumerate(results["params"]) if p["penalty"] == penalty]
        mine.sort(key=lambda i: results["params"][i]["C"])
        scores = [f"{100 * results['mean_test_score'][i]:.2f} ± "
                  f"{100 * results['std_test_score'][i]:.2f}" for i in mine]
        spent = sum(results["mean_fit_time"][i] for i in mine) / len(mine)
        print(f"| {penalty} | " + " | ".join(scores) + f" | {spent:.2f} |")
    weights = ", ".join(f"{name.split('@')[1]} {weight:.2f}" for name, weight in
                        zip(search.best_estimator_.blocks_, search.best_estimator_.weights_))
    print(f"\nBest: {search.best_params_['penalty']}, C = {search.best_params_['C']}, "
          f"{100 * search.best_score_:.2f} %; its weights: {weights}. "
          f"{len(results['params'])} settings, {folds} folds, {seconds:.0f} s.")


if __name__ == "__main__":
    main()
