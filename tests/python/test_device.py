# SPDX-License-Identifier: BSD-3-Clause
"""Learning and predicting on a card: one that is none (tests/device), which every machine has."""

import os
import pickle
import unittest
from pathlib import Path
from unittest import mock

import medley
import numpy as np
from medley import MKLClassifier, MKLRegressor, SequenceLabeler
from support import COMMAND, InFolder, rings, sentences

FAKE = Path(os.environ.get("MEDLEY_BUILD") or COMMAND.parent) / "tests" / "fake_card"
NAME = "fake card"


@unittest.skipIf(not (FAKE / "libmedley-cuda.so").exists(),
                 f"there is no {FAKE / 'libmedley-cuda.so'}; build the tests")
class OnACard(InFolder):
    def setUp(self):
        super().setUp()
        changed = mock.patch.dict(os.environ, {"MEDLEY_PLUGINS": str(FAKE)})
        changed.start()
        self.addCleanup(changed.stop)

    def test_classifiers_learn_and_predict_as_on_the_processor(self):
        X, y = rings(150)
        Z, w = rings(100, seed=1)
        for method, loss in (("spom", "logistic"), ("obscure", "hinge"), ("spicy", "hinge")):
            with self.subTest(method=method):
                here, there = (
                    MKLClassifier(["rbf(auto)", "poly(degree=2)"], method=method, loss=loss,
                                  normalize="diag", device=device).fit(X, y)
                    for device in ("cpu", "cuda")
                )
                self.assertEqual(here.summary()["device"], "cpu")
                self.assertEqual(there.summary()["device"], NAME)
                self.assertIn("2 kernels", there.summary()["device_use"])
                self.assertEqual(there.summary()["device_reason"], "")
                self.assertAlmostEqual(there.objective_ / here.objective_, 1, delta=0.01)
                self.assertEqual(here.evaluate(Z, w)["device"], "cpu")
                self.assertEqual(there.evaluate(Z, w)["device"], NAME)
                self.assertGreaterEqual(np.mean(here.predict(Z) == there.predict(Z)), 0.97)
                scores = there.decision_function(Z)
                there.device = "cpu"  # the model is the same wherever it is used
                np.testing.assert_allclose(there.decision_function(Z), scores, rtol=0, atol=1e-4)

    def test_regressors_and_labelers_take_the_option(self):
        X, _ = rings(100)
        model = MKLRegressor("rbf(auto)", device="cuda").fit(X, X[:, 0])
        self.assertEqual(model.summary()["device"], NAME)
        self.assertEqual(model.evaluate(X, X[:, 0])["device"], NAME)
        rows = [X[:50].astype(float), X[50:].astype(float)]
        labels = [["b" if x > 0 else "a" for x in one[:, 0]] for one in rows]
        model = SequenceLabeler(kernels=["rbf(auto)"], epochs=2, device="cuda").fit(rows, labels)
        self.assertEqual(model.summary()["device"], NAME)
        self.assertEqual([len(one) for one in model.predict(rows)], [50, 50])

    def test_pieces_are_learnt_there(self):
        X, y = rings(100)
        model = MKLClassifier("rbf(sigma2=5)", device="cuda").partial_fit(X, y)
        self.assertGreater(model.score(X, y), 0.8)

    def test_the_option_by_name_and_after_a_pickle(self):
        X, y = rings(60)
        model = MKLClassifier("rbf(auto)", options={"device": "cuda"}).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        self.assertEqual(model.evaluate(X, y)["device"], NAME)
        self.assertEqual(again.evaluate(X, y)["device"], NAME)
        self.assertEqual(again.model_.evaluate(again._labelled(X, y))["device"], "cpu")

    def test_reports_tuning_and_storage(self):
        X, y = rings(90)
        estimator = MKLClassifier("rbf(auto)", method="spom", epochs=5, device="cuda",
                                  options={"device-storage": "float32"})
        found = medley.tune(X, y, {"C": [1, 10]}, estimator=estimator, cv=3)
        self.assertEqual(found.best_estimator_.summary()["device"], NAME)
        self.assertIn("</html>", found.best_estimator_.report(None, X, y).html)

    def test_a_card_that_is_lost_is_an_error(self):
        X, y = rings(60)
        model = MKLClassifier("rbf(auto)", device="cuda").fit(X, y)
        for call, remedy in ((1, "leave out device"), (20, "device='cpu' does without it")):
            with mock.patch.dict(os.environ, {"MEDLEY_FAKE_CARD": f"lost:{call}"}):
                with self.assertRaisesRegex(medley.MedleyError, remedy):
                    MKLClassifier("rbf(auto)", device="cuda").fit(X, y)
        with mock.patch.dict(os.environ, {"MEDLEY_FAKE_CARD": "lost:1"}):
            with self.assertRaisesRegex(medley.MedleyError, "leave out device"):
                model.predict(X)


class Descriptions(unittest.TestCase):
    def test_devices_that_are_none_are_refused(self):
        X, y = rings(60)
        told = r"device='gpu' is none of auto, cpu, cuda and cuda:N with the number N of a card"
        with self.assertRaisesRegex(medley.UsageError, told):
            MKLClassifier("linear", device="gpu").fit(X, y)
        model = MKLClassifier("rbf(auto)").fit(X, y)
        model.device = "gpu"
        with self.assertRaisesRegex(medley.UsageError, told):
            model.predict(X)

    def test_templates_have_nothing_for_a_card(self):
        X, y = sentences(20)
        with self.assertRaisesRegex(medley.MedleyError, "device"):
            SequenceLabeler(epochs=1, device="cuda").fit(X, y)
