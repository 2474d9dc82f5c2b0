#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every experiment, one after the other: all tables and figures from one commit, which is printed
first. 'make experiments' and 'make experiments QUICK=1' call it; README.md beside it has the rest."""

import argparse
import subprocess
import sys
import time
from pathlib import Path

import common

HERE = Path(__file__).resolve().parent
NAMES = ("ocr", "chunking", "parsing", "spicy", "obscure", "theory", "penalties")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a look at each: some minutes, not hours")
    parser.add_argument("--publish", action="store_true",
                        help="write tables and figures into the folders of the scripts, not results/")
    parser.add_argument("--only", default=",".join(NAMES), metavar="NAME",
                        help=f"some of {', '.join(NAMES)}, separated by commas (default all)")
    options = parser.parse_args()
    options.only = [name.strip() for name in options.only.split(",")]
    if not set(options.only) <= set(NAMES):
        parser.error(f"--only: choose from {', '.join(NAMES)}")
    return options


def run(name, options):
    """How it ended, and the seconds it took."""
    begin = time.monotonic()
    given = [word for word in ("--quick", "--publish") if getattr(options, word[2:])]
    child = subprocess.Popen([sys.executable, "-u", str(HERE / name / "run.py"), *given],
                             stdout=subprocess.PIPE, text=True)
    skipped, written = "", 0
    try:
        for line in child.stdout:
            print(f"{name}: {line}", end="", flush=True)
            skipped = line.strip() if line.startswith("skipped: no ") else skipped
            written += line.startswith("wrote ")
        status = child.wait()
    finally:
        child.kill()
    if status != 0:
        return f"failed with status {status}", time.monotonic() - begin
    return ("done" if written else skipped or "nothing written"), time.monotonic() - begin


def main():
    options = arguments()
    print(f"experiments of {common.revision()}, {common.processor()}", flush=True)
    ends = {name: run(name, options) for name in options.only}
    print(f"\n{common.revision()}")
    for name, (how, seconds) in ends.items():
        print(f"  {name:10} {seconds:7.1f} s  {how}")
    bad = [name for name, (how, _) in ends.items() if how.startswith(("failed", "nothing"))]
    sys.exit(f"failed: {', '.join(bad)}" if bad else 0)


if __name__ == "__main__":
    main()
