# SPDX-License-Identifier: BSD-3-Clause
"""What the Python package costs: python.py [--runs N] [LETTERS]

Learns fold 0 of the handwritten words (LETTERS, default $MEDLEY_DATA/ocr/letter.data.gz; generated
words if there is no such file) with three kernels, from NumPy arrays through SequenceLabeler and by
the command with the same options, by turns. Reading is left out of both: of the command its own
figures for kernels and training count, of Python all of fit(), from lists of arrays to the fitted
estimator. Prints the best of all runs and their ratio, which should be below 1.05. Run it with
build-python/venv/bin/python3.
"""

import argparse
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import medley

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("MEDLEY_DATA") or ROOT.parent / "shared" / "data")
KERNELS = ["linear(norm=diag)", "poly(degree=2,norm=diag)", "rbf(sigma2=5)"]


def by_command(command, path, model):
    options = ["--task", "chain", "--C", "10", "--eta0", "1", "--epochs", "20", "--folds", "0"]
    kernels = [part for kernel in KERNELS for part in ("--kernel", kernel)]
    done = subprocess.run(
        [command, "train", "--quiet", "--json", "--model", model, *options, *kernels, str(path)],
        capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    return told["seconds"]["kernels"] + told["seconds"]["train"], told["objective"]


def by_python(X, y):
    model = medley.SequenceLabeler(kernels=KERNELS, C=10, eta0=1, epochs=20)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    told = model.summary()
    return seconds, seconds - told["seconds_kernels"] - told["seconds_train"], model.objective_


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("letters", nargs="?", default=DATA / "ocr" / "letter.data.gz", type=Path)
    parser.add_argument("--runs", default=30, type=int)
    arguments = parser.parse_args()
    command = os.environ.get("MEDLEY") or str(ROOT / "build" / "medley")
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.letters
        if not path.exists():
            path = Path(folder) / "words.data"
            subprocess.run([command, "generate", "handwriting", "--rows", "7000", "--to", "letter",
                            "--output", str(path)], check=True)
        X, y = medley.read(path, folds="0")
        best = [float("inf")] * 3
        for _ in range(arguments.runs):
            theirs, objective = by_command(command, path, f"{folder}/m.medley")
            ours, around, same = by_python(X, y)
            if abs(same - objective) > 1e-6 * abs(objective):
                raise SystemExit(f"different models: objective {objective} and {same}")
            best = [min(pair) for pair in zip(best, (theirs, ours, around))]
    print(f"{len(X)} words, {sum(map(len, y))} letters, {len(KERNELS)} kernels, 20 epochs, "
          f"best of {arguments.runs} runs")
    print(f"command {best[0]:.4f} s (kernels and training)")
    print(f"python  {best[1]:.4f} s (fit; {1e3 * best[2]:.1f} ms around kernels and training)")
    print(f"ratio   {best[1] / best[0]:.3f}")


if __name__ == "__main__":
    main()
