# SPDX-License-Identifier: BSD-3-Clause
"""Figure 2, middle: does the first stage need fewer updates the more kernels it has? Random subsets
of 42 kernels on mfeat, updates until an epoch's mean loss is small and until none is left, also as a
share of what theorem 2 allows:

    U <= 2 q (1/eta + F^(2/q)) ||u||_{2,p}^2     for any separating u and K(x,x) <= 1.

With K(x,x) <= k that is 2 q (1/eta + k F^(2/q)) ||u||^2; the command takes eta = 2/k. The run that
ended without an update gives a separating u: its own w.

F copies of one kernel act as that kernel with eta F^(2/q) instead of eta, and larger steps alone mean
fewer updates. So there is a control with eta / F^(2/q): what is then gained comes from other kernels,
not from longer steps."""

import math
import random
import statistics

import runs
from runs import common, panels

WIDTHS = (0.25, 1, 4, 16)  # sigma2 of the Gaussians, in columns of the view
LEVELS = (0.05, 0.01, 0)  # mean loss of an epoch; 0: no update is left
UNIT, AS_IT_IS, CONTROL = "K(x,x) = 1", "as they are", "K(x,x) = 1, shorter steps"
STYLE = {f"{name}, {level}": (colour, dash)
         for name, colour in zip((UNIT, AS_IT_IS, CONTROL), common.COLOURS)
         for level, dash in (("loss < 0.05", ""), ("loss < 0.01", "7 3"), ("none left", "2 3"))}


def bank(normal):
    norm = ",norm=diag" if normal != AS_IT_IS else ""
    linear = "linear(norm=diag)" if normal != AS_IT_IS else "linear"
    kernels = []
    for view, columns in runs.MFEAT_COLUMNS.items():
        kernels += [f"{linear}@{view}"]
        kernels += [f"poly(degree={degree}{norm})@{view}" for degree in (2, 3)]
        kernels += [f"rbf(sigma2={columns * width:g})@{view}" for width in WIDTHS]
    return kernels


def subset(normal, count, draw):
    kernels = bank(normal)
    chosen = sorted(random.Random(draw).sample(range(len(kernels)), count))
    return [word for k in chosen for word in ("--kernel", kernels[k])]


def options_of(p, epochs):
    return ["--method", "obscure", "--p", f"{p}", "--epochs1", str(epochs), "--epochs2", "0",
            "--scale", "standard", "--holdout", "0.2"]


def one(laboratory, p, normal, count, draw):
    words = [*options_of(p, laboratory.options.most_epochs), "--seed", str(draw), "--memory", "4G",
             *runs.mfeat_views(), *subset(normal, count, draw)]
    if normal == CONTROL:
        words += ["--eta", f"{2 / count ** (2 - 2 / p):.6g}"]  # 2/q = 2 - 2/p
    result = laboratory.train(words)
    found = {"updates": {level: updates_until(result["epochs"], level) for level in LEVELS},
             "accuracy": result["holdout_accuracy"], "train": result["seconds"]["train"]}
    if found["updates"][0] is not None:
        found["share"] = found["updates"][0] / theorem(p, count, normal, result)
    return found


def updates_until(epochs, level):
    """Updates up to the end of the first epoch below the level; None: it was not reached."""
    total = 0
    for epoch in epochs:
        total += epoch["updates"]
        if epoch["updates"] == 0 or epoch["loss"] < level:
            return total
    return None


def theorem(p, count, normal, result):
    q, eta = p / (p - 1), result["eta0"]
    largest = 2 / eta if normal == AS_IT_IS else 1  # K(x,x)
    norm = sum(block["norm"] ** p for block in result["blocks"]) ** (1 / p)
    return 2 * q * (1 / eta + largest * count ** (2 / q)) * norm * norm


def measure(laboratory, options):
    """{(p, normal): {count: [runs]}}"""
    found = {}
    for p, normal, draws in options.many if laboratory.has("obscure") else ():
        cell = found[p, normal] = {}
        for count in options.counts:
            cell[count] = [one(laboratory, p, normal, count, d) for d in range(1, draws + 1)]
            print(f"mfeat p {p:g}, {normal}, {count} kernels: updates "
                  + ", ".join(told(cell[count], level) for level in LEVELS), flush=True)
    return found


def median(results, level):
    """Infinite where most have not reached the level."""
    values = [math.inf if r["updates"][level] is None else r["updates"][level] for r in results]
    return statistics.median(values)


def told(results, level):
    reached = sum(r["updates"][level] is not None for r in results)
    middle = median(results, level)
    text = "not reached" if middle == math.inf else f"{middle:,.0f}"
    return text if reached == len(results) else f"{text} ({reached} of {len(results)})"


# ---- the verdict ----

MIDDLE = 6  # with fewer kernels some draws have none that is good by itself
CLEAR = 1.1  # ratios nearer to 1 say nothing


def ratios(cell, few, many):
    """Updates with few kernels over those with many, level by level; None: neither got there."""
    found = []
    for level in LEVELS:
        a, b = median(cell[few], level), median(cell[many], level)
        found.append(None if a == b == math.inf else 0.0 if b == math.inf else a / b)
    return found


def judge(found):
    known = [ratio for ratio in found if ratio is not None]
    if not known:
        return "not known"
    if min(known) >= CLEAR:
        return "fewer"
    return "more" if max(known) <= 1 / CLEAR else "about as many"


def spans(cell):
    """From one kernel, and from some, to all of them."""
    return [(few, max(cell)) for few in (min(cell), MIDDLE) if few in cell and few < max(cell)]


def summary(found):
    rows = []
    for (p, normal), cell in found.items():
        row = [f"p = {p:g}, {normal}"]
        for few, many in spans(cell):
            values = ratios(cell, few, many)
            row += ["" if v is None else "0 (never)" if v == 0 else "never before" if v == math.inf
                    else f"{v:.2f}" for v in values] + [judge(values)]
        slope = growth(cell)
        rows.append(row + ["" if slope is None else f"{slope:.2f}"])
    header = ["updates with few kernels / with all"]
    for few, many in spans(next(iter(found.values()))):
        header += [f"{few} to {many}: loss < 0.05", "loss < 0.01", "none left", "updates"]
    return common.markdown_table([*header, "exponent"], rows)


def growth(cell):
    """Exponent of updates until the first level against kernels."""
    return common.exponent([(count, median(results, LEVELS[0])) for count, results in cell.items()
                            if median(results, LEVELS[0]) < math.inf])


def verdict(found):
    """One sentence for each kind of kernels."""
    sentences = []
    for kind in dict.fromkeys(normal for _, normal in found):
        told_of = [f"p = {p:g} " + " and ".join(
            f"{judge(ratios(cell, *span))} from {span[0]} to {span[1]} kernels"
            for span in spans(cell)) for (p, normal), cell in found.items() if normal == kind]
        words = {judge(ratios(cell, *spans(cell)[0])) for (_, normal), cell in found.items()
                 if normal == kind}
        word = {"fewer": "shown", "more": "refuted"}.get(words.pop() if len(words) == 1 else "",
                                                         "not shown")
        sentences.append(f"- {kind}: **{word}**; updates at {'; at '.join(told_of)}.")
    return "\n".join(sentences) + "\n"


# ---- what is written ----

def picture(found, path):
    rows = {}
    for (p, normal), cell in found.items():
        panel = rows.setdefault(p, panels.Panel(f"mfeat, p = {p:g}", "kernels",
                                                "updates of the first stage"))
        for level, name in zip(LEVELS, ("loss < 0.05", "loss < 0.01", "none left")):
            points = [(count, *spread(results, level)) for count, results in cell.items()
                      if median(results, level) < math.inf]
            panel.add(f"{normal}, {name}", points)
    wide = list(rows.values())
    runs.write_picture(path, [wide[:2], wide[2:]] if len(wide) > 2 else [wide], STYLE,
                       "Updates of the first stage against the number of kernels")


def spread(results, level):
    """Median, least and most of those that reached the level."""
    values = [r["updates"][level] for r in results if r["updates"][level] is not None]
    return median(results, level), min(values), max(values)


def table(p, normal, cell):
    rows = []
    for count, results in cell.items():
        shares = [r["share"] for r in results if "share" in r]
        q = p / (p - 1)
        power = count ** (2 / q)
        rows.append([str(count), *(told(results, level) for level in LEVELS),
                     f"{2 * q * (0.5 * (power if normal == CONTROL else 1) + power):.0f}",
                     f"{100 * statistics.median(shares):.3g} %" if shares else "",
                     common.percent([r["accuracy"] for r in results]),
                     f"{statistics.median(r['train'] for r in results):.2f}"])
    header = [f"p = {p:g}, {normal}: kernels", "loss < 0.05", "loss < 0.01", "none left",
              "2q(1/eta + F^(2/q))", "none left / theorem 2", "held-out accuracy (%)",
              "training (s)"]
    return common.markdown_table(header, rows)


def report(found, options):
    if not found:
        return ""
    words = [*options_of("P", options.most_epochs), "--seed", "DRAW", "--memory", "4G",
             *runs.mfeat_views()]
    widths = ", ".join(f"{width:g}" for width in WIDTHS)
    parts = [f"""## The number of kernels (figure 2, middle)

The paper: "the algorithm achieves a given accuracy in less iterations when more kernels are given". Random subsets of 42 kernels
on mfeat (six views x linear, polynomial of degree 2 and 3, Gaussians of four widths: sigma2 = {widths} times the number of columns;
the kernels of draw d of F are those that Python's `random.Random(d).sample(range(42), F)` names).
Updates of the first stage until the mean loss of an epoch is below a value, and until an epoch has none; medians of the
draws, in brackets how many of them came so far in {options.most_epochs} epochs. "{UNIT}": linear and
polynomial kernels with norm=diag, what theorem 2 supposes; "{AS_IT_IS}": without. F copies of one kernel act like that kernel with
steps F^(2/q) times as long, and longer steps alone mean fewer updates: with "shorter steps" (`--eta` 2 / F^(2/q)) only
what other kernels have to say counts. Behind the updates stand the factor of theorem 2 that grows with F, and
updates as a share of what the theorem allows, with the w that was found for u.

    {runs.shown(words)} --kernel K1 --kernel K2 ...
"""]
    parts += [f"The claim, where a ratio below {CLEAR:g} does not count:\n", verdict(found),
              summary(found)]
    parts += [table(p, normal, cell) for (p, normal), cell in found.items()]
    return "\n".join(parts)
