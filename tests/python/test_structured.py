# SPDX-License-Identifier: BSD-3-Clause
"""Structures of the user's own: equal to those of the library, and safe to get wrong."""

import itertools
import pickle
import runpy
import unittest

import numpy as np

import medley
from support import ROOT, InFolder


class Chain(medley.Structure):
    """Sequence labelling: Viterbi for all examples of a batch at once."""

    name = "chain-in-python"
    neighbours = True

    def decode(self, batch):
        count, longest, labels = batch.scores.shape
        pairs = batch.shared.reshape(count, labels, labels)
        values = np.empty_like(batch.scores)
        back = np.zeros(batch.scores.shape, dtype=np.int32)
        values[:, 0] = batch.scores[:, 0]
        for t in range(1, longest):
            candidates = values[:, t - 1, :, None] + pairs
            back[:, t] = candidates.argmax(axis=1)
            values[:, t] = candidates.max(axis=1) + batch.scores[:, t]
        outputs = np.zeros((count, longest), dtype=np.int32)
        for i, length in enumerate(batch.lengths):
            label = values[i, length - 1].argmax()
            for t in range(length - 1, -1, -1):
                outputs[i, t] = label
                label = back[i, t, label]
        return outputs


class SlowChain(Chain):
    """The same with shared parts by callables, and marginals by enumeration."""

    neighbours = False

    def shared_parts(self, labels):
        return labels * labels

    def most_shared(self, length, labels):
        return length - 1

    def shared_of(self, output, labels, info):
        return output[:-1] * labels + output[1:]

    def marginals(self, batch):
        count, _, labels = batch.scores.shape
        rows, shared = np.zeros(batch.scores.shape), np.zeros(batch.shared.shape)
        values = np.zeros(count)
        for i, length in enumerate(batch.lengths):
            outputs = np.array(list(itertools.product(range(labels), repeat=int(length))))
            score = batch.scores[i, np.arange(length), outputs].astype(float).sum(axis=1)
            pairs = outputs[:, :-1] * labels + outputs[:, 1:]
            score += batch.shared[i, pairs].sum(axis=1)
            values[i] = np.log(np.exp(score - score.max()).sum()) + score.max()
            share = np.exp(score - values[i])
            for t in range(length):
                np.add.at(rows[i, t], outputs[:, t], share)
            for column in range(pairs.shape[1]):
                np.add.at(shared[i], pairs[:, column], share)
        return values, rows, shared


def small_data(count=40, seed=0):
    """Sequences of three labels that follow one another and are told apart with noise."""
    random = np.random.RandomState(seed)
    X, y = [], []
    for _ in range(count):
        labels = (random.randint(3) + np.arange(2 + random.randint(4))) % 3
        X.append(np.eye(3)[labels] + 0.6 * random.randn(len(labels), 3))
        y.append([("a", "b", "c")[label] for label in labels])
    return X, y


COMMON = {"kernels": ["linear", "rbf(sigma2=2)"], "epochs": 5, "eta0": 0.5, "bigram": "learned"}


class Structured(InFolder):
    def test_chains_equal_those_of_the_library(self):
        X, y = small_data()
        for extra in ({}, {"method": "obscure", "epochs": None, "eta0": None},
                      {"penalty": "group-lasso", "C": 2}):
            settings = {**COMMON, **extra}
            right = medley.SequenceLabeler(**settings, options={"batch": 8}).fit(X, y)
            for structure in (Chain(), SlowChain()):
                own = medley.StructuredPredictor(structure, **settings, batch=8).fit(X, y)
                self.assertLess(abs(own.objective_ / right.objective_ - 1), 1e-9)
                self.assertEqual(own.predict(X), right.predict(X))
                self.assertEqual(own.score(X, y), right.score(X, y))

    def test_marginals_give_log_losses_and_probabilities(self):
        X, y = small_data(20)
        settings = {**COMMON, "loss": "logistic", "penalty": "l2"}
        right = medley.SequenceLabeler(**settings, options={"batch": 4}).fit(X, y)
        own = medley.StructuredPredictor(SlowChain(), **settings, batch=4).fit(X, y)
        self.assertLess(abs(own.objective_ / right.objective_ - 1), 1e-5)
        for a, b in zip(own.predict_proba(X), right.predict_proba(X)):
            np.testing.assert_allclose(a, b, atol=1e-3)
        with self.assertRaisesRegex(medley.NotSupportedError, "marginals"):
            medley.StructuredPredictor(Chain(), loss="logistic").fit(X, y)

    def test_bounds_equal_those_of_the_library(self):
        X, y = small_data(20)
        for loss in ("hinge", "logistic", "softmax-margin"):
            settings = {**COMMON, "loss": loss, "penalty": "l2", "C": 1, "certify": True}
            right = medley.SequenceLabeler(**settings, options={"batch": 4}).fit(X, y)
            own = medley.StructuredPredictor(SlowChain(), **settings, batch=4).fit(X, y)
            self.assertGreater(own.dual_, 0)
            self.assertLess(own.dual_, own.objective_)
            self.assertLess(abs(own.dual_ / right.dual_ - 1), 1e-4)

    def test_models_are_kept_with_their_structure(self):
        X, y = small_data()
        model = medley.StructuredPredictor(Chain(), **COMMON).fit(X, y)
        model.save(self.folder / "m.medley")
        again = medley.StructuredPredictor.load(self.folder / "m.medley", structure=Chain())
        self.assertEqual(again.predict(X), model.predict(X))
        self.assertEqual(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
        with self.assertRaisesRegex(medley.MedleyError, "needs the structure 'chain-in-python'"):
            medley.SequenceLabeler.load(self.folder / "m.medley")

        class Other(Chain):
            name = "other"

        with self.assertRaisesRegex(medley.MedleyError, "'other' was given"):
            medley.StructuredPredictor.load(self.folder / "m.medley", structure=Other())

    def test_info_comes_with_its_rows(self):
        X, y = small_data()
        codes = [np.array([["abc".index(label), 7] for label in labels]) for labels in y]

        class Told(medley.Structure):
            name = "told"

            def decode(self, batch):
                assert all((info[:, 1] == 7).all() for info in batch.info)
                return [info[:, 0] for info in batch.info]

        model = medley.StructuredPredictor(Told(), kernels=["linear"], epochs=2, eta0=1)
        model.fit(X, y, info=codes)
        self.assertEqual(model.predict(X, info=codes), y)
        self.assertEqual(model.score(X, y, info=codes), 1)
        with self.assertRaisesRegex(medley.InputError, r"info\[0\] has the shape"):
            model.predict(X, info=[code[1:] for code in codes])

    def test_what_callables_raise_comes_through(self):
        X, y = small_data(10)

        class Fails(medley.Structure):
            name = "fails"

            def decode(self, batch):
                raise ZeroDivisionError("in decode")

        class Nonsense(medley.Structure):
            name = "nonsense"
            answer = 0

            def decode(self, batch):
                return self.answer

        with self.assertRaisesRegex(ZeroDivisionError, "in decode"):
            medley.StructuredPredictor(Fails(), epochs=1, eta0=1).fit(X, y)
        nonsense = Nonsense()
        for answer, kind in ((0, TypeError), ([], medley.UsageError)):
            nonsense.answer = answer
            with self.assertRaises(kind):
                medley.StructuredPredictor(nonsense, epochs=1, eta0=1).fit(X, y)
        with self.assertRaisesRegex(medley.UsageError, "subclass of Structure"):
            medley.StructuredPredictor(None).fit(X, y)
        with self.assertRaisesRegex(medley.UsageError, "needs a name"):
            medley.StructuredPredictor(medley.Structure()).fit(X, y)

    def test_labels_that_do_not_exist_are_refused(self):
        X, y = small_data(10)

        class Beyond(medley.Structure):
            name = "beyond"

            def decode(self, batch):
                return np.full(batch.scores.shape[:2], 3)

        with self.assertRaisesRegex(medley.MedleyError, "a label that does not exist"):
            medley.StructuredPredictor(Beyond(), epochs=1, eta0=1).fit(X, y)

    def test_the_example_runs(self):
        example = runpy.run_path(str(ROOT / "examples" / "ranking.py"))
        X, y = example["make_queries"](60, 1)
        model = medley.StructuredPredictor(example["Ranking"](), kernels=["poly(degree=2)"])
        found = model.fit(X, y).predict(X)
        self.assertTrue(all(sorted(places) == [0, 1, 2, 3, 4] for places in found))
        self.assertGreater(model.score(X, y), 0.7)


if __name__ == "__main__":
    unittest.main()
