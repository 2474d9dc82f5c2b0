# SPDX-License-Identifier: BSD-3-Clause
"""Figure 2, left: what p does to accuracy, over time and in the end, on the six views of mfeat."""

import runs
from runs import common, panels

VALUES = (1.01, 1.05, 1.1, 1.25, 1.5, 1.75, 2)
C = 1
COLOURS = dict(zip(VALUES, (*common.COLOURS[:6], common.COLOURS[7])))
STYLE = {**{f"p = {p:g}{stage}": (COLOURS[p], dash) for p in VALUES
            for stage, dash in (("", ""), (", first stage", "4 3"))},
         "trained on four folds": (common.COLOURS[0], ""),
         "trained on one fold": (common.COLOURS[1], "7 3")}


def stops(options):
    """Epochs of the two stages: the first stage alone, then both."""
    second = (1, 5, runs.SECOND) if options.short else (1, 2, 5, 10, runs.SECOND, 60)
    return [(k, 0) for k in (1, 2, runs.FIRST)], [(runs.FIRST, k) for k in second]


def course(laboratory, data, p, wanted):
    """What each run ends with; seconds are those of the longest, the last, at that epoch."""
    results = [laboratory.measure(data, runs.obscure(p, C, a, b)) for a, b in wanted]
    seconds = [epoch["seconds"] for epoch in results[-1]["epochs"]]
    return [{"seconds": seconds[len(r["epochs"]) - 1], "accuracy": r["accuracy"],
             "weights": sorted((b["weight"] for b in r["blocks"]), reverse=True)}
            for r in results]


def measure(laboratory, options):
    """{p: {"four"|"one": [course of each fold]}}; those trained on one fold have two stops."""
    found = {}
    if not laboratory.has("obscure"):
        return found
    first, second = stops(options)
    for p in VALUES:
        found[p] = {
            "four": [course(laboratory, runs.mfeat(k), p, first + second)
                     for k in range(runs.FOLDS)],
            "one": [course(laboratory, runs.mfeat(k, True), p, [first[-1], second[-1]])
                    for k in range(runs.FOLDS)]}
        print(f"mfeat p {p:g}: " + ", ".join(
            f"trained on {part}: {common.percent(column(courses, -1))} %"
            for part, courses in found[p].items()), flush=True)
    return found


def column(courses, stop, key="accuracy"):
    return [course[stop][key] for course in courses]


def mean(values):
    return common.mean_deviation(list(values))[0]


def curve(courses, part):
    return [(mean(column(courses, i, "seconds")), 100 * mean(column(courses, i))) for i in part]


def picture(found, path, options):
    if not found:
        return
    first, second = map(len, stops(options))
    over_time = panels.Panel(f"mfeat, C = {C}", "training (s)", "test accuracy (%)", y_log=False)
    over_p = panels.Panel(f"mfeat, C = {C}", "p", "test accuracy (%)", x_log=False, y_log=False)
    for p, cell in found.items():
        over_time.add(f"p = {p:g}, first stage", curve(cell["four"], range(first)))
        over_time.add(f"p = {p:g}", curve(cell["four"], range(first - 1, first + second)))
    for part, name in (("four", "trained on four folds"), ("one", "trained on one fold")):
        points = []
        for p, cell in found.items():
            middle, deviation = common.mean_deviation(column(cell[part], -1))
            points.append((p, 100 * middle, 100 * (middle - deviation), 100 * (middle + deviation)))
        over_p.add(name, points)
    runs.write_picture(path, [[over_time, over_p]], STYLE, "Accuracy over time and over p")


def report(found, options):
    if not found:
        return ""
    alone, (first, second) = len(stops(options)[0]) - 1, stops(options)[1][-1]
    rows = []
    for p, cell in found.items():
        four, one = cell["four"], cell["one"]
        rows.append([f"{p:g}", common.percent(column(four, alone)),
                     common.percent(column(four, -1)),
                     common.percent(column(one, 0)), common.percent(column(one, -1)),
                     f"{mean(column(four, alone, 'seconds')):.3f}",
                     f"{mean(column(four, -1, 'seconds')):.3f}",
                     " ".join(f"{mean(w):.2f}" for w in zip(*column(four, -1, "weights")))])
    header = ["p", "first stage, on four folds (%)", "both, on four folds (%)",
              "first stage, on one fold (%)", "both, on one fold (%)", "first stage (s)",
              "both (s)", "weights of kernels, sorted"]
    words = [*runs.obscure("P", C, first, second), *runs.mfeat(0).train]
    return f"""## The effect of p (figure 2, left)

mfeat, six Gaussians, C = {C}, {first} epochs of the first stage and {second} of the second (alone: `--epochs2 0`), mean ± deviation
over 5 folds: trained on four and tested on one, and, which is harder, trained on one and tested on four.
One row more or less right is 0.25 points (0.06) of a fold.

    {runs.shown(words)}
    {runs.shown(runs.mfeat(0).test, "eval")}

{common.markdown_table(header, rows)}"""
