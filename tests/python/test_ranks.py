# SPDX-License-Identifier: BSD-3-Clause
"""Python programs that mpirun starts: the model of one process, and failures that end all."""

import importlib.util
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import medley  # loads the library
from support import InFolder

MPIRUN = shutil.which("mpirun.openmpi") or shutil.which("mpirun")


def has_plugin():
    """Is one beside the library that was loaded, or in the folder medley there?"""
    maps = Path("/proc/self/maps").read_text().splitlines()
    folder = next(Path(line.split()[-1]).parent for line in maps if "/libmedley.so" in line)
    return any((place / "libmedley-mpi.so").exists() for place in (folder, folder / "medley"))


PROGRAM = """
import sys
import medley
if "mpi4py" in sys.argv:
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
else:
    comm = None
X, y = medley.generate("waveform", rows=90, seed=1)
with medley.Ranks(comm) as ranks:
    model = medley.MKLClassifier(kernels=["rbf(sigma={1,2,4})"], method="obscure",
                                 options={"memory": 1}).fit(X, y)
    score = model.score(X, y)
    learner = medley.MKLClassifier(method="spom", epochs=2)
    tuning = medley.tune(X, y, {"C": [1, 10]}, estimator=learner, cv=3, refit=False)
    for wrong in range(2):
        try:
            medley.MKLClassifier(C=-1).fit(X, y)
        except medley.UsageError:
            pass
    if "fail" in sys.argv and ranks.rank == 1:
        raise ValueError("rank 1 alone")
    if "fail" in sys.argv:
        model.fit(X, y)
if ranks.rank == 0:
    model.save(sys.argv[1])
    print(ranks.size, ranks.counts()["calls"] > 0, score, [t.mean for t in tuning.trials])
"""


@unittest.skipIf(MPIRUN is None or not has_plugin(), "there is no mpirun, or no plug-in for it")
class Ranks(InFolder):
    def run_ranks(self, count, *words):
        program = self.folder / "program.py"
        program.write_text(PROGRAM)
        environment = {
            **os.environ,
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
        }
        start = [] if count == 0 else [MPIRUN, "-n", str(count)]
        done = subprocess.run(
            [*start, sys.executable, str(program), str(self.folder / f"{count}.medley"), *words],
            capture_output=True, text=True, check=False, env=environment, timeout=120,
        )
        return done

    def model(self, count):
        return (self.folder / f"{count}.medley").read_bytes()

    def test_ranks_learn_what_one_process_learns(self):
        alone = self.run_ranks(0)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        together = self.run_ranks(2)
        self.assertEqual(together.returncode, 0, together.stderr)
        self.assertEqual(alone.stdout.split()[:2], ["1", "False"])
        self.assertEqual(together.stdout.split()[:2], ["2", "True"])
        self.assertEqual(alone.stdout.split()[2:], together.stdout.split()[2:])
        self.assertEqual(self.model(0), self.model(2))

    @unittest.skipIf(importlib.util.find_spec("mpi4py") is None, "there is no mpi4py")
    def test_communicators_of_mpi4py(self):
        done = self.run_ranks(2, "mpi4py")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split()[0], "2")

    def test_an_exception_of_one_rank_ends_all(self):
        done = self.run_ranks(2, "fail")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ValueError: rank 1 alone", done.stderr)
        self.assertFalse((self.folder / "2.medley").exists())


class Alone(unittest.TestCase):
    def test_a_process_by_itself_is_rank_0(self):
        with medley.Ranks() as ranks:
            self.assertEqual((ranks.rank, ranks.size), (0, 1))
            self.assertEqual(ranks.counts()["calls"], 0)

    def test_only_communicators_are_taken(self):
        with self.assertRaisesRegex(medley.UsageError, "communicator of mpi4py"):
            medley.Ranks(comm=3)
