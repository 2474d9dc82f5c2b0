# SPDX-License-Identifier: BSD-3-Clause
"""Models that older versions have written (tests/model/old) are read by the package, too."""

import csv
import unittest
import warnings

import numpy as np

import medley
from support import ROOT

OLD = ROOT / "tests" / "model" / "old"


def columns_of(name):
    with (OLD / name).open() as file:
        rows = list(csv.reader(file))[1:]
    return np.array([row[:-1] for row in rows], dtype=float)


class OldModels(unittest.TestCase):
    def setUp(self):
        remembered = warnings.catch_warnings()
        remembered.__enter__()
        self.addCleanup(remembered.__exit__, None, None, None)
        warnings.filterwarnings("ignore", message="X does not have valid feature names")

    def test_classifiers_predict_what_they_predicted(self):
        X = columns_of("rows.csv")
        for model in sorted(OLD.glob("*-rows.medley")):
            with self.subTest(model=model.stem):
                then = [line.split("\t") for line in model.with_suffix(".txt").read_text().splitlines()]
                found = medley.MKLClassifier.load(model)
                self.assertEqual(list(found.classes_), then[0][1:])
                np.testing.assert_allclose(found.predict_proba(X), np.array(
                    [line[1:] for line in then[1:]], dtype=float), atol=1e-5)
                self.assertEqual(list(found.predict(X)), [line[0] for line in then[1:]])

    def test_regressors_predict_what_they_predicted(self):
        X = columns_of("numbers.csv")
        for model in sorted(OLD.glob("*-numbers.medley")):
            with self.subTest(model=model.stem):
                np.testing.assert_allclose(medley.MKLRegressor.load(model).predict(X),
                                           np.loadtxt(model.with_suffix(".txt")), rtol=1e-5)


if __name__ == "__main__":
    unittest.main()
