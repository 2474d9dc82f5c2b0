# SPDX-License-Identifier: BSD-3-Clause
"""Who owns what: results that are copied, work that fails, exceptions that keep nothing."""

import copy
import gc
import pickle
import subprocess
import sys
import unittest
import unittest.mock
import weakref

import joblib
import medley
import numpy as np
from medley import MKLClassifier, SequenceLabeler, Views, _dataset, _observer, _options, _select
from scipy import sparse
from support import InFolder, rings, sentences


def results():
    X, y = rings(60)
    model = MKLClassifier("rbf(auto)")
    return [medley.tune(X, y, {"C": [1, 10]}, cv=2, estimator=model),
            medley.regularization_path(X, y, count=3, estimator=model)]


class Copies(InFolder):
    def test_results_are_copied_and_pickled(self):
        program = ("import copy, medley\n"
                   "X, y = medley.generate('ringnorm', rows=60, seed=1)\n"
                   "found = (medley.tune(X, y, {'C': [1, 10]}, cv=2), medley.regularization_path(X, y))\n"
                   "for first in found:\n"
                   "    second = copy.copy(first)\n"
                   "    del second, first\n"
                   "print('alive')\n")
        told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              check=False)
        self.assertEqual(told.stdout, "alive\n", told.stderr)
        X, y = rings(60)
        model = MKLClassifier("rbf(auto)").fit(X, y)
        for name, result in zip(("tuning", "trace"), results()):
            shared = copy.copy(result)
            wanted = repr(result)
            for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
                self.assertEqual(repr(other), wanted)
                with self.assertRaisesRegex(medley.UsageError, "pickled"):
                    model.report(self.folder / "r.html", **{name: other})
            del result
            model.report(self.folder / "r.html", **{name: shared})

    def test_owners_of_pointers_are_not_copied(self):
        for owner in (_dataset.Dataset(), _options.Options()):
            with self.assertRaises(TypeError):
                copy.copy(owner)

    def test_views_stay_views(self):
        views = Views(a=[[1, 2], [3, 4]], b=sparse.coo_matrix(np.eye(2)))
        self.assertEqual(views.shape, (2, 4))
        self.assertEqual(views[[0]].shape, (1, 4))
        for other in (views.copy(), views | {"c": np.ones((2, 1))}, {"c": np.ones((2, 1))} | views):
            self.assertIsInstance(other, Views)
            self.assertEqual(other.shape[0], 2)


class Failures(unittest.TestCase):
    def test_a_failed_fit_leaves_the_model_before(self):
        X, y = rings(60)
        calls = []

        def stop(progress):
            calls.append(progress)
            raise RuntimeError("enough")

        for model in (MKLClassifier("rbf(auto)"), SequenceLabeler(epochs=2)):
            data = (X, y) if isinstance(model, MKLClassifier) else sentences(20)
            other = (X[:, :2], np.array(["a", "b"])[y]) if data[0] is X else (
                data[0], [["x", "y", "z"][:1] * (len(s) - 1) + ["q"] for s in data[0]])
            before = model.fit(*data).predict(data[0])
            with self.assertRaises(RuntimeError):
                model.set_params(verbose=stop).fit(*other)
            np.testing.assert_equal(model.predict(data[0]), before)
            with self.assertRaises(ValueError):
                model.set_params(verbose=0, penalty="no such").fit(*other)
            np.testing.assert_equal(model.predict(data[0]), before)
        self.assertEqual(len(calls), 2)

    def test_failed_pieces_leave_the_model_before(self):
        X, y = rings(60)
        model = MKLClassifier("rbf(auto)").partial_fit(X, y)
        before = model.predict(X)
        for wrong in ((X, np.array(["a", "b"])[y]), (X[:, :2], y + 5), (X[:3], y)):
            with self.assertRaises(ValueError):
                model.partial_fit(*wrong)
            self.assertEqual(model.classes_.tolist(), [0, 1])
            np.testing.assert_array_equal(model.predict(X), before)
        with self.assertRaisesRegex(medley.InputError, "texts"):
            model.partial_fit(X, np.array(["a", "b"])[y])

    def kept_by(self, work):
        """How many objects of the library outlive an error without a collection of garbage."""
        def fail(progress):
            raise RuntimeError("enough")

        made = []
        inits = {kind: kind.__init__ for kind in (_dataset.Dataset, _options.Options,
                                                  _observer.Watch)}
        for kind, init in inits.items():
            def noted(self, *arguments, _init=init, **named):
                _init(self, *arguments, **named)
                made.append(weakref.ref(self))
            kind.__init__ = noted
        gc.disable()
        try:
            with self.assertRaises(RuntimeError):
                work(fail)
            return len(made), sum(one() is not None for one in made)
        finally:
            gc.enable()
            for kind, init in inits.items():
                kind.__init__ = init

    def test_errors_of_callables_keep_nothing_alive(self):
        X, y = rings(60)
        for work in (lambda fail: MKLClassifier("rbf(auto)", verbose=fail).fit(X, y),
                     lambda fail: medley.tune(X, y, {"C": [1]}, cv=2,
                                              estimator=MKLClassifier(verbose=fail)),
                     lambda fail: medley.regularization_path(
                         X, y, estimator=MKLClassifier(verbose=fail))):
            made, kept = self.kept_by(work)
            self.assertGreater(made, 2)
            self.assertEqual(kept, 0)

    def test_a_path_that_is_stopped_is_freed(self):
        X, y = rings(60)
        freed = []

        def late(progress):
            if progress.done > 0:
                raise RuntimeError("enough")

        real = _select.Handle.__del__
        _select.Handle.__del__ = lambda self: (freed.append((type(self).__name__,
                                                             bool(self.pointer))), real(self))
        try:
            with self.assertRaises(RuntimeError):
                model = MKLClassifier("rbf(auto)", verbose=late)
                medley.regularization_path(X, y, count=5, estimator=model)
        finally:
            _select.Handle.__del__ = real
        self.assertIn(("_PathAnswer", True), freed)
        with self.assertRaisesRegex(medley.MedleyError, "first point"):
            medley.regularization_path(X, y, estimator=MKLClassifier(verbose=lambda _: False))


def threads_here():
    return _options.threads(None)


class Threads(unittest.TestCase):
    def test_one_thread_inside_a_worker(self):
        self.assertEqual(threads_here(), 0)
        for backend in ("threading", "loky"):
            told = joblib.Parallel(2, backend=backend)(joblib.delayed(_options.threads)(None)
                                                       for _ in range(2))
            self.assertEqual(told, [1, 1], backend)
        self.assertEqual(joblib.Parallel(1)([joblib.delayed(threads_here)()]), [0])

    def test_negative_numbers_count_processors_of_this_process(self):
        with unittest.mock.patch("os.sched_getaffinity", return_value=set(range(70))):
            self.assertEqual([_options.threads(n) for n in (-1, -2, -90)], [0, 69, 1])


if __name__ == "__main__":
    unittest.main()
