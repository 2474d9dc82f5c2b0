#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Penalties on the six views of 2,000 handwritten digits (UCI Multiple Features), by scikit-learn's
grid search over the Python package: run.py [--folds K]

Needs `make python`, whose interpreter it takes. MEDLEY_DATA: the folder with mfeat/. 'run.py --help' has
the options, ../README.md the rest."""

import argparse
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import common  # noqa: E402

try:
    import medley
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
except ImportError as missing:
    PYTHON = common.ROOT / "build-python" / "venv" / "bin" / "python3"
    if Path(sys.prefix) == PYTHON.parent.parent or not PYTHON.exists():
        common.skip(f"no Python package ({missing}); make it with 'make python'")
    os.execv(PYTHON, [str(PYTHON), *sys.argv])

VIEWS = ("fac", "fou", "kar", "mor", "pix", "zer")
PENALTIES = ["mkl", "group-lasso", "block(q=1.5)", "squared-block(q=1.5)", "elastic(t=0.5)", "l2"]
STRENGTHS = [1, 10, 100]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="two folds, one strength")
    parser.add_argument("--publish", action="store_true",
                        help="write table.md into this folder, not results/")
    options = parser.parse_args()
    options.folds, options.strengths = (2, STRENGTHS[:1]) if options.quick else (options.folds, STRENGTHS)
    return options


def search(options):
    views = medley.Views()
    for name, path in zip(VIEWS, common.find_data(*(f"mfeat/mfeat-{name}.csv.gz" for name in VIEWS))):
        views[name], y = medley.read(path)
    parts = StratifiedKFold(options.folds, shuffle=True, random_state=1)
    grid = {"penalty": PENALTIES, "C": options.strengths}
    return GridSearchCV(medley.MKLClassifier("rbf(auto)"), grid, cv=parts).fit(views, y)


def row(results, penalty):
    mine = [i for i, p in enumerate(results["params"]) if p["penalty"] == penalty]
    mine.sort(key=lambda i: results["params"][i]["C"])
    scores = [f"{100 * results['mean_test_score'][i]:.2f} ± {100 * results['std_test_score'][i]:.2f}"
              for i in mine]
    return [penalty, *scores, f"{sum(results['mean_fit_time'][i] for i in mine) / len(mine):.2f}"]


def report(options, found, seconds):
    results, best = found.cv_results_, found.best_params_
    table = common.markdown_table(["penalty", *(f"C = {c}" for c in options.strengths), "seconds a fit"],
                                  [row(results, penalty) for penalty in PENALTIES])
    weights = ", ".join(f"{name.split('@')[1]} {weight:.2f}" for name, weight in
                        zip(found.best_estimator_.blocks_, found.best_estimator_.weights_))
    return f"""# Penalties on six views of handwritten digits

Made by `experiments/penalties/run.py` (scikit-learn's `GridSearchCV` over the Python package; {common.machine()}): UCI Multiple
Features, 2,000 digits, a Gaussian kernel for each of the six views, all other options at their defaults. Accuracy in percent, mean and
deviation over {options.folds} stratified folds; the best of the settings is chosen on the same folds, so its figure is a little bright.

{table}
Best: {best['penalty']}, C = {best['C']}, {100 * found.best_score_:.2f} %; its weights: {weights}. {len(results['params'])} settings, {options.folds} folds, {seconds:.0f} s.
"""


def main():
    options = arguments()
    began = time.time()
    found = search(options)
    folder = HERE if options.publish else HERE / "results"
    common.write(folder / "table.md", report(options, found, time.time() - began))


if __name__ == "__main__":
    main()
