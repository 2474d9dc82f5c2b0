# SPDX-License-Identifier: BSD-3-Clause
"""Tuning, paths, reports, lists, generated data, the tutorial."""

import os
import platform
import subprocess
import sys
import unittest
from datetime import datetime, timezone
from unittest import mock

import medley
import numpy as np
from medley import DependencyParser, MKLClassifier, MKLRegressor, SequenceLabeler
from support import ROOT, InFolder, rings, sentences, trees


class Tuning(InFolder):
    def test_tune_finds_the_better_kernel(self):
        X, y = rings(150)
        grid = {"kernels": ["linear", "rbf(sigma2=5)"], "C": [0.1, 1]}
        found = medley.tune(X, y, grid, cv=3)
        self.assertEqual(len(found.trials), 4)
        self.assertEqual(found.best_params_["kernels"], "rbf(sigma2=5)")
        self.assertIn(found.best_params_["C"], (0.1, 1))
        self.assertEqual(len(found.best.folds), 3)
        self.assertAlmostEqual(found.best.folds.mean(), found.best.mean)
        self.assertEqual(found.best.mean, max(trial.mean for trial in found.trials))
        self.assertGreater(found.best_estimator_.score(X, y), 0.8)

    def test_folds_learn_from_their_training_rows_alone(self):
        X, y = rings(90)
        grid = {"C": [0.1, 1, 10]}
        tables = []
        for options in ({}, {"memory": "20K"}, {"memory": "60K"}, {"memory": "1G"}):
            model = MKLClassifier(["rbf(auto)", "laplace"], scale="standard", method="spom",
                                  epochs=2, options=options)
            found = medley.tune(X, y, grid, cv=3, estimator=model, refit=False)
            tables.append([list(trial.folds) for trial in found.trials])
        self.assertEqual(tables, [tables[0]] * 4)

    def test_tune_takes_every_estimator(self):
        X, y = rings(80)
        found = medley.tune(X, X[:, 0] * 2.5, {"C": [1, 100]}, cv=2)
        self.assertEqual(found.measure, "rmse")
        self.assertIsInstance(found.best_estimator_, MKLRegressor)
        self.assertFalse(found.higher_is_better)
        words, labels = sentences(30)
        found = medley.tune(words, labels, {"C": [1, 10]}, cv=2,
                            estimator=SequenceLabeler(epochs=3))
        self.assertEqual(found.measure, "f1")
        self.assertEqual(found.best_estimator_.predict(words), labels)
        words, arcs = trees(20)
        found = medley.tune(words, arcs, {"C": [1, 10]}, cv=2,
                            estimator=DependencyParser("arc-form-upos", hash_bits=10, epochs=2))
        self.assertEqual(found.measure, "las")
        found = medley.tune(X, y, {"ridge": [0, 0.5], "C": [1]}, cv=2)
        self.assertEqual(found.best_estimator_.options["ridge"], found.best_params_["ridge"])
        with self.assertRaisesRegex(medley.MedleyError, "stopped"):
            medley.tune(X, y, {"C": [1, 2]}, estimator=MKLClassifier(verbose=lambda _: False))
        with self.assertRaisesRegex(ValueError, "list of values"):
            medley.tune(X, y, {"C": 1})
        with self.assertRaisesRegex(ValueError, "no parameter 'D'"):
            medley.tune(X, y, {"D": [1]})

    def test_paths_go_from_strong_to_weak(self):
        X, y = rings(100)
        model = MKLClassifier(["rbf(sigma2={1,5,25})"])
        held_out = rings(60, seed=5)
        trace = medley.regularization_path(X, y, estimator=model, count=6, eval_set=held_out,
                                           keep_models=True)
        self.assertEqual(len(trace), 6)
        self.assertTrue((np.diff(trace.lambdas) < 0).all())
        self.assertEqual(trace.weights.shape, (6, 3))
        self.assertEqual(trace.blocks, model.fit(X, y).blocks_)
        self.assertEqual(len(trace.estimators), 6)
        self.assertAlmostEqual(trace.estimators[-1].score(*held_out), trace.score[-1])
        chosen = medley.regularization_path(X, y, estimator=model, lambdas=[0.1, 0.01])
        np.testing.assert_allclose(chosen.lambdas, [0.1, 0.01])

    def test_reports_are_written_for_every_estimator(self):
        X, y = rings(80)
        words, labels = sentences(20)
        texts, arcs = trees(15)
        for number, (model, data, target) in enumerate((
            (MKLClassifier("rbf(auto)"), X, y), (MKLRegressor("rbf(auto)"), X, X[:, 0]),
            (SequenceLabeler(epochs=3), words, labels),
            (DependencyParser("arc-form-upos", hash_bits=10, epochs=2), texts, arcs),
        )):
            path = self.folder / f"{number}.html"
            model.fit(data, target).report(path, data, target, title="A title of ours")
            page = path.read_text()
            self.assertIn("A title of ours", page)
            self.assertTrue(page.rstrip().endswith("</html>"))

    def test_reports_tell_how_they_were_made(self):
        X, y = rings(60)
        model = MKLClassifier("rbf(auto)", C=3).fit(X, y)
        script = ["/home/somebody/secret <b>/iris.py", "--password", "xyzzy"]
        with mock.patch.object(sys, "argv", script), \
                mock.patch.dict(os.environ, SOURCE_DATE_EPOCH="1000000000"), \
                mock.patch.dict(sys.modules):
            sys.modules.pop("ipykernel", None)
            page = model.report().html
            self.assertEqual(model.report().html, page)
            sys.modules["ipykernel"] = None
            self.assertIn("# a notebook (Python", model.report().html)
        self.assertIn("2001-09-09 01:46 UTC", page)
        self.assertIn(f"# iris.py (Python {platform.python_version()}", page)
        self.assertIn("MKLClassifier(C=3, kernels=&#39;rbf(auto)&#39;)", page)
        for private in ("somebody", "secret", "password", "xyzzy"):
            self.assertNotIn(private, page)
        with mock.patch.dict(os.environ, SOURCE_DATE_EPOCH="tomorrow"):
            self.assertIn(datetime.now(timezone.utc).strftime("%Y-%m-"), model.report().html)

    def test_parameters_that_cannot_be_told_spoil_no_report(self):
        class Silent:
            def __repr__(self):
                raise RuntimeError("nothing to say")

        class Odd:
            def __repr__(self):
                return "<odd\0 \ud800 at 0x7f00beef>"

        X, y = rings(60)
        model = MKLClassifier("rbf(auto)").fit(X, y)
        for parameter, told in ((Silent(), "MKLClassifier(...)"), (Odd(), "&lt;odd? ?&gt;")):
            model.set_params(verbose=parameter)
            self.assertIn(told, model.report().html)

    def test_reports_show_tuning_and_path(self):
        X, y = rings(80)
        found = medley.tune(X, y, {"C": [0.1, 1, 10]}, cv=2)
        trace = medley.regularization_path(X, y, count=4)
        path = self.folder / "all.html"
        found.best_estimator_.report(path, X, y, tuning=found, trace=trace,
                                    contenders=[("some other", 0.5, 1.0)])
        self.assertIn("some other", path.read_text())
        with self.assertRaises(OSError):
            found.best_estimator_.report(self.folder / "no" / "such" / "folder.html")


class Lists(unittest.TestCase):
    def test_everything_that_can_be_chosen_is_listed(self):
        self.assertIn("rbf", [kernel.name for kernel in medley.list_kernels()])
        self.assertIn("spicy", [method.name for method in medley.list_methods()])
        self.assertIn("max-iter", [option.name for option in medley.list_options()])
        for kind in medley.kinds():
            self.assertGreater(len(medley.listing(kind)), 0, kind)
        with self.assertRaises(medley.UsageError):
            medley.listing("colours")

    def test_every_generator_gives_what_an_estimator_takes(self):
        for generator in medley.list_generators():
            with self.subTest(generator=generator.name):
                X, y = medley.generate(generator.name, rows=30, seed=2)
                again, _ = medley.generate(generator.name, rows=30, seed=2)
                self.assertEqual(len(X), len(y))
                self.assertEqual(repr(again), repr(X))
                if isinstance(y, np.ndarray):
                    model = MKLClassifier(epochs=2)
                elif isinstance(y[0][0], tuple):
                    model = DependencyParser("arc-form-upos", hash_bits=10, epochs=1)
                else:
                    model = SequenceLabeler(epochs=2)
                model.fit(X, y)
                self.assertEqual(len(model.predict(X)), len(y))

    def test_the_version_is_that_of_the_package(self):
        import importlib.metadata

        self.assertEqual(medley.__version__, importlib.metadata.version("medley"))


class Documents(InFolder):
    def test_public_names_have_docstrings(self):
        for name in medley.__all__:
            self.assertTrue(getattr(medley, name).__doc__, name)

    def test_the_tutorial_runs(self):
        told = subprocess.run([sys.executable, str(ROOT / "python" / "tutorial.py")],
                              cwd=self.folder, capture_output=True, text=True, check=False,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertTrue((self.folder / "medley-tutorial.html").exists())


if __name__ == "__main__":
    unittest.main()
