#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""p-norm multiple kernel learning in two stages: figures 1 to 4 of Orabona, Jie and Caputo
(OBSCURE, CVPR 2010) on public data, and whether more kernels really mean fewer updates.
'run.py --help' has the options, ../README.md the rest."""

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
import runs  # noqa: E402
import combine  # noqa: E402
import compare  # noqa: E402
import many  # noqa: E402
import mnist  # noqa: E402
import norms  # noqa: E402
from runs import common  # noqa: E402

PARTS = ("compare", "norms", "kernels", "rows", "combine", "error")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS),
                        help=f"what to do, of {', '.join(PARTS)} (default all)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", action="store_true",
                      help="all folds, more epochs, up to 60,000 rows; else some minutes")
    size.add_argument("--quick", action="store_true", help="few rows, draws and splits: two minutes")
    parser.add_argument("--limit", type=float, metavar="SECONDS",
                        help="longer runs of other methods are given up (default 60, full 600)")
    parser.add_argument("--threads", default="0", help="passed on (default 0: all processors)")
    parser.add_argument("--publish", action="store_true",
                        help="write table.md and the figures into this folder, not results/")
    options = parser.parse_args()
    options.parts = [part.strip() for part in options.parts.split(",")]
    if not set(options.parts) <= set(PARTS):
        parser.error(f"--parts: choose from {', '.join(PARTS)}")
    return sizes(options)


def sizes(options):
    options.short = not options.full
    options.course_folds = runs.FOLDS if options.full else 2
    options.compare_rows, options.line_rows = 5000, 5000
    options.counts = (1, 3, 6, 12, 24, 42)
    # p, kind of kernels, draws
    options.many = [(1.05, many.UNIT, 5), (1.05, many.CONTROL, 3), (1.25, many.UNIT, 3),
                    (1.25, many.AS_IT_IS, 3), (2, many.UNIT, 3), (2, many.CONTROL, 3)]
    options.most_epochs = 100
    options.rows = (2500, 5000, 10000, 20000)
    options.rows_computed = options.rows
    options.error_rows = (1000, 5000, 10000, 20000)
    options.class_rows, options.splits = (5, 10, 15, 30), 3
    if options.full:
        options.many = [(p, normal, 5) for p in (1.05, 1.25, 1.5, 2)
                        for normal in (many.UNIT, many.CONTROL, many.AS_IT_IS)]
        options.most_epochs = 200
        options.rows = options.rows_computed = (*options.rows, 40000, 60000)
        options.error_rows = (*options.error_rows, 60000)
        options.class_rows, options.splits = (5, 10, 15, 20, 25, 30, 50), 5
    if options.quick:
        options.course_folds, options.compare_rows, options.line_rows = 1, 500, 500
        options.counts, options.many = (1, 6), [(1.25, many.UNIT, 1), (1.25, many.CONTROL, 1)]
        options.rows = options.rows_computed = options.error_rows = (250, 500)
        options.class_rows, options.splits = (5, 10), 1
    if options.limit is None:
        options.limit = 600 if options.full else 2 if options.quick else 60
    return options


def measure(options, folder, scratch):
    """Everything asked for: (what was left out, report's parts, table.json's)."""
    laboratory = runs.Runs(options, scratch)
    text, raw = [], {}
    if "compare" in options.parts:
        raw["compare"] = found = compare.measure(laboratory, options)
        compare.picture(found, folder / "figure1.svg", options)
        text.append(compare.report(found, options))
    if "norms" in options.parts:
        raw["norms"] = found = norms.measure(laboratory, options)
        norms.picture(found, folder / "figure2-left.svg", options)
        text.append(norms.report(found, options))
    if "kernels" in options.parts:
        found = many.measure(laboratory, options)
        many.picture(found, folder / "figure2-middle.svg")
        text.append(many.report(found, options))
        raw["kernels"] = [{"p": p, "kernels": normal, "counts": cell}
                          for (p, normal), cell in found.items()]
    if "rows" in options.parts:
        raw["rows"] = found = mnist.measure_rows(laboratory, options)
        mnist.picture_rows(found, folder / "figure2-right.svg")
        text.append(mnist.report_rows(found))
    if "combine" in options.parts:
        raw["combine"] = found = combine.measure(laboratory, options, scratch)
        combine.picture(found, folder / "figure3.svg")
        text.append(combine.report(found, options))
    if "error" in options.parts:
        raw["error"] = found = mnist.measure_error(laboratory, options)
        mnist.picture_error(found, folder / "figure4.svg")
        text.append(mnist.report_error(found, options))
    return laboratory.left_out, text, raw


def report(options, left_out, parts):
    missing = "".join(f"- {name}: {why}\n" for name, why in left_out.items())
    missing = f"\nLeft out:\n\n{missing}" if missing else ""
    kind = " --full" if options.full else ""
    return f"""# Two stages, p-norms

Made by `experiments/obscure/run.py{kind}`: figures 1 to 4 of Orabona, Jie and Caputo (OBSCURE, CVPR 2010). The paper's
Oxford flowers and Caltech-101 kernels are not redistributed; UCI's Multiple Features (2,000 digits in six views) and
MNIST stand in for them. Seconds of training are without reading and without computing kernels that are kept; those that
are computed on the fly are in them ({common.machine()}).

Figures: [1](figure1.svg), 2 [left](figure2-left.svg), [middle](figure2-middle.svg) and [right](figure2-right.svg),
[3](figure3.svg), [4](figure4.svg). In the commands D is the folder with the data, and

{runs.abbreviations()}
{missing}
""" + "\n".join(part for part in parts if part)


def main():
    options = arguments()
    runs.check_files()
    folder = HERE if options.publish else HERE / "results"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="medley-obscure-") as scratch:
        try:
            left_out, text, raw = measure(options, folder, scratch)
        except common.Failed as failure:
            sys.exit(f"failed: {failure}")
    common.write(folder / "table.md", report(options, left_out, text))
    common.write_json(HERE / "results" / "table.json",
                      {"machine": common.machine(), "left_out": left_out, **raw})


if __name__ == "__main__":
    main()
