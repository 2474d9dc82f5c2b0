#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Handwriting recognition: table 1 and figures 1 and 2 of Martins et al. (AISTATS 2011), and what
else there is to get from these data. 'run.py --help' has the options, ../README.md the rest."""

import argparse
import gzip
import math
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import common  # noqa: E402

from runs import (BEYOND, BY_TYPE, CONTENDERS, CURVE_EPOCHS, EPOCHS, FOLDS, GOAL, LINEAR,  # noqa: E402
                  LQG, OM2, OM2_EPOCHS, PAPER, QUICK_CONTENDERS, TYPE_GROUPS, Laboratory, kernels)


OM2_HEAD = "## OM-2"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", default="0-9", help="training folds, e.g. 0-2 (default 0-9)")
    parser.add_argument("--curve-folds", type=int, default=2, metavar="N",
                        help="folds that the curves of figure 1 are the mean of (default 2)")
    parser.add_argument("--protocol-folds", type=int, default=10, metavar="N",
                        help="folds of the table with C and eta0 chosen as in the paper (default "
                        "10; 0 leaves it out)")
    parser.add_argument("--C", default="10", help="of every row of the paper's table (default 10)")
    parser.add_argument("--eta0", default="1", help="likewise (default 1); auto searches")
    parser.add_argument("--threads", default="0", help="passed on (default 0: all processors)")
    parser.add_argument("--quick", action="store_true", help="one fold, coarse curves")
    parser.add_argument("--only-om2", action="store_true",
                        help="only the rows of OM-2, which replace those of the table")
    parser.add_argument("--resume", action="store_true",
                        help="go on with the runs of an experiment that was stopped "
                        "(results/runs.json)")
    parser.add_argument("--publish", action="store_true",
                        help="write table.md and the figures into this folder, not results/")
    options = parser.parse_args()
    options.folds = common.number_list(options.folds)
    if not options.folds or not set(options.folds) <= set(FOLDS):
        parser.error("--folds: the folds are 0 to 9")
    options.curve_epochs, options.contenders = CURVE_EPOCHS, CONTENDERS
    if options.quick:
        options.folds, options.curve_epochs, options.contenders = [0], (1, 5, 20), QUICK_CONTENDERS
        options.protocol_folds = 0
    options.curve_folds = options.folds[:max(1, options.curve_folds)]
    options.protocol_folds = options.folds[:max(0, options.protocol_folds)]
    return options


def column(runs, key):
    return [run[key] for run in runs]


def row(name, runs, paper=("", "")):
    seconds = common.mean_deviation(column(runs, "seconds"))[0]
    cells = [name, common.percent(column(runs, "characters")), paper[0],
             common.percent(column(runs, "words")), f"{seconds:.2f}", paper[1]]
    print("  ".join(str(cell) for cell in cells if cell != ""), flush=True)
    return cells


def paper_table(lab, options):
    rows, raw = [], {}
    for name, recipe, accuracy, deviation, seconds, _ in PAPER:
        raw[name] = lab.folds(recipe, options.folds)
        rows.append(row(name, raw[name], (f"{accuracy} ± {deviation}", seconds)))
    return rows, raw


def om2_table(lab, options):
    """OM-2 beside SPOM, after one epoch and more."""
    rows, raw = [], {}
    for name, recipe in (*OM2, ("MKL of L, Q, G (SPOM)", LQG)):
        raw[name] = {epochs: lab.folds(recipe, options.folds, epochs) for epochs in OM2_EPOCHS}
        last = raw[name][EPOCHS]
        rows.append([name, *(common.percent(column(raw[name][n], "characters")) for n in OM2_EPOCHS),
                     common.percent(column(last, "words")),
                     f"{common.mean_deviation(column(last, 'seconds'))[0]:.2f}"])
        print("  ".join(rows[-1]), flush=True)
    return rows, raw


def report_om2(options, rows):
    header = ["", *(f"characters right (%) after {n}" for n in OM2_EPOCHS),
              f"words right (%) after {EPOCHS}", "seconds"]
    return f"""
{OM2_HEAD}

The online perceptron with a p-norm over kernels (Jie et al. 2010) that section 5 of the paper compares itself with, in words:
it has no penalty, no C and no rate, so here it is compared by accuracy alone. Kernels as in the first table,
{len(options.folds)} training folds. ({common.machine()})

{common.markdown_table(header, rows)}"""


def replace_om2(path, section):
    """The section of an earlier table, which keeps everything else."""
    text = path.read_text(encoding="utf-8")
    begin = text.find("\n" + OM2_HEAD)
    begin = text.index("\n## Beyond the paper") if begin < 0 else begin
    end = text.index("\n## Beyond the paper")
    common.write(path, text[:begin] + section + text[end:])


def beyond_table(lab, options):
    rows, raw = [], {}
    for name, recipe in BEYOND:
        raw[name] = lab.folds(recipe, options.folds)
        rows.append(row(name, raw[name]))
    return rows, raw


def protocol_table(lab, options):
    rows, raw = [], {}
    for name, recipe, accuracy, deviation, *_ in PAPER if options.protocol_folds else ():
        raw[name] = [lab.chosen(recipe, fold) for fold in options.protocol_folds]
        rows.append([name, common.percent(column(raw[name], "characters")),
                     f"{accuracy} ± {deviation}", common.percent(column(raw[name], "words")),
                     counted(column(raw[name], "C")), counted(column(raw[name], "eta0")),
                     f"{common.mean_deviation(column(raw[name], 'cpu'))[0]:.0f}"])
        print("  ".join(rows[-1]), flush=True)
    return rows, raw


def counted(values):
    """'10 (7), 100 (3)': each value with how often it was chosen."""
    return ", ".join(f"{value:g} ({values.count(value)})" for value in sorted(set(values)))


def linear_table(lab, options):
    """What the row of the linear kernel depends on."""
    linear, raw = kernels(LINEAR), kernels("linear")
    cases = [(f"C {C}, eta0 {eta0}", linear + ["--C", C, "--eta0", eta0])
             for C in (("10",) if options.quick else ("0.1", "10", "1000"))
             for eta0 in ("0.1", "1", "10")]
    cases += [("C 10, eta0 paper, without label pairs",
               linear + ["--C", "10", "--eta0", "paper", "--bigram", "none"]),
              ("C 10, eta0 1, diagonal not 1", raw + ["--C", "10", "--eta0", "1"]),
              ("C 10, eta0 10, diagonal not 1", raw + ["--C", "10", "--eta0", "10"]),
              ("C 10, eta0 10, mean of the iterates",
               linear + ["--C", "10", "--eta0", "10", "--average"])]
    found = {name: lab.folds(recipe, options.folds) for name, recipe in cases}
    if len(options.folds) > 5:
        found["C 10, eta0 0.1 in all folds but two, 1 in those"] = (
            found["C 10, eta0 0.1"][:-2] + found["C 10, eta0 1"][-2:])
    rows = [[name, common.percent(column(runs, "characters"))] for name, runs in found.items()]
    for cells in rows:
        print("  ".join(cells), flush=True)
    return rows, found


def read_words(path):
    """The words of letter.data: (spelling, fold, lines). Column 3 is the next letter's id, -1 at
    the end of a word."""
    words, lines, spelling = [], [], ""
    with gzip.open(path, "rt", encoding="ascii") as stream:
        for line in stream:
            fields = line.split("\t", 6)
            lines.append(line)
            spelling += fields[1]
            if fields[2] == "-1":
                words.append((spelling, int(fields[5]), lines))
                lines, spelling = [], ""
    return words


def write_words(path, words):
    with open(path, "w", encoding="ascii") as stream:
        for _, _, lines in words:
            stream.writelines(lines)
    return str(path)


def unseen_words(words, folds):
    """How many words of the nine other folds are spelt as none of the training fold."""
    spellings = defaultdict(set)
    for spelling, fold, _ in words:
        spellings[fold].add(spelling)
    return sum(f != fold and spelling not in spellings[fold]
               for fold in folds for spelling, f, _ in words)


def type_groups(words):
    """A fifth of the spellings each; every letter must also occur in the four others."""
    spellings = sorted({spelling for spelling, _, _ in words})
    groups = [set(spellings[i::TYPE_GROUPS]) for i in range(TYPE_GROUPS)]
    for group in groups:
        left = set("".join(set(spellings) - group))
        group -= {spelling for spelling in group if not set(spelling) <= left}
    return groups


def by_type(lab, words, options):
    """Split i trains on fold i without the words of group i; the nine other folds are measured
    in two parts: spellings that training had, and those of group i."""
    runs = defaultdict(lambda: {"seen": [], "unseen": []})
    for fold, group in list(enumerate(type_groups(words)))[:1 if options.quick else None]:
        train = [w for w in words if w[1] == fold and w[0] not in group]
        test = [w for w in words if w[1] != fold]
        train_file = write_words(lab.folder / "train.data", train)
        parts = {"seen": [w for w in test if w[0] not in group],
                 "unseen": [w for w in test if w[0] in group]}
        files = {name: write_words(lab.folder / (name + ".data"), part)
                 for name, part in parts.items()}
        for name, recipe in BY_TYPE:
            lab.train(recipe, EPOCHS, train_file)
            for part, path in files.items():
                measured = lab.evaluate(path)
                runs[name][part].append({"characters": measured["accuracy"],
                                         "words": measured["exact_match"]})
    rows = []
    for name, _ in BY_TYPE:
        rows.append([name] + [common.percent(column(runs[name][part], what))
                              for part in ("seen", "unseen") for what in ("characters", "words")])
        print("  ".join(rows[-1]), flush=True)
    return rows, dict(runs)


def figure1(lab, options, folder):
    """Accuracy against the time at which training stops. Shorter training is a prefix of longer:
    the times are those of the longest run, so that they rise."""
    chart = common.Chart("Accuracy against training time", "training time: kernels and epochs (s)",
                         "test accuracy per character (%)", x_log=True)
    curves, number = {}, 0
    for name, recipe, *_, dash in PAPER:
        if dash is None:  # the curve of learned bigrams lies on that of fixed ones
            continue
        means = []
        clock = lab.folds(recipe, options.curve_folds, EPOCHS)
        for epochs in options.curve_epochs:
            runs = lab.folds(recipe, options.curve_folds, epochs)
            seconds = [run["kernels"] + run["epochs"][epochs - 1] for run in clock]
            means.append([epochs, common.mean_deviation(seconds)[0],
                          100 * common.mean_deviation(column(runs, "characters"))[0]])
        curves[name] = means
        chart.add(name, [(s, a) for _, s, a in means], dash, common.COLOURS[number])
        number += 1
    common.write_charts(folder / "figure1.svg", [chart])
    return curves


def figure2(lab, options, folder):
    """Objective and accuracy of SPOM and of wrappers around Pegasos, with the weak penalty of the
    paper's figure 2 (C = 100). A shorter run is the beginning of a longer one, whose clock counts."""
    where = f"C = 100, mean of {len(options.curve_folds)} folds"
    objective = common.Chart("Objective of MKL of L, Q, G (" + where + ")",
                             "training time without kernels, the same for all (s)",
                             "log10 of objective", x_log=True)
    accuracy = common.Chart("Accuracy of the same models", objective.x_label,
                            "test accuracy per character (%)", x_log=True)
    curves = {}
    for name, recipe, lengths in options.contenders:
        recipe = LQG + ["--C", "100", *recipe]
        runs = {n: lab.folds(recipe, options.curve_folds, n) for n in lengths}
        clock = [lab.clock(recipe, fold, max(lengths)) for fold in options.curve_folds]
        curves[name] = [[n, common.mean_deviation([after[n - 1] for after in clock])[0],
                         common.mean_deviation(column(runs[n], "objective"))[0],
                         common.mean_deviation(column(runs[n], "characters"))[0]] for n in lengths]
        objective.add(name, [(s, math.log10(o)) for _, s, o, _ in curves[name]])
        accuracy.add(name, [(s, 100 * a) for _, s, _, a in curves[name]])
        print(name, *(f"{n}: {s:.2f} s {o:.3g} {100 * a:.1f} %" for n, s, o, a in curves[name]),
              sep="\n  ", flush=True)
    common.write_charts(folder / "figure2.svg", [objective, accuracy])
    return curves


def report_figure2(curves):
    """Who reaches the accuracy first, and how much sooner; objectives where the curves end."""
    first = {name: next(((n, s) for n, s, _, a in curve if a >= GOAL), None)
             for name, curve in curves.items()}
    spom, rows = first["SPOM"], []
    for name, curve in curves.items():
        cells = [name, "-", "-", "-"]
        if first[name]:
            factor = first[name][1] / spom[1] if spom else math.nan
            cells = [name, str(first[name][0]), f"{first[name][1]:.2f}", f"{factor:.1f}"]
        at = {n: f"{o:.3g} / {100 * a:.1f}" for n, _, o, a in curve}
        rows.append(cells + [at.get(n, "-") for n in (20, 50, 101, 200, max(at))] + [str(max(at))])
    header = ["", f"epochs to {100 * GOAL:.0f} %", "seconds", "times SPOM's",
              *(f"objective / accuracy (%) after {n}" for n in (20, 50, 101, 200)),
              "at the end", "that is after"]
    return f"""
## The paper's figure 2: wrappers

Gauss-Seidel and SimpleMKL around structured Pegasos, C = 100, the same objective as SPOM's: 20 epochs
for the first SVM, 3 for each of the others, which set out from the one before. Seconds are those of the epochs,
without kernels, each epoch being the shortest of several runs; "-": not in so many epochs, or not looked at. The paper's SPOM
is near the optimum after 20 to 30 epochs, its wrappers after some 100. Epochs of Pegasos become cheap as fewer and
fewer words need a step. ({common.machine()})

{common.markdown_table(header, rows)}"""


def report_protocol(options, rows):
    if not rows:
        return ""
    header = ["kernels", "characters right (%)", "paper", "words right (%)", "C (folds)",
              "eta0 (folds)", "CPU seconds of a fold"]
    return f"""
## The same as the paper chose

For each row and training fold C from 0.1, 1, ... 10,000 by 5-fold cross-validation inside the training
fold, and eta0 from 0.01, 0.1, 1, 10 by the objective after 5 epochs (`--eta0 paper`), in every run anew;
then trained on the whole fold and measured on the nine others. {len(options.protocol_folds)} training folds.

{common.markdown_table(header, rows)}"""


def report_linear(rows):
    return f"""
## The linear kernel

The paper has 71.8 ± 3.9 where we have more, and no other row of it has a deviation above 0.9. What the
row depends on, other things as in the first table:

{common.markdown_table(["", "characters right (%)"], rows)}
It depends on the first rate, and on C only where that is 0.1: with a rate of 0.1 the steps are too short for
20 epochs. Of some 70 settings that were looked at, on test folds and after the fact, none has the paper's mean and its
deviation; those with its mean (strong penalties, a diagonal that is not 1, no label pairs) have less than half of its
deviation. The last line, which was put together to see whether it can be had, has both: rates that differ from fold to
fold would explain the row. But that the paper's rule fell on 0.1 is not known, and ours falls on 1 or 10: as the
paper chose, our row is further from the paper's. So the reason is not established.
"""


def report(options, unseen, paper_rows, sections, beyond_rows, type_rows):
    header = ["kernels", "characters right (%)", "paper", "words right (%)", "seconds", "paper"]
    folds = len(options.folds)
    unseen_says = (f"{unseen} test words are" if unseen else "no test word at all is")
    return f"""# Handwriting recognition

Made by `experiments/ocr/run.py`. 6,877 words, 52,152 characters; trained on one fold, measured on
the nine others, {EPOCHS} epochs; mean ± standard deviation over the training folds ({folds}). Seconds
are those of training on one fold: kernel matrices and all epochs, without reading the file
({common.machine()}).

## The paper's table 1

Every row has C = {options.C} and eta0 = {options.eta0}, where the paper chose C by cross-validation and
eta0 by the objective, for each row. "And bigrams" learns the weight of label pairs, too.

{common.markdown_table(header, paper_rows)}{sections}
## Beyond the paper

Recipes with constants of their own, which this run did not choose: those of the edge directions were
chosen by cross-validation inside folds 0 and 5, among some 150 settings, before any test fold was looked at;
those of the blurred Gaussian came from fold 0 and its test folds. Mind that only 55 distinct words occur in
these data, all of them in every fold: label context acts as a lexicon, and {unseen_says}
spelt unlike all training words. The next table says what is left without that.

{common.markdown_table(header[:2] + header[3:5], [r[:2] + r[3:5] for r in beyond_rows])}
## Words never seen in training

The 55 spellings are divided into {TYPE_GROUPS} groups. Split i trains on fold i without the words of group i
and is measured on the nine other folds, apart for spellings it has seen and for those of group i.
Mean ± standard deviation over the splits.

{common.markdown_table(["label context", "seen spellings: characters (%)", "words (%)",
                        "new spellings: characters (%)", "words (%)"], type_rows)}"""


def main():
    options = arguments()
    (letters,) = common.find_data("ocr/letter.data.gz")
    folder = HERE if options.publish else HERE / "results"
    words = read_words(letters)
    with tempfile.TemporaryDirectory(prefix="medley-ocr-") as scratch:
        lab = Laboratory(options, letters, scratch, HERE / "results" / "runs.json")
        try:
            if options.only_om2:
                section = report_om2(options, om2_table(lab, options)[0])
                return replace_om2(folder / "table.md", section)
            paper_rows, paper = paper_table(lab, options)
            om2_rows, om2 = om2_table(lab, options)
            protocol_rows, protocol = protocol_table(lab, options)
            linear_rows, linear = linear_table(lab, options)
            beyond_rows, beyond = beyond_table(lab, options)
            type_rows, types = by_type(lab, words, options)
            curves = {"figure1": figure1(lab, options, folder),
                      "figure2": figure2(lab, options, folder)}
        except common.Failed as failure:
            sys.exit(f"failed: {failure}")
    unseen = unseen_words(words, options.folds)
    sections = (report_protocol(options, protocol_rows) + report_linear(linear_rows)
                + report_figure2(curves["figure2"]) + report_om2(options, om2_rows))
    common.write(folder / "table.md",
                 report(options, unseen, paper_rows, sections, beyond_rows, type_rows))
    common.write_json(HERE / "results" / "table.json",
                      {"C": options.C, "eta0": options.eta0, "folds": options.folds,
                       "machine": common.machine(), "paper": paper, "om2": om2, "protocol": protocol,
                       "linear": linear, "beyond": beyond, "by_type": types, **curves})


if __name__ == "__main__":
    main()
