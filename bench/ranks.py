#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What several ranks gain, and what they compute and exchange beside what docs/scale.md says.

    bench/ranks.py speed [NAME...]      one rank of one thread against 2, 4 ... as many as processors
    bench/ranks.py counts [NAME...]     counters of 2, 4, 8 and 16 ranks against the formulas (small runs)

Names: mnist conll trees spicy. $MEDLEY: the command; $MEDLEY_DATA: real data, and what is not there is
left out. Needs mpirun and the plug-in. Speed: the best of MEDLEY_RUNS (2) runs each, the two kinds
taking turns; efficiency is T1 / (p Tp). Models are compared, too.
"""

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
MEDLEY = str(Path(os.environ.get("MEDLEY") or ROOT / "build" / "medley").resolve())
DATA = Path(os.environ.get("MEDLEY_DATA") or ROOT.parent / "shared" / "data").resolve()
MPIRUN = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
RUNS = int(os.environ.get("MEDLEY_RUNS") or 2)
ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}
IMAGES = ["--method", "obscure", "--p", "1.05", "--C", "100", "--views", "grid:2x2", "--kernel", "linear",
          "--kernel", "poly(degree=2)", "--kernel", "rbf(auto)"]


def problem(name, small):
    """Options and file of a run; the file may be one that has to be generated: (generator, rows)."""
    if name == "mnist":
        rows = "1000" if small else "10000"
        return [*IMAGES, "--memory", "64M" if small else "1G", "--sample", rows], \
            DATA / "mnist" / "train-images-idx3-ubyte.gz"
    if name == "conll":
        sample = ["--sample", "800"] if small else []
        return ["--template", "chunk", "--loss", "logistic", "--batch", "8", *sample], \
            DATA / "conll2000" / "train.txt.gz"
    if name == "trees":
        sample = ["--sample", "1500", "--eta0", "0.1", "--batch", "8"] if small else []
        return ["--epochs", "2", "--unlabelled", *sample], \
            DATA / "ud-english-ewt" / "en_ewt-ud-train.conllu.gz"
    rows, kernels = (300, 400) if small else (1000, 4000)
    return ["--method", "spicy", "--views", f"random:{kernels}:1", "--kernel", "rbf(auto)"], \
        ("ringnorm", rows)


def train(ranks, model, options, file):
    """The summary of a run, with its wall clock in it."""
    start = [] if ranks == 1 else [MPIRUN, "-n", str(ranks)]
    command = [*start, MEDLEY, "train", "--quiet", "--json", "--threads", "1", "--model", model]
    began = time.monotonic()
    done = subprocess.run([*command, *options, str(file)], capture_output=True, text=True,
                          env=ENVIRONMENT, check=False)
    if done.returncode != 0:
        sys.exit(f"{name_of(options)}: {done.stderr}")
    told = json.loads(done.stdout)
    told["wall"] = time.monotonic() - began
    return told


def name_of(options):
    return " ".join(options)


def prepare(name, small, folder):
    options, file = problem(name, small)
    if isinstance(file, tuple):
        generator, rows = file
        file = folder / f"{generator}{rows}.csv"
        subprocess.run([MEDLEY, "generate", generator, "--rows", str(rows), "--output", str(file),
                        "--quiet"], check=True)
    if not file.exists():
        print(f"skipped: {name}, there is no {file}")
        return None
    return options, file


# ---- speed ----

def speed(name, folder):
    found = prepare(name, False, folder)
    if found is None:
        return
    counts = [1, 2]
    while counts[-1] * 2 <= len(os.sched_getaffinity(0)):
        counts.append(counts[-1] * 2)
    best = {}
    for _ in range(RUNS):
        for count in counts:
            told = train(count, str(folder / f"{count}.medley"), *found)
            if count not in best or told["seconds"]["total"] < best[count]["seconds"]["total"]:
                best[count] = told
    first = best[1]["seconds"]["total"]
    for count in counts:
        told = best[count]
        total = told["seconds"]["total"]
        same = (folder / "1.medley").read_bytes() == (folder / f"{count}.medley").read_bytes()
        away = abs(told["objective"] / best[1]["objective"] - 1)
        waiting = told.get("comm", {}).get("seconds", 0)
        print(f"{name:6} {count:3} ranks {total:8.2f} s  efficiency {first / count / total:5.2f}  "
              f"exchanging {waiting:6.2f} s  "
              f"{'the same bytes' if same else f'objective {away:.1e} away'}", flush=True)


# ---- counts ----

def own_share(name, ranks, batch=8, rounds=2000):
    """The share of a round's parts that rank 0 scores: the largest examples are dealt out first, each
    to the rank that has least, so rank 0 has the largest one of each round."""
    file = problem(name, True)[1]
    lengths, words = [], 0
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip() == "":
                lengths.append(words)
                words = 0
            elif not line.startswith("# ") and "-" not in line.split("\t")[0]:
                words += 1
    costs = [n if name == "conll" else n * (n + 1) for n in lengths if n > 0]
    random = Random(1)
    mine = total = 0
    for _ in range(rounds):
        load = [0] * ranks
        for cost in sorted(random.sample(costs, batch), reverse=True):
            load[load.index(min(load))] += cost
        mine += load[0]
        total += sum(load)
    return mine / total


def expected(name, ranks, before):
    """(bytes gotten, work) of rank 0. before: {ranks: counters} of smaller runs, from which numbers
    come that depend on what is learnt: how many rows change, how large gradients and working sets
    are. None: this run is needed for that."""
    two, four = before.get(2), before.get(4)
    if two is None:
        return None
    if name in ("conll", "trees"):
        first, now = own_share(name, 2), own_share(name, ranks)
        told = 8 * two["calls"] / 2  # lengths, from each other rank
        gradients = (two["bytes_gotten"] - told) / (1 - first)
        return gradients * (1 - now) + told * (ranks - 1), two["work"] / first * now
    size = two["bytes_gotten"] * 2 * (ranks - 1) / ranks
    if name == "spicy":
        return size, 2 * two["work"] / ranks
    if four is None:
        return None
    divided = (two["work"] - four["work"]) * 4  # what is left is done by all ranks
    return size, two["work"] - divided / 2 + divided / ranks


def counts(name, folder):
    found = prepare(name, True, folder)
    if found is None:
        return
    before = {}
    for ranks in (2, 4, 8, 16):
        comm = train(ranks, str(folder / "m.medley"), *found)["comm"]
        formula = expected(name, ranks, before)
        before[ranks] = comm
        print(f"{name:6} {ranks:3} ranks  {comm['bytes_gotten'] / 1e6:9.2f} MB gotten, "
              f"{comm['work'] / 1e6:8.1f} million values, {comm['calls']} exchanges", end="")
        if formula is not None:
            print(f";  to the formulas {comm['bytes_gotten'] / formula[0]:.2f}, "
                  f"{comm['work'] / formula[1]:.2f}", end="")
        print(flush=True)


def main():
    known = ["mnist", "conll", "trees", "spicy"]
    words = sys.argv[1:] or ["speed"]
    names = words[1:] or known
    if words[0] not in ("speed", "counts") or not set(names) <= set(known):
        sys.exit(__doc__)
    if MPIRUN is None:
        print("skipped: there is no mpirun (Debian: openmpi-bin)")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            (speed if words[0] == "speed" else counts)(name, Path(folder))


main()
