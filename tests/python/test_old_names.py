# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's names, the ones they had before, and weights of examples."""

import inspect
import subprocess
import sys
import unittest
import warnings

import medley
import numpy as np
from medley import DependencyParser, MKLClassifier, MKLRegressor, SequenceLabeler
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter
from support import rings, sentences, trees


def parser():
    return DependencyParser("arc-form-upos", hash_bits=10, epochs=2)


class Searches(unittest.TestCase):
    def test_tuning_has_the_names_of_a_search(self):
        X, y = rings(90)
        found = medley.tune(X, y, {"C": [0.01, 1], "kernels": ["linear", "rbf(auto)"]}, cv=3)
        results = found.cv_results_
        self.assertEqual(results["params"][found.best_index_], found.best_params_)
        self.assertEqual(results["mean_test_score"][found.best_index_], found.best_score_)
        self.assertEqual(results["rank_test_score"][found.best_index_], 1)
        self.assertEqual(sorted(set(results["param_C"])), [0.01, 1])
        folds = [results[f"split{fold}_test_score"] for fold in range(found.n_splits_)]
        np.testing.assert_allclose(np.mean(folds, axis=0), results["mean_test_score"])
        self.assertTrue(all(len(column) == 4 for column in results.values()))

    def test_scores_are_better_when_they_are_larger(self):
        X, _ = rings(80)
        y = X[:, 0] * 2.5
        for scoring in ("neg_root_mean_squared_error", "rmse"):
            found = medley.tune(X, y, {"C": [0.001, 100]}, cv=2, scoring=scoring)
            self.assertEqual(found.measure, "rmse")
            self.assertEqual(found.best_score_, -found.best.mean)
            self.assertEqual(found.best_score_, found.cv_results_["mean_test_score"].max())
        X, y = rings(60)
        found = medley.tune(X, y, cv=2, scoring="neg_log_loss")  # without a grid: of strengths
        self.assertEqual(found.measure, "log-loss")
        self.assertLess(found.best_score_, 0)

    def test_old_names_work_and_warn(self):
        X, y = rings(60)
        sentence = r"tune\(grid=...\) is now called param_grid=..."
        with self.assertWarnsRegex(FutureWarning, sentence) as w:
            found = medley.tune(X, y, grid={"C": [1, 10]}, cv=2)
        self.assertEqual(w.filename, __file__)
        with self.assertWarnsRegex(FutureWarning, "scoring"):
            medley.tune(X, y, {"C": [1]}, cv=2, measure="log-loss", refit=False)
        for old in ("best_params", "best_estimator"):
            with self.assertWarnsRegex(FutureWarning, f"Tuning.{old} is now called") as w:
                self.assertIs(getattr(found, old), getattr(found, old + "_"))
            self.assertEqual(w.filename, __file__)
        with self.assertWarnsRegex(FutureWarning, "medley.regularization_path") as w:
            trace = medley.path(X, y, count=3)
        self.assertEqual(w.filename, __file__)
        self.assertEqual(len(trace), 3)
        with self.assertWarnsRegex(FutureWarning, "eval_set"):
            trace = medley.regularization_path(X, y, count=2, held_out=(X, y))
        self.assertFalse(np.isnan(trace.score).any())

    def test_old_names_of_fit_work_and_warn(self):
        X, y = rings(60)
        old, new = MKLClassifier(method="spom", epochs=3), MKLClassifier(method="spom", epochs=3)
        with self.assertWarnsRegex(FutureWarning, r"fit\(held_out=...\)") as w:
            old.fit(X, y, held_out=(X, y))
        self.assertEqual(w.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            new.fit(X, y, eval_set=[(X, y)])  # a list of one pair, as of XGBoost
        self.assertEqual(old.model_.to_bytes(), new.model_.to_bytes())
        self.assertGreater(new.summary()["epochs"][-1]["dev_accuracy"], 0.3)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'eval_sets'"):
            new.fit(X, y, eval_sets=(X, y))
        with self.assertRaisesRegex(medley.UsageError, "eval_set is about online learning"):
            MKLRegressor().fit(X, X[:, 0], eval_set=(X, X[:, 0]))


class SampleWeights(unittest.TestCase):
    def test_they_are_refused_with_a_sentence(self):
        X, y = rings(40)
        words, labels = sentences(10)
        texts, arcs = trees(10)
        for model, data, target in ((MKLClassifier(), X, y), (MKLRegressor(), X, X[:, 0]),
                                    (SequenceLabeler(epochs=2), words, labels),
                                    (parser(), texts, arcs)):
            with self.subTest(estimator=type(model).__name__):
                with self.assertRaisesRegex(medley.UsageError, "sample_weight.*repeat rows"):
                    model.fit(data, target, sample_weight=np.ones(len(target)))
                self.assertFalse(hasattr(model, "model_"))
                model.fit(data, target, sample_weight=None)
        with self.assertRaisesRegex(medley.UsageError, "repeat rows"):
            MKLClassifier("linear").partial_fit(X, y, sample_weight=np.ones(40))

    def test_the_remedy_of_the_sentence_works(self):
        X, y = rings(40)
        counts = np.arange(40) % 3
        rows = np.repeat(np.arange(len(X)), counts)
        self.assertEqual(MKLClassifier("rbf(auto)").fit(X[rows], y[rows]).predict(X).shape, (40,))

    def test_scikit_learn_sees_that_there_are_none(self):
        X, y = rings(60)
        for kind in (MKLClassifier, MKLRegressor, SequenceLabeler, DependencyParser):
            self.assertFalse(has_fit_parameter(kind, "sample_weight"))
            self.assertNotIn("held_out", inspect.signature(kind.fit).parameters)
        bagged = BaggingClassifier(MKLClassifier("rbf(auto)"), n_estimators=2).fit(X, y)
        self.assertGreater(bagged.score(X, y), 0.6)  # it draws rows instead
        line = make_pipeline(StandardScaler(), MKLClassifier("rbf(auto)"))
        with self.assertRaisesRegex(medley.UsageError, "repeat rows"):
            line.fit(X, y, mklclassifier__sample_weight=np.ones(60))

    def test_they_count_in_scores(self):
        X, y = rings(60)
        model = MKLClassifier("linear").fit(X, y)
        right = model.predict(X) == y
        self.assertLess(0, right.mean())
        self.assertEqual(model.score(X, y, sample_weight=right.astype(float)), 1)


class Import(unittest.TestCase):
    def test_what_takes_long_is_imported_when_it_is_used(self):
        program = (
            "import sys, medley\n"
            "late = ('sklearn', 'joblib', 'pandas', 'matplotlib', 'tqdm', 'IPython')\n"
            "print([name for name in late if name in sys.modules])\n"
            "model = medley.MKLClassifier('linear').fit(*medley.generate('ringnorm', rows=30))\n"
            "print([name for name in late[3:] if name in sys.modules])\n"  # pandas: scikit-learn 1.9
            "print(set(medley.__all__) <= set(dir(medley)), medley.parser.__name__)\n"
        )
        told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              check=False)
        self.assertEqual(told.stdout, "[]\n[]\nTrue medley.parser\n", told.stderr)

    def test_names_that_are_not_there_are_an_attribute_error(self):
        with self.assertRaisesRegex(AttributeError, "no attribute 'MKLClasifier'"):
            medley.MKLClasifier


if __name__ == "__main__":
    unittest.main()
