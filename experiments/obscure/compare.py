# SPDX-License-Identifier: BSD-3-Clause
"""Figure 1: objective and accuracy against seconds of training, OBSCURE beside p-norm Pegasos, with
other methods as lines. Every point is a run of its own that ends there, so that the objective is
exact; its seconds are those of the longest run, which goes through the same states."""

import runs
from runs import common, panels

STRENGTHS = (1, 100)  # C of the curves
ALL_STRENGTHS = (1, 10, 100, 1000)  # the paper's
STYLE = {"obscure": (common.COLOURS[0], ""), "obscure, first stage": (common.COLOURS[0], "4 3"),
         "pegasos": (common.COLOURS[1], ""), "average": (common.COLOURS[2], "7 3"),
         "best": (common.COLOURS[7], "7 3"), "svm": (common.COLOURS[3], "2 3"),
         "lp-beta": (common.COLOURS[4], "2 3"), "spom": (common.COLOURS[5], "9 3 2 3"),
         "om2": (common.COLOURS[6], "9 3 2 3")}


def stops(options):
    """[(epochs of the first stage, of the second)], for Pegasos as many in all."""
    second = (1, 3, 10, runs.SECOND) if options.short else (1, 2, 4, 8, 16, runs.SECOND, 60, 100)
    return [(k, 0) for k in (1, 2, runs.FIRST)] + [(runs.FIRST, k) for k in second]


def course(laboratory, data, words):
    """[{epochs, seconds, objective, accuracy, updates}], one for each list of options; the last
    is the longest run."""
    results = [laboratory.measure(data, each) for each in words]
    seconds = [epoch["seconds"] for epoch in results[-1]["epochs"]]
    return [{"epochs": len(r["epochs"]), "seconds": seconds[len(r["epochs"]) - 1],
             "objective": r["objective"], "accuracy": r["accuracy"], "updates": r["updates"],
             "train": r["seconds"]["train"]} for r in results]


def courses(laboratory, data_sets, p, C, options):
    """{method: [course of each data set]}"""
    wanted = stops(options)
    words = {"obscure": [runs.obscure(p, C, a, b) for a, b in wanted],
             "pegasos": [runs.pegasos(p, C, a + b) for a, b in wanted]}
    return {name: [course(laboratory, data, each) for data in data_sets]
            for name, each in words.items() if laboratory.has(name)}


def measure(laboratory, options):
    """{data: {"p":, "C": {C: courses}, "others": {method: [results]}}}"""
    folds, digits = [runs.mfeat(k) for k in range(runs.FOLDS)], [runs.mnist(options.compare_rows)]
    found = {}
    for name, p, data_sets, all_sets in (("mfeat", 1.05, folds[:options.course_folds], folds),
                                         ("MNIST", 1.25, digits, digits)):
        found[name] = {"p": p, "command": data_sets[0].train, "test": data_sets[0].test, "C": {},
                       "others": {}}
        for C in STRENGTHS:
            found[name]["C"][C] = courses(laboratory, data_sets, p, C, options)
            say(name, C, found[name]["C"][C])
        for method in runs.OTHERS:
            results = [laboratory.other(data, method) for data in all_sets]
            if all(results):
                found[name]["others"][method] = [
                    {"accuracy": r["accuracy"], "train": r["seconds"]["train"],
                     "kernels": r["seconds"]["kernels"]} for r in results]
                print(f"{name}: {method} {common.percent([r['accuracy'] for r in results])} %",
                      flush=True)
    found["mfeat"]["strengths"] = strengths(laboratory, options)
    return found


def strengths(laboratory, options):
    """{C: {method: (objective, accuracy)}} of one fold behind all epochs."""
    data, p, (first, second) = runs.mfeat(0), 1.05, stops(options)[-1]
    found = {}
    for C in ALL_STRENGTHS:
        words = {"obscure": runs.obscure(p, C, first, second),
                 "pegasos": runs.pegasos(p, C, first + second)}
        results = {name: laboratory.measure(data, each) for name, each in words.items()
                   if laboratory.has(name)}
        found[C] = {name: (r["objective"], r["accuracy"]) for name, r in results.items()}
    return found


def say(data, C, found):
    for name, each in found.items():
        print(f"{data} C {C}: {name} objective {middle(each, -1, 'objective'):.4g}, "
              f"{100 * middle(each, -1, 'accuracy'):.2f} %", flush=True)


def middle(each, stop, key):
    """Mean over data sets at one stop."""
    return common.mean_deviation([course[stop][key] for course in each])[0]


def curve(each, key, factor=1):
    return [(middle(each, i, "seconds"), factor * middle(each, i, key))
            for i in range(len(each[0]))]


def picture(found, path, options):
    first = sum(second == 0 for _, second in stops(options))
    rows = []
    for name, cell in found.items():
        for C, methods in cell["C"].items():
            title = f"{name}, p = {cell['p']:g}, C = {C}"
            left = panels.Panel(title, "training (s)", "objective")
            right = panels.Panel(title, "training (s)", "test accuracy (%)", y_log=False)
            for method, each in methods.items():
                two = method == "obscure"
                for panel, key, factor in ((left, "objective", 1), (right, "accuracy", 100)):
                    points = curve(each, key, factor)
                    panel.add(method, points[first - 1:] if two else points)
                    if two:
                        panel.add("obscure, first stage", points[:first])
            spots = [point[0] for each in methods.values() for point in curve(each, "accuracy")]
            for method, results in cell["others"].items() if spots else ():
                level = 100 * common.mean_deviation([r["accuracy"] for r in results])[0]
                right.add(method, [(min(spots), level), (max(spots), level)], marks=False)
            rows.append([left, right])
    runs.write_picture(path, rows, STYLE, "Objective and accuracy against seconds of training")


def report(found, options):
    parts = [f"""## Beside Pegasos and other methods (figure 1)

mfeat: six views, a Gaussian each, p = 1.05, mean over {options.course_folds} of 5 folds (others: all 5); MNIST: {options.compare_rows:,} rows drawn from
the training file, 12 kernels, p = 1.25, tested on the 10,000 test digits. Every line is the mean of runs that end after so many
epochs (of obscure: of both stages), with the objective of the model that was returned. The
objectives of the other methods are of other problems; they have their own default C = 10.
"""]
    for name, cell in found.items():
        for words in (runs.obscure(cell["p"], "C", "N1", "N2"), runs.pegasos(cell["p"], "C", "N")):
            parts.append("    " + runs.shown([*words, *cell["command"]]))
        parts.append("    " + runs.shown(cell["test"], "eval") + "\n")
        for C, methods in cell["C"].items():
            parts.append(common.markdown_table(
                [f"{name}, C = {C}", "epochs", "training (s)", "updates", "objective",
                 "test accuracy (%)"], course_rows(methods, options)))
        parts.append(common.markdown_table(
            [f"{name}, others (`--method`)", "kernels (s)", "training (s)", "test accuracy (%)"],
            [[method, f"{mean(results, 'kernels'):.2f}", f"{mean(results, 'train'):.2f}",
              common.percent([r["accuracy"] for r in results])]
             for method, results in cell["others"].items()]))
    parts.append(strength_report(found["mfeat"]["strengths"], options))
    return "\n".join(parts)


def mean(results, key):
    return common.mean_deviation([r[key] for r in results])[0]


def course_rows(methods, options):
    rows = []
    for name, each in methods.items():
        for i, (first, second) in enumerate(stops(options)):
            epochs = f"{first} + {second}" if name == "obscure" else str(first + second)
            rows.append([name, epochs, f"{middle(each, i, 'seconds'):.3f}",
                         f"{middle(each, i, 'updates'):,.0f}",
                         f"{middle(each, i, 'objective'):.4g}",
                         common.percent([course[i]["accuracy"] for course in each])])
    return rows


def strength_report(found, options):
    names = sorted({name for cell in found.values() for name in cell})
    first, second = stops(options)[-1]
    rows = [[f"C = {C}", *(f"{cell[name][part] * (1 if part == 0 else 100):.4g}"
                           for part in (0, 1) for name in names)] for C, cell in found.items()]
    header = [f"mfeat, fold 0, {first + second} epochs", *(f"objective, {name}" for name in names),
              *(f"accuracy (%), {name}" for name in names)]
    text = common.markdown_table(header, rows)
    if names == ["obscure", "pegasos"]:
        ratio = {C: cell["pegasos"][0] / cell["obscure"][0] for C, cell in found.items()}
        text += ("\nThe paper: obscure converges much faster. After as many epochs the objective of "
                 "pegasos is, in objectives of obscure, "
                 + ", ".join(f"{r:.2f} at C = {C}" for C, r in ratio.items()) + ".\n")
    return text
