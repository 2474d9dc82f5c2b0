# SPDX-License-Identifier: BSD-3-Clause
"""What ``import medley`` loads, and how long that takes."""

import subprocess
import sys
import unittest

import medley

LIMIT = 0.3  # seconds


def told(program):
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return run.stdout.split()


class Import(unittest.TestCase):
    def test_import_loads_the_library_and_none_of_the_packages_that_are_slow_to_load(self):
        loaded = told("import medley, sys; print(*sys.modules)")
        self.assertIn("medley", loaded)
        for name in ["numpy", "scipy", "sklearn", "joblib"]:
            self.assertNotIn(name, loaded)

    def test_import_takes_less_than_a_third_of_a_second(self):
        program = ("import time; start = time.perf_counter(); import medley; "
                   "print(time.perf_counter() - start)")
        # the best of some: other programs may be busy
        self.assertLess(min(float(told(program)[0]) for _ in range(5)), LIMIT)

    def test_every_public_name_is_there_when_it_is_asked_for(self):
        self.assertEqual(told("from medley import *; print(MKLClassifier.__name__)"),
                         ["MKLClassifier"])
        for name in medley.__all__:
            self.assertIn(name, dir(medley))
            self.assertIsNotNone(getattr(medley, name))

    def test_modules_of_the_package_are_there_too(self):
        self.assertEqual(told("import medley; print(medley.classifier.__name__)"),
                         ["medley.classifier"])

    def test_other_names_are_refused(self):
        with self.assertRaisesRegex(AttributeError, "no attribute 'MKLClasifier'"):
            medley.MKLClasifier  # noqa: B018


if __name__ == "__main__":
    unittest.main()
