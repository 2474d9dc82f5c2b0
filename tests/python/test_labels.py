# SPDX-License-Identifier: BSD-3-Clause
"""Labels that go into a file and come back, and labels that cannot be compared."""

import os
import unittest

import medley
import numpy as np
from medley import MKLClassifier, MKLRegressor, SequenceLabeler
from sklearn.metrics.pairwise import linear_kernel
from support import InFolder, rings, scikit_learn_takes


class Files(InFolder):
    def setUp(self):
        super().setUp()
        self.X, self.y = rings(60)
        self.path = self.folder / "m.medley"

    def saved(self, labels):
        labels = np.asarray(labels)
        model = MKLClassifier("rbf(auto)").fit(self.X, labels[self.y])
        model.save(self.path)
        return model

    def test_labels_come_back_as_they_were(self):
        for labels in (["01", "1"], ["+1", "-1"], ["1.50", "2"], ["1e5", "x"], ["a", "b"],
                       [2**53 + 1, 2**53 + 3], [10**15, 3], [-1, 1], ["'x'", "y"], ["", "b"]):
            with self.subTest(labels=labels):
                model = self.saved(labels)
                loaded = MKLClassifier.load(self.path)
                np.testing.assert_array_equal(loaded.classes_, model.classes_)
                np.testing.assert_array_equal(loaded.predict(self.X), model.predict(self.X))

    def test_labels_that_a_file_cannot_tell_are_named(self):
        for labels in (["0", "1"], [False, True], [b"x", b"y"]):
            with self.subTest(labels=labels):
                if isinstance(labels[0], bytes) and not scikit_learn_takes(labels):
                    continue
                model = self.saved(labels)
                target = np.asarray(labels)[self.y]
                wanted = model.score(self.X, target)
                loaded = MKLClassifier.load(self.path, classes=labels)
                self.assertEqual(loaded.classes_.dtype, model.classes_.dtype)
                self.assertEqual(loaded.score(self.X, target), wanted)
                self.assertEqual(loaded.evaluate(self.X, target)["accuracy"], wanted)
        with self.assertRaisesRegex(medley.InputError, "among classes"):
            MKLClassifier.load(self.path, classes=["p", "q"])

    def test_sequences_too(self):
        X, y = [["a", "b"]] * 4, [["0", "1"]] * 4
        model = SequenceLabeler(epochs=2).fit(X, y)
        model.save(self.path)
        self.assertEqual(SequenceLabeler.load(self.path, classes=["0", "1"]).predict(X),
                         model.predict(X))
        with self.assertRaisesRegex(medley.InputError, "texts"):
            SequenceLabeler.load(self.path).score(X, y)

    def test_texts_against_numbers_are_refused(self):
        self.saved(["0", "1"])
        loaded = MKLClassifier.load(self.path)
        texts = self.y.astype(str)
        for work in (loaded.score, loaded.evaluate):
            with self.assertRaisesRegex(medley.InputError, "classes="):
                work(self.X, texts)

    def test_a_class_may_be_called_unknown(self):
        model = self.saved(["(unknown)", "b"])
        strange = np.where(np.arange(60) < 10, "never", model.predict(self.X))
        self.assertAlmostEqual(model.evaluate(self.X, strange)["accuracy"], 50 / 60)

    def test_callables_want_the_training_rows(self):
        for kind in (MKLClassifier, MKLRegressor):
            model = kind([linear_kernel]).fit(self.X, self.y)
            model.save(self.path)
            loaded = kind.load(self.path, X=self.X, kernels=[linear_kernel])
            np.testing.assert_array_equal(loaded.predict(self.X), model.predict(self.X))
            with self.assertRaisesRegex(medley.InputError, "load"):
                kind.load(self.path, kernels=[linear_kernel]).predict(self.X)

    def test_names_of_files_may_be_any_bytes(self):
        name = os.fsdecode(os.fsencode(self.folder) + b"/m\xff.medley")
        model = self.saved([0, 1])
        model.save(name)
        np.testing.assert_array_equal(MKLClassifier.load(name).predict(self.X),
                                      model.predict(self.X))
        with self.assertRaises(medley.FileError) as caught:
            medley.read(name + "-none")
        self.assertEqual(caught.exception.filename, name + "-none")
        self.assertEqual(caught.exception.errno, 2)


if __name__ == "__main__":
    unittest.main()
