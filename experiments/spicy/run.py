#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hundreds and thousands of kernels: table 4 and figures 3 to 6 of Suzuki and Tomioka (SpicyMKL,
Machine Learning 2011), beside other methods of the same command, and time against the number of
kernels far beyond the paper's. 'run.py --help' has the options, ../README.md the rest."""

import argparse
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import common  # noqa: E402
import lab  # noqa: E402
import rate  # noqa: E402
import scaling  # noqa: E402
import uci  # noqa: E402

PARTS = ("uci", "gap", "rate", "kernels", "rows", "beyond")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default=",".join(PARTS),
                        help=f"what to do, of {', '.join(PARTS)} (default all)")
    parser.add_argument("--splits", type=int, default=10, help="of UCI data (default 10)")
    parser.add_argument("--scaling-splits", type=int, default=10,
                        help="of figures 5 and 6 (default 10)")
    parser.add_argument("--C", default="0.05", help="of all but table 4 (default 0.05)")
    parser.add_argument("--gap", default="0.01", help="relative gap to reach (default 0.01)")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS",
                        help="longer runs of other methods are interrupted (default 60)")
    parser.add_argument("--budget", type=float, default=600, metavar="SECONDS",
                        help="no further split of a method at one setting after this time "
                        "(default 600)")
    parser.add_argument("--scaling-budget", type=float, default=60, metavar="SECONDS",
                        help="the same of figures 5 and 6 and of the simplex (default 60)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N",
                        help="runs at a time, of one thread each (default 1, with all processors)")
    parser.add_argument("--continue", dest="go_on", action="store_true",
                        help="take over the runs of results/runs.jsonl, where an earlier call was "
                        "stopped")
    parser.add_argument("--quick", action="store_true", help="1 split, few sizes: a minute")
    parser.add_argument("--publish", action="store_true",
                        help="write table.md and the figures into this folder, not results/")
    options = parser.parse_args()
    options.parts = [part.strip() for part in options.parts.split(",")]
    if not set(options.parts) <= set(PARTS):
        parser.error(f"--parts: choose from {', '.join(PARTS)}")
    if options.jobs < 1:
        parser.error("--jobs: at least 1")
    options.threads = "0" if options.jobs == 1 else "1"
    return sizes(options)


def sizes(options):
    options.fixed_rows, options.fixed_kernels = 200, 20
    options.sets, options.strengths = uci.SETS, uci.STRENGTHS
    options.scaling_sets = scaling.SETS
    options.kernels = (50, 100, 200, 500, 1000, 2000, 4000, 6000)
    options.rows = (500, 1000, 2000, 3000)
    options.many_kernels = (500, 1500, 5000, 15000, 50000)
    options.beyond_splits, options.beyond_limit = 3, 600
    if options.quick:
        options.splits = options.scaling_splits = options.beyond_splits = 1
        options.limit = options.budget = options.scaling_budget = 2
        options.sets, options.strengths = ("sonar",), ("0.05",)
        options.scaling_sets = ("ringnorm",)
        options.kernels, options.rows, options.many_kernels = (50, 500), (500,), (500, 1500)
    return options


def measure(laboratory, options, files, folder):
    """Everything asked for: (report's parts, table.json's)."""
    text, raw = [], {}
    if "uci" in options.parts:
        found = uci.measure(laboratory, options, files)
        uci.figure3(found, folder)
        text.append(uci.report(found))
        raw["uci"] = {data: {C: {name: lab.brief(runs) for name, runs in cell.items()}
                             for C, cell in cells.items()} for data, cells in found.items()}
    if "gap" in options.parts:
        raw["gap"] = uci.figure4(laboratory, options, files["sonar"], folder)
        text.append(uci.report_curves(raw["gap"], options))
    if "rate" in options.parts:
        raw["rate"] = rate.measure(laboratory, options, files, folder)
        text.append(rate.report(raw["rate"]))
    for part, number, label, fixed in (
            ("kernels", 5, "kernels", f"{options.fixed_rows} rows"),
            ("rows", 6, "rows", f"{options.fixed_kernels} kernels")):
        if part in options.parts:
            found = getattr(scaling, f"measure_{part}")(laboratory, options, files)
            scaling.picture(found, folder / f"figure{number}.svg", label)
            text.append(scaling.report(found, scaling_title(part, number, fixed, options), label,
                                       options.scaling_splits))
            raw[part] = brief(found)
    if "beyond" in options.parts:
        found = scaling.measure_beyond(laboratory, options, files)
        scaling.picture_beyond(found, folder / "figure7.svg")
        text.append(scaling.report_beyond(found, options))
        raw["beyond"] = brief(found)
    return text, raw


def brief(found):
    """Two levels of names and one of sizes above the runs."""
    return {a: {b: {size: lab.brief(runs) for size, runs in cells.items()}
                for b, cells in inner.items()} for a, inner in found.items()}


def scaling_title(part, number, fixed, options):
    return (f"## Seconds against the number of {part} (figure {number})\n\n"
            f"{fixed}, C = {options.C}: medians of training time over {options.scaling_splits} "
            "splits, or over as many as stand in brackets, kernels computed beforehand. \"> 61 (run 2)\": the second\n"
            "run was interrupted then; \"stopped\": no larger size was tried after that. Quartiles are in the figure.\n")


def report(options, laboratory, parts):
    missing = "".join(f"- {name}: {why}\n" for name, why in laboratory.left_out.items())
    missing = f"\nLeft out:\n\n{missing}" if missing else ""
    return f"""# Many kernels

Made by `experiments/spicy/run.py`: table 4 and figures 3 to 6 of Suzuki and Tomioka (SpicyMKL, Machine
Learning 2011). Training ends at a relative duality gap of {options.gap}. Seconds are those of training, without reading
and without computing kernels, which the paper does not count either. A run of another method of more than {options.limit:g} s
was interrupted (">", with the gap it had reached); after that, and after {options.budget:g} s at one setting
({options.scaling_budget:g} s in figures 5 and 6 and on the simplex), no further split was run ({laboratory.journal.machines()}).

"spicy" is with the block 1-norm (group-lasso), "elastic t" with the elastic net of that share;
simplemkl, hessianmkl, levelmkl, silp and gauss-seidel minimise the objective of "spicy, hinge", or with "logistic" that of
"spicy, logistic"; "simplex" is the sum of norms squared, as published, with the C that has the same optimum (the paper's
eq. 6). The quadratic programs inside hessianmkl and levelmkl are our own, the linear ones Clp's, and the SVM is LIBSVM: times are not those of
the programs that the paper used. Outer iterations of spicy are proximal steps
as in the paper, but on a working set of the kernels; all kernels are looked at when that set is solved. Kernels have
unit trace. UCI data are scaled to mean 0 and deviation 1; 80 % of the rows train and 20 % test, at random; mean ±
standard deviation over splits. The constant column of ionosphere is kept. The kernels of figures 5 to 7 are
Gaussians of width 5 chi² + 0.1 (one degree of freedom) on random sets of variables, each variable with
probability 1/2, unscaled; the paper does not name the C of these figures, here it is {options.C}.

Figures: [3](figure3.svg) (time, accuracy, active kernels), [4](figure4.svg), [5](figure5.svg),
[6](figure6.svg), [7](figure7.svg) (beyond the paper), [8](figure8.svg) (the rate of theorem 1).
{missing}
""" + "\n".join(part for part in parts if part)


def main():
    options = arguments()
    names = [uci.file_name(data) for data in options.sets]
    names += [scaling.file_name(data) for data in options.scaling_sets]
    files = dict(zip((*options.sets, *options.scaling_sets), common.find_data(*names)))
    folder = HERE if options.publish else HERE / "results"
    with tempfile.TemporaryDirectory(prefix="medley-spicy-") as scratch:
        laboratory = lab.Lab(options, scratch, HERE / "results" / "runs.jsonl")
        try:
            text, raw = measure(laboratory, options, files, folder)
        except common.Failed as failure:
            sys.exit(f"failed: {failure}")
    common.write(folder / "table.md", report(options, laboratory, text))
    common.write_json(HERE / "results" / "table.json",
                      {"C": options.C, "gap": options.gap, "machine": laboratory.journal.machines(),
                       "left_out": laboratory.left_out, **raw})


if __name__ == "__main__":
    main()
