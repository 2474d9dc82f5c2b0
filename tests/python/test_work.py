# SPDX-License-Identifier: BSD-3-Clause
"""How the library is worked with: no copies, other threads run on, Ctrl-C, progress, errors."""

import contextlib
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import unittest

import medley
import numpy as np
from medley import MKLClassifier, MKLRegressor, _dataset, _structs
from support import InFolder, rings


def long_fit(**parameters):
    X, y = medley.generate("waveform", rows=600, seed=1)
    return MKLClassifier(epochs=100000, **parameters), X, y


class Copies(unittest.TestCase):
    def table(self, X):
        return _dataset._table(X, "", None)[0]

    def test_float32_is_used_as_it_is(self):
        X = np.zeros((50, 6), dtype=np.float32)
        table = self.table(X)
        self.assertEqual(table.values, X.ctypes.data)
        self.assertTrue(table.borrow)
        self.assertEqual(table.type, _structs.FLOAT32)

    def test_float64_is_handed_over_by_pointer(self):
        X = np.zeros((50, 6))
        self.assertEqual(self.table(X).values, X.ctypes.data)
        part = X[10:20, 2:4]
        self.assertEqual(self.table(part).values, part.ctypes.data)
        self.assertEqual(self.table(part).stride, 6)

    @unittest.skipIf(not os.path.exists("/proc/self/statm"), "there is no /proc")
    def test_the_library_borrows_float32(self):
        def resident():
            with open("/proc/self/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        X = np.ones((5000, 2000), dtype=np.float32)
        before = resident()
        dataset = _dataset.Dataset()
        dataset.put_table(X)
        self.assertEqual(dataset.rows, 5000)
        self.assertLess(resident() - before, X.nbytes / 4)

    def test_forked_processes_learn_too(self):
        X, y = medley.generate("waveform", rows=150, seed=1)
        expected = MKLClassifier(epochs=2).fit(X, y).objective_
        child = os.fork()
        if child == 0:
            same = MKLClassifier(epochs=2).fit(X, y).objective_ == expected
            os._exit(0 if same else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_fitting_allocates_no_copy_in_python(self):
        X = np.random.RandomState(0).rand(2000, 500).astype(np.float32)
        y = (X[:, 0] > X[:, 1]).astype(int)
        model = MKLClassifier(["linear(explicit)"], method="spom", epochs=1, options={"eta0": 0.1})
        model.fit(X[:10], y[:10])
        tracemalloc.start()
        model.fit(X, y)
        model.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        self.assertLess(peak, X.nbytes / 4)


class Watching(unittest.TestCase):
    def test_other_threads_run_during_fit(self):
        model, X, y = long_fit()
        ended = threading.Event()
        steps = 0
        started = time.monotonic()
        model.set_params(verbose=lambda progress: time.monotonic() - started < 1)
        worker = threading.Thread(target=lambda: (model.fit(X, y), ended.set()))
        worker.start()
        while not ended.is_set():
            steps += 1
            time.sleep(0.001)
        worker.join()
        self.assertGreater(steps, 100)
        self.assertTrue(hasattr(model, "model_"))

    def test_progress_is_told_to_a_callable_that_may_stop(self):
        seen = []
        model, X, y = long_fit(verbose=lambda p: seen.append(p) or len(seen) < 20)
        model.fit(X, y)
        self.assertEqual(len(seen), 20)
        self.assertIsInstance(seen[0], medley.Progress)
        self.assertGreater(model.score(X, y), 0.5)

    def test_what_was_stopped_at_once_is_no_model(self):
        model, X, y = long_fit(verbose=lambda _: False)
        with self.assertRaisesRegex(medley.MedleyError, "first epoch"):
            model.fit(X, y)
        self.assertFalse(hasattr(model, "model_"))

    def test_verbose_prints(self):
        X, y = rings(60)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            MKLClassifier(epochs=3, verbose=1).fit(X, y)
        self.assertIn("medley: training 3/3  objective", printed.getvalue())
        silent = io.StringIO()
        with contextlib.redirect_stdout(silent):
            MKLClassifier(epochs=3).fit(X, y)
        self.assertEqual(silent.getvalue(), "")

    def test_errors_of_the_callable_come_through(self):
        def fail(progress):
            raise RuntimeError("enough")

        model, X, y = long_fit(verbose=fail)
        with self.assertRaisesRegex(RuntimeError, "enough"):
            model.fit(X, y)

    def test_an_interrupt_stops_the_work_and_keeps_the_model_so_far(self):
        program = (
            "import medley, os, signal, threading, time\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # shells let jobs ignore it
            "X, y = medley.generate('waveform', rows=600, seed=1)\n"
            "model = medley.MKLClassifier(epochs=1000000)\n"
            "threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
            "start = time.monotonic()\n"
            "try:\n"
            "    model.fit(X, y)\n"
            "except KeyboardInterrupt:\n"
            "    print('interrupted', time.monotonic() - start < 20,\n"
            "          len(model.summary()['epochs']) < 1000000)\n"
            "    print(model.score(X, y) > 0.5)\n"
            "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n"
        )
        told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(told.stdout, "interrupted True True\nTrue\nTrue\n", told.stderr)
        self.assertIn("the model is the one that was learnt so far", told.stderr)

    def test_an_interrupt_before_there_is_a_model_leaves_the_estimator_as_it_was(self):
        def interrupt(_progress):
            os.kill(os.getpid(), signal.SIGINT)

        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        model, X, y = long_fit(verbose=interrupt)
        with self.assertRaises(KeyboardInterrupt):
            model.fit(X, y)
        self.assertFalse(hasattr(model, "model_"))
        self.assertFalse(hasattr(model, "classes_"))

    def test_two_threads_may_fit_and_predict_at_once(self):
        X, y = rings(100)
        expected = MKLClassifier("rbf(auto)").fit(X, y).decision_function(X)
        model = MKLClassifier("rbf(auto)").fit(X, y)
        wrong = []

        def work():
            for _ in range(10):
                other = MKLClassifier("rbf(auto)").fit(X, y)
                for one in (other, model):
                    if not np.array_equal(one.decision_function(X), expected):
                        wrong.append(one)

        workers = [threading.Thread(target=work) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(wrong, [])


class Errors(InFolder):
    def test_sentences_are_those_of_the_library(self):
        X, y = rings(40)
        for parameters, kind, sentence in (
            ({"kernels": "rbf(sigam=1)"}, medley.UsageError, "sigma"),
            ({"penalty": "mlk"}, medley.UsageError, "mkl"),
            ({"C": -1}, medley.UsageError, "C"),
            ({"method": "spicy", "loss": "softmax-margin"}, medley.UsageError, "hinge or logistic"),
            ({"options": {"epoch": 3}}, medley.UsageError, "did you mean 'epochs'"),
            ({"C": 1, "lambda_": 1}, medley.UsageError, ""),
            ({"memory": "lots"}, medley.UsageError, "512M"),
            ({"n_jobs": 0}, medley.UsageError, "n_jobs"),
        ):
            with self.subTest(parameters=parameters):
                with self.assertRaisesRegex(kind, sentence) as caught:
                    MKLClassifier(**parameters).fit(X, y)
                self.assertIsInstance(caught.exception, ValueError)
                self.assertIsInstance(caught.exception, medley.MedleyError)

    def test_files_that_cannot_be_are_named(self):
        with self.assertRaises(OSError) as caught:
            MKLClassifier.load(self.folder / "nothing.medley")
        self.assertIsInstance(caught.exception, medley.FileError)
        self.assertIn("nothing.medley", str(caught.exception))
        bad = self.folder / "bad.medley"
        bad.write_bytes(b"no model")
        with self.assertRaises(medley.InputError) as caught:
            MKLClassifier.load(bad)
        self.assertEqual(caught.exception.file, str(bad))
        table = self.folder / "t.csv"
        table.write_text("1,2,a\n3,x4,b\n")
        with self.assertRaises(medley.InputError) as caught:
            medley.read(table, label="last")
        self.assertEqual(caught.exception.line, 2)

    def test_exceptions_can_be_pickled(self):
        for kind in (medley.UsageError, medley.InputError, medley.FileError,
                     medley.OutOfMemoryError, medley.NotSupportedError):
            copy = pickle.loads(pickle.dumps(kind("what was found", "file", 3)))
            self.assertIs(type(copy), kind)
            self.assertEqual(str(copy), "file:3: what was found")

    def test_too_much_memory_is_a_memory_error(self):
        error = _structs.Error(code=-1, message=b"out of memory (1.0 MB asked for)")
        self.assertIsInstance(medley._errors.from_status(-1, error), MemoryError)

    def test_values_that_are_not_finite_are_refused(self):
        X, y = rings(40)
        X = X.astype(np.float64)
        X[3, 1] = 1e200  # finite, and not as float32
        with self.assertRaises(ValueError):
            MKLRegressor().fit(X, y)

    def test_regression_refuses_what_it_cannot_do(self):
        X, y = rings(40)
        with self.assertRaisesRegex(medley.NotSupportedError, "spicy"):
            MKLRegressor(method="spom").fit(X, y)
        with self.assertRaisesRegex(ValueError, "feature"):
            MKLRegressor().fit(X, y).predict(X[:, :2])


if __name__ == "__main__":
    unittest.main()
