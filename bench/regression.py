#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""R2 of a regression without options, beside scikit-learn's: regression.py [C ...]

Seventeen problems of 75 to 2,500 rows, five folds each: Medley with its defaults, and with the default C times each
factor given; ridge regression (strength by generalised cross-validation) and SVR, both on standardised columns, SVR on
standardised numbers, too. In means an R2 below 0 counts as 0. Run it with build-python/venv/bin/python3; ten seconds.
"""

import sys
import warnings

import numpy
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3, make_regression
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import medley


def houses(random, rows):
    """Columns of different units, and prices that are linear in them."""
    size, age, far = random.uniform(40, 250, rows), random.uniform(0, 100, rows), random.exponential(8, rows)
    rooms = numpy.round(size / 30 + random.normal(0, 1, rows))
    price = 3 * size + 10 * rooms - age - 4 * far + random.normal(0, 31, rows)
    return numpy.column_stack([size, rooms, age, far]), price


def problems():
    random = numpy.random.default_rng(0)

    def noise(rows):
        return random.normal(size=rows)

    found = {"houses": houses(random, 300), "diabetes": load_diabetes(return_X_y=True),
             "linear, 20 columns": make_regression(300, 20, n_informative=10, noise=20, random_state=2),
             "linear, 100 columns": make_regression(300, 100, n_informative=10, noise=10, random_state=0)}
    for rows in (75, 300, 2500):
        found[f"friedman1, {rows} rows"] = make_friedman1(rows, 10, noise=1, random_state=1)
    found["friedman2"] = make_friedman2(400, noise=50, random_state=1)
    found["friedman2, little noise"] = make_friedman2(500, noise=10, random_state=0)
    found["friedman3"] = make_friedman3(400, noise=0.1, random_state=1)
    for name, end, rows, speed in (("sine", 3, 300, 2), ("sine, more rows", 5, 1000, 1)):
        X = random.uniform(-end, end, (rows, 1))
        found[name] = X, numpy.sin(speed * X[:, 0]) + 0.1 * noise(rows)
    X = random.normal(size=(200, 30))
    found["mostly noise"] = X, X[:, 0] - X[:, 1] + 3 * noise(200)
    found["some noise"] = X[:, :6], X[:, 0] - X[:, 1] + noise(200)
    X = random.normal(size=(1500, 8))
    found["smooth"] = X, numpy.sin(X[:, 0]) * X[:, 1] + X[:, 2] ** 2 + 0.3 * noise(1500)
    X = random.lognormal(0, 2, size=(300, 6))
    found["long tails"] = X, numpy.log(X[:, 0] * X[:, 1] + 1) + 0.3 * noise(300)
    X = random.normal(size=(300, 3))
    found["linear, no noise"] = X, X @ [1, 2, 3]
    return found


def models(X, y, factors):
    """Name and fitted model."""
    own = medley.MKLRegressor().fit(X, y)
    yield "Medley", own
    for factor in factors:
        yield f"C x {factor:g}", medley.MKLRegressor(C=factor * own.summary()["C"]).fit(X, y)
    yield "ridge", make_pipeline(StandardScaler(), RidgeCV(numpy.logspace(-3, 4, 15))).fit(X, y)
    svr = make_pipeline(StandardScaler(), SVR())
    yield "SVR", TransformedTargetRegressor(svr, transformer=StandardScaler()).fit(X, y)


def main():
    warnings.simplefilter("ignore")
    factors = [float(word) for word in sys.argv[1:]]
    means = {}
    for name, (X, y) in problems().items():
        scores = {}
        for learn, judge in KFold(5, shuffle=True, random_state=0).split(X):
            for model_name, model in models(X[learn], y[learn], factors):
                scores.setdefault(model_name, []).append(model.score(X[judge], y[judge]))
        if not means:
            print(f"{'':25}" + "".join(f"{model_name:>10}" for model_name in scores))
        print(f"{name:25}" + "".join(f"{numpy.mean(values):10.3f}" for values in scores.values()))
        for model_name, values in scores.items():
            means.setdefault(model_name, []).append(max(numpy.mean(values), 0))
    print(f"{'mean':25}" + "".join(f"{numpy.mean(values):10.3f}" for values in means.values()))


if __name__ == "__main__":
    main()
