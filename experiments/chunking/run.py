#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Chunking (CoNLL-2000): accuracy, speed and size of several learners beside published figures of
other programs; which templates are needed; how small a model can be. What the script chooses it
chooses on the last fifth of the training file; the test file is for the final rows."""

import argparse
import gzip
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import common  # noqa: E402

STEPS = ["--C", "4", "--eta0", "0.1", "--schedule", "constant", "--epochs", "12"]
RIDGE = ["--penalty", "l2", *STEPS, "--average"]
CRF, MARGIN, HINGE = (["--loss", loss, *RIDGE] for loss in ("logistic", "softmax-margin", "hinge"))
# Words around the current one say less, the current word says most.
BLOCK_SCALES = {"U02": 2.83, **dict.fromkeys(("U01", "U03", "U05", "U06"), 1.41),
                **dict.fromkeys(("U00", "U04", "U10", "U11", "U12", "U13", "U14"), 0.71)}
SCALED = [word for name, scale in BLOCK_SCALES.items()
          for word in ("--block-scale", f"{name}={scale}")]

LEARNERS = (
    ("CRF", CRF),
    ("softmax-margin", MARGIN),
    ("CRF, scaled templates", CRF + SCALED),
    ("softmax-margin, scaled templates", MARGIN + SCALED),
    ("hinge", HINGE),
    ("hinge, scaled templates", HINGE + SCALED),
    ("CRF, order 2", CRF + ["--order", "2"]),
)

# Other programs with the same templates: F1, seconds, what else is known.
PEERS = (
    ("CRFsuite, passive-aggressive", "93.51", "8.5", "tagging 144,000 tokens/s"),
    ("CRFsuite, l2sgd", "93.61", "33", ""),
    ("CRFsuite, l-bfgs", "93.60", "75", ""),
    ("CRFsuite, l-bfgs, l1", "93.69", "332", "9,693 active weights, 0.56 MB"),
    ("Wapiti, l-bfgs", "93.71", "102 (CPU)", "1 GB; tagging 50,000 tokens/s"),
)

# Template selection: penalties that choose blocks, each at several strengths (C, large is weak).
SELECTORS = {"mkl": ("1", "0.3", "0.1"), "group-lasso": ("0.01", "0.003", "0.001")}
SELECTOR_STEPS = ["--loss", "logistic", "--eta0", "0.03", "--epochs", "12", "--average"]
RETRAIN = MARGIN
KEPT = (15, 10, 7, 5, 3, 2)
KEPT_TO_CHOOSE = (10, 5)  # lambda is chosen by the mean F1 with so many blocks

TAGGED = 3  # tagging is over in a moment: the best of so many times
SLACK = 0.2  # how much F1 (in points) may be given up for a smaller model
SHRINK = ["--schedule", "sqrt", "--eta0", "5", "--epochs", "20"]
LASSO = ["--loss", "logistic", "--penalty", "l1", *SHRINK]
# The best 10 blocks of a group lasso trained on four fifths; SELECTOR stands for its file.
BEST10 = ["--from", "SELECTOR", "--keep", "10"]
SELECT_BLOCKS = [*SELECTOR_STEPS, "--penalty", "group-lasso", "--C", "0.003"]
SPARSE = dict(
    [(f"CRF, l1, C {c}, min-count {m}", [*LASSO, "--C", c, "--min-count", m])
     for c in ("2", "1", "0.5") for m in ("1", "3")]
    + [(f"CRF, l1, C {c}, min-count {m}, 10 blocks", [*LASSO, "--C", c, "--min-count", m, *BEST10])
       for c in ("2", "1") for m in ("1",)]
    + [(f"CRF, {penalty}, C 2, min-count 3",
        ["--loss", "logistic", "--penalty", penalty, "--C", "2", *SHRINK, "--min-count", "3"])
       for penalty in ("l1+l2",)]
    + [(f"hinge, l2, min-count {m}", [*HINGE, "--min-count", m]) for m in ("1", "3", "5")]
    + [("hinge, l2, min-count 3, 10 blocks", [*HINGE, "--min-count", "3", *BEST10]),
       ("CRF, l2", CRF)])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", default="learners,templates,sparse",
                        help="which parts to run (default learners,templates,sparse)")
    parser.add_argument("--threads", default="1",
                        help="for training (default 1, as the peers); tagging always has one")
    parser.add_argument("--limit", type=float, default=180, metavar="S",
                        help="give up a sparse candidate after S seconds (default 180)")
    parser.add_argument("--quick", action="store_true",
                        help="a tenth of the training sentences, few candidates")
    parser.add_argument("--publish", action="store_true",
                        help="write table.md and the figure into this folder, not results/")
    options = parser.parse_args()
    options.parts = options.parts.split(",")
    if not set(options.parts) <= {"learners", "templates", "sparse"}:
        parser.error("--parts: learners, templates and sparse can be had")
    return options


class Laboratory:
    """Trains and measures, on the whole training file or on four fifths of it."""

    def __init__(self, options, train, test, folder):
        self.medley, self.folder, self.test = common.find_medley(), Path(folder), test
        self.threads, self.quick = ["--threads", options.threads], options.quick
        with gzip.open(train, "rt", encoding="utf-8") as stream:
            sentences = stream.read().strip().split("\n\n")
        sentences = sentences[::10] if options.quick else sentences
        cut = len(sentences) * 4 // 5
        self.whole = self.write("whole.txt", sentences)
        self.fit, self.held_out = (self.write("fit.txt", sentences[:cut]),
                                   self.write("held-out.txt", sentences[cut:]))

    def write(self, name, sentences):
        path = self.folder / name
        path.write_text("\n\n".join(sentences) + "\n\n", encoding="utf-8")
        return str(path)

    def model(self, name="chunks"):
        return str(self.folder / (name + ".medley"))

    def train(self, recipe, data, name="chunks", limit=None):
        recipe = [self.model("selector") if word == "SELECTOR" else word for word in recipe]
        return common.run([self.medley, "train", "--model", self.model(name), "--template",
                           "chunk", *recipe, *self.threads, "--quiet", "--json", data], limit)

    def evaluate(self, data):
        return common.run([self.medley, "eval", "--model", self.model(), "--threads", "1",
                           "--quiet", "--json", data])

    def choose(self, recipe, limit=None):
        """F1 on the held-out fifth and active weights, trained on the rest."""
        trained = self.train(recipe, self.fit, limit=limit)
        return {"f1": 100 * self.evaluate(self.held_out)["chunk"]["f1"],
                "active": sum(block["features"] for block in trained["blocks"])}

    def final(self, recipe):
        """Everything about a recipe trained on the whole training file."""
        trained = self.train(recipe, self.whole)
        measured = max((self.evaluate(self.test) for _ in range(TAGGED)),
                       key=lambda result: result["per_second"])
        tagged = min(common.run([self.medley, "predict", "--model", self.model(), "--threads", "1",
                                 "--output", "/dev/null", "--quiet", self.test])["wall"]
                     for _ in range(TAGGED))
        return {"f1": 100 * measured["chunk"]["f1"], "accuracy": 100 * measured["accuracy"],
                "wall": trained["wall"], "cpu": trained["cpu"], "rss_mb": trained["rss_mb"],
                "active": sum(block["features"] for block in trained["blocks"]),
                "model_mb": trained["model_bytes"] / 1e6,
                "tokens_per_second": measured["per_second"],
                "tokens_per_second_with_files": measured["parts"] / tagged}


def learners(lab):
    rows, raw = [], {}
    for name, recipe in LEARNERS[:2] if lab.quick else LEARNERS:
        held_out, final = lab.choose(recipe), lab.final(recipe)
        raw[name] = {"held_out": held_out, "test": final}
        rows.append([name, f"{held_out['f1']:.2f}", f"{final['f1']:.2f}", f"{final['wall']:.1f}",
                     f"{final['cpu']:.1f}", f"{final['rss_mb']:.0f}", f"{final['model_mb']:.1f}",
                     thousands(final["tokens_per_second"]),
                     thousands(final["tokens_per_second_with_files"])])
        print("  ".join(rows[-1]), flush=True)
    return rows, raw


def thousands(value):
    return f"{round(value, -3):,.0f}"


def ranking(trained):
    """Block names by norm, largest first; the name ends at the colon."""
    blocks = sorted(trained["blocks"], key=lambda block: -block["norm"])
    return [block["name"].split(":")[0] for block in blocks]


def choose_strength(lab, penalty):
    """The C whose ranking of blocks does best on the held-out fifth after retraining."""
    tried = {}
    for strength in SELECTORS[penalty]:
        recipe = [*SELECTOR_STEPS, "--penalty", penalty, "--C", strength]
        kept = any(block["norm"] > 0 for block in lab.train(recipe, lab.fit, "selector")["blocks"])
        scores = [lab.choose([*RETRAIN, "--from", "SELECTOR", "--keep", str(count)])
                  if kept else {"f1": 0} for count in KEPT_TO_CHOOSE]
        tried[strength] = sum(score["f1"] for score in scores) / len(scores)
        print(f"{penalty}, C {strength}: held-out F1 {tried[strength]:.2f}", flush=True)
    return max(tried, key=tried.get), tried


def templates(lab):
    """F1 with the best N blocks, chosen by MKL, by the group lasso, and by the norms of l2."""
    orders, tried = {}, {}
    for penalty in SELECTORS:
        strength, tried[penalty] = choose_strength(lab, penalty)
        recipe = [*SELECTOR_STEPS, "--penalty", penalty, "--C", strength]
        orders[f"{penalty} (C {strength})"] = ranking(lab.train(recipe, lab.whole))
    orders["norms of l2"] = ranking(lab.train(CRF, lab.whole))
    everything = lab.final(RETRAIN)
    count = len(next(iter(orders.values())))
    curves = {name: {count: everything["f1"]} for name in orders}
    sizes = {count: everything["model_mb"]}
    for name, order in orders.items():
        for kept in KEPT:
            final = lab.final([*RETRAIN, "--blocks", ",".join(order[:kept])])
            curves[name][kept] = final["f1"]
            if name.startswith("mkl"):
                sizes[kept] = final["model_mb"]
        print(name, curves[name], flush=True)
    return orders, tried, curves, sizes


def template_chart(folder, curves):
    chart = common.Chart("Chunking with fewer templates", "blocks kept (label pairs are one)",
                         "F1 on the test file (%)", x_low=0)
    for name, points in curves.items():
        chart.add(name, points.items(), "6 4" if name.startswith("norms") else "")
    common.write_charts(folder / "figure1.svg", [chart])


def sparse(lab, limit):
    """The model with the fewest active weights within SLACK of the best held-out F1."""
    tried = {}
    lab.train(SELECT_BLOCKS, lab.fit, "selector")
    for name, recipe in list(SPARSE.items())[:2 if lab.quick else None]:
        try:
            tried[name] = lab.choose(recipe, limit)
            print(f"{name}: held-out F1 {tried[name]['f1']:.2f}, {tried[name]['active']:,} active",
                  flush=True)
        except common.Failed as failure:
            tried[name] = None
            print(f"{name}: {failure}", flush=True)
    done = {name: result for name, result in tried.items() if result}
    best = max(result["f1"] for result in done.values())
    near = [name for name, result in done.items() if result["f1"] >= best - SLACK]
    chosen = min(near, key=lambda name: done[name]["active"])
    return tried, best, chosen, lab.final(SPARSE[chosen])


def report_learners(rows):
    header = ["learner", "F1, held-out fifth", "F1, test", "wall s", "CPU s", "peak MB",
              "model MB", "tokens/s", "tokens/s with files"]
    peers = "\n".join(f"| {' | '.join(peer)} |" for peer in PEERS)
    return f"""## Learners

All have averaged weights, l2 penalty and the constants in the script, which this run did not choose.
"Tokens/s" is tagging as the command reports it (one thread; features, scores, decoding); "with files" is the whole `predict`
process on the test file, from reading the model to the last line written. The best of {TAGGED} times.

{common.markdown_table(header, rows)}
For comparison, other programs with the same templates, measured apart from this run:

| program | F1, test | seconds | else |
|---|--:|--:|---|
{peers}
"""


def report_templates(orders, tried, curves, sizes):
    counts = sorted(next(iter(curves.values())), reverse=True)
    rows = [[count, *(f"{curve[count]:.2f}" for curve in curves.values()), f"{sizes[count]:.2f}"]
            for count in counts]
    lists = "\n".join(f"- {name}: {' '.join(order)}" for name, order in orders.items())
    chosen = "; ".join(f"{penalty} " + ", ".join(f"C {c}: {f1:.2f}" for c, f1 in result.items())
                       for penalty, result in tried.items())
    return f"""## Which templates are needed

Blocks (19 templates and the label pairs) are ranked by their norms in a model trained with the
penalty of the column's head; then a softmax-margin model (l2, averaged) is trained with the first N alone.
The strength C of the two sparse penalties was chosen by the mean F1 on the held-out fifth with
{" and ".join(str(k) for k in KEPT_TO_CHOOSE)} blocks: {chosen}.

{common.markdown_table(["blocks kept", *(name + ": F1" for name in curves), "model MB (first)"], rows)}
Order of the blocks:

{lists}
"""


def report_sparse(tried, best, chosen, final):
    rows = [[name, f"{result['f1']:.2f}" if result else "out of time",
             f"{result['active']:,}" if result else ""] for name, result in tried.items()]
    return f"""## How small a model can be

Trained on four fifths of the training file, measured on the last fifth. The best has F1
{best:.2f} there; the fewest active weights within {SLACK} of it: **{chosen}**. Trained on the whole
training file it has **F1 {final['f1']:.2f}** on the test file with **{final['active']:,} active weights**,
{final['model_mb']:.2f} MB ({final['cpu']:.1f} s CPU). "10 blocks" are the first of a group lasso.

{common.markdown_table(["model", "F1, held-out fifth", "active weights"], rows)}"""


def main():
    options = arguments()
    train, test = common.find_data("conll2000/train.txt.gz", "conll2000/test.txt.gz")
    folder = HERE if options.publish else HERE / "results"
    text, raw = [], {}
    with tempfile.TemporaryDirectory(prefix="medley-chunking-") as scratch:
        lab = Laboratory(options, train, test, scratch)
        try:
            if "learners" in options.parts:
                rows, raw["learners"] = learners(lab)
                text.append(report_learners(rows))
            if "templates" in options.parts:
                found = templates(lab)
                raw["templates"] = dict(zip(("orders", "held_out", "f1", "model_mb"), found))
                template_chart(folder, found[2])
                text.append(report_templates(*found))
            if "sparse" in options.parts:
                found = sparse(lab, options.limit)
                raw["sparse"] = dict(zip(("held_out", "best", "chosen", "test"), found))
                text.append(report_sparse(*found))
        except common.Failed as failure:
            sys.exit(f"failed: {failure}")
    raw["machine"] = common.machine()
    head = f"""# Chunking, CoNLL-2000

Made by `experiments/chunking/run.py`. Built-in templates `chunk`; training with {options.threads} thread(s)
({raw["machine"]}).

What this run chooses (the strength of the selecting penalties, the smallest model) it chooses on the
last fifth of the training file, and it reads the test file for the final rows only. The constants
that stand in the script were fixed before: the steps of the l1 runs and the ranges of C after a few
trials whose F1 on the test file was seen.

"""
    common.write(folder / "table.md", head + "\n".join(text))
    common.write_json(HERE / "results" / "table.json", raw)


if __name__ == "__main__":
    main()
