# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's own checks, and its tools on our estimators."""

import pickle
import subprocess
import sys
import unittest
import warnings

import medley
import numpy as np
from medley import DependencyParser, MKLClassifier, MKLRegressor, SequenceLabeler
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from support import DATA, InFolder, needs_data, rings, sentences, trees

SETTINGS = [
    MKLClassifier(),
    MKLClassifier(method="spom"),
    MKLClassifier(method="spicy"),
    MKLClassifier(method="obscure"),
    MKLClassifier(method="svm"),
    MKLClassifier("rbf(auto)", loss="logistic"),
    MKLClassifier(["linear(explicit)", "bias"], penalty="l2"),
    MKLClassifier(views="all+each", scale="standard", normalize="diag"),
    MKLClassifier(calibrate=True),
    MKLClassifier("precomputed"),
    MKLRegressor(),
    MKLRegressor(loss="epsilon(0.1)", scale="standard"),
    MKLRegressor("precomputed"),
]

# What may be left out, by setting: everything else must pass.
EXCEPTIONS = {
    "calibrate=True": {"check_classifiers_train"},
    "kernels='precomputed'": {"check_decision_proba_consistency", "check_estimators_dtypes",
                              "check_positive_only_tag_during_fit"},
}


def parser(**parameters):
    return DependencyParser("arc-form-upos", hash_bits=10, **parameters)


def allowed(estimator):
    return set().union(*[names for text, names in EXCEPTIONS.items() if text in repr(estimator)])


def checks_of(estimator):
    """Exceptions that the estimator asks for, and pairs of estimator and check."""
    if hasattr(estimator_checks, "estimator_checks_generator"):  # scikit-learn 1.6 and later
        excepted = estimator._exceptions()
        return excepted, estimator_checks.estimator_checks_generator(
            estimator, expected_failed_checks=excepted, mark="skip")
    excepted = estimator._get_tags()["_xfail_checks"]
    return excepted, estimator_checks.check_estimator(estimator, generate_only=True)


class Checks(unittest.TestCase):
    def test_estimator_checks_of_scikit_learn_pass(self):
        for estimator in SETTINGS:
            with self.subTest(estimator=repr(estimator)):
                excepted, checks = checks_of(estimator)
                self.assertLessEqual(set(excepted), allowed(estimator))
                passed = 0
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    for copy, check in checks:
                        try:
                            check(copy)
                            passed += 1
                        except unittest.SkipTest:
                            pass
                self.assertGreater(passed, 35)

    def test_checks_that_make_sense_for_lists_pass(self):
        # The others hand over arrays of numbers as X, which these estimators have no use for.
        for estimator in (SequenceLabeler(), DependencyParser(epochs=2)):
            name = type(estimator).__name__
            with self.subTest(estimator=name):
                estimator_checks.check_no_attributes_set_in_init(name, clone(estimator))
                estimator_checks.check_parameters_default_constructible(name, clone(estimator))
                estimator_checks.check_get_params_invariance(name, clone(estimator))
                estimator_checks.check_set_params(name, clone(estimator))

    def test_lists_behave_as_the_other_checks_ask(self):
        for estimator, (X, y) in ((SequenceLabeler(), sentences(20)),
                                  (parser(epochs=2), trees(15))):
            with self.subTest(estimator=type(estimator).__name__):
                with self.assertRaises(NotFittedError):
                    estimator.predict(X)
                before = repr((X, y, estimator.get_params()))
                self.assertIs(estimator.fit(X, y), estimator)
                first = estimator.predict(X)
                state = set(vars(estimator))
                estimator.predict(X)
                self.assertEqual(set(vars(estimator)), state)
                self.assertEqual(repr((X, y, estimator.get_params())), before)
                self.assertEqual(estimator.fit(X, y).predict(X), first)
                self.assertEqual(pickle.loads(pickle.dumps(estimator)).predict(X), first)
                self.assertEqual(estimator.predict(X[3:5]), first[3:5])
                fresh = clone(estimator)
                self.assertFalse(hasattr(fresh, "model_"))
                self.assertEqual(fresh.fit(X, y).predict(X), first)
                with self.assertRaises(ValueError):
                    estimator.fit(X, y[:-1])


class Tools(InFolder):
    def test_pipelines_scale_and_classify(self):
        X, y = rings(200)
        line = make_pipeline(StandardScaler(), MKLClassifier("rbf(auto)"))
        self.assertGreater(cross_val_score(line, X, y, cv=3).mean(), 0.8)

    def test_grid_search_over_penalties_on_generated_data(self):
        X, y = medley.generate("waveform", rows=300, seed=1)
        grid = {"penalty": ["mkl", "l2", "block(q=1.5)"], "C": [0.1, 10]}
        model = MKLClassifier(scale="standard", epochs=10)
        search = GridSearchCV(model, grid, cv=3, n_jobs=2).fit(X, y)  # in processes of their own
        self.assertGreater(search.best_score_, 0.78)
        self.assertEqual(search.predict(X).dtype, y.dtype)

    @needs_data("mfeat")
    def test_grid_search_over_penalties_on_real_views(self):
        views = medley.Views()
        for name in ("fou", "kar", "zer"):
            table, y = medley.read(DATA / "mfeat" / f"mfeat-{name}.csv.gz")
            views[name] = table[::4]
        y = y[::4]
        grid = {"penalty": ["mkl", "l2", "block(q=1.5)"]}
        model = MKLClassifier("rbf(auto)", epochs=10)
        search = GridSearchCV(model, grid, cv=3).fit(views, y)
        self.assertGreater(search.best_score_, 0.94)
        self.assertEqual(search.best_estimator_.blocks_[0].split("@")[1], "fou")

    def test_grid_search_cuts_precomputed_kernels(self):
        X, y = rings(120)
        distance = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        one = np.exp(-distance / 8)
        grid = {"C": [0.1, 10]}
        scores = GridSearchCV(MKLClassifier("precomputed"), grid, cv=3).fit(one, y)
        self.assertGreater(scores.best_score_, 0.8)
        stack = np.stack([one, np.exp(-distance / 40), X @ X.T], axis=-1)
        scores = GridSearchCV(MKLClassifier("precomputed"), grid, cv=3).fit(stack, y)
        self.assertGreater(scores.best_score_, 0.8)
        self.assertEqual(len(scores.best_estimator_.weights_), 3)

    def test_grid_search_and_cross_validation_take_lists(self):
        X, y = sentences(40)
        scores = cross_val_score(SequenceLabeler(epochs=5), X, y, cv=3)
        self.assertGreater(scores.min(), 0.95)
        search = GridSearchCV(SequenceLabeler(epochs=5), {"penalty": ["l2", "mkl"]}, cv=2).fit(X, y)
        self.assertEqual(search.predict(X), y)
        X, y = trees(30)
        scores = cross_val_score(parser(epochs=3), X, y, cv=3)
        self.assertGreater(scores.min(), 0.95)

    def test_other_tools_find_what_they_need(self):
        X, y = rings(120)
        calibrated = CalibratedClassifierCV(MKLClassifier("rbf(auto)"), cv=3).fit(X, y)
        self.assertEqual(calibrated.predict_proba(X).shape, (120, 2))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertIn("MKLClassifier", MKLClassifier()._repr_html_())

    def test_models_are_unpickled_in_a_fresh_process(self):
        X, y = rings(80)
        model = MKLClassifier(["linear(norm=diag)", "rbf(auto)"]).fit(X, np.array(["in", "out"])[y])
        np.savez(self.folder / "x.npz", X=X, scores=model.decision_function(X))
        (self.folder / "model").write_bytes(pickle.dumps(model))
        program = ("import pickle, sys, numpy as np\n"
                   "data = np.load('x.npz')\n"
                   "model = pickle.load(open('model', 'rb'))\n"
                   "assert (model.decision_function(data['X']) == data['scores']).all()\n"
                   "print(model.predict(data['X'])[0], model.blocks_[0])\n")
        told = subprocess.run([sys.executable, "-c", program], cwd=self.folder, text=True,
                              capture_output=True, check=False)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertEqual(told.stdout.split(), ["in", model.blocks_[0]])

    def test_clones_have_the_parameters_and_nothing_else(self):
        X, y = rings(60)
        model = MKLClassifier([lambda A, B: A @ B.T, "rbf"], C=3, options={"max-iter": 50})
        copy = clone(model.fit(X, y))
        self.assertEqual(copy.get_params()["C"], 3)
        self.assertFalse(hasattr(copy, "model_"))
        self.assertEqual(copy.fit(X, y).objective_, model.objective_)


if __name__ == "__main__":
    unittest.main()
