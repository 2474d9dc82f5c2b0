# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of the Python package: run.py [NAME...]

Prints a line "ok - NAME", "not ok - NAME" (with what was seen) or "skip - NAME: REASON" for each,
as the scripts in tests/cli do. NAME: run only tests whose name holds it.
"""

import re
import sys
import time
import unittest
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent


def sentence(test):
    name = re.search(r"\.test_(\w+)(.*)$", test.id(), flags=re.S)
    told = test.id() if name is None else name.group(1).replace("_", " ") + name.group(2)
    return f"python: {told}"


class Lines(unittest.TestResult):
    """One line for each test."""

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def addSuccess(self, test):
        print(f"ok - {sentence(test)}", flush=True)
        self.slow(test)

    def slow(self, test):
        seconds = time.monotonic() - self.started
        if seconds > 3:
            print(f"    {seconds:.1f} s", flush=True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"skip - {sentence(test)}: {reason}", flush=True)

    def complain(self, test, error):
        print(f"not ok - {sentence(test)}")
        for line in self._exc_info_to_string(error, test).splitlines()[-40:]:
            print(f"    | {line}")
        sys.stdout.flush()

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.complain(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.complain(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.complain(subtest, error)


def chosen(suite, names):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from chosen(test, names)
        elif not names or any(name in test.id() for name in names):
            yield test


def main():
    sys.path.insert(0, str(HERE))
    warnings.simplefilter("error", ResourceWarning)
    found = unittest.defaultTestLoader.discover(str(HERE), top_level_dir=str(HERE))
    result = Lines()
    unittest.TestSuite(chosen(found, sys.argv[1:])).run(result)
    sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)


if __name__ == "__main__":
    main()
