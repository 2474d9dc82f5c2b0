# SPDX-License-Identifier: BSD-3-Clause
"""MNIST, 12 kernels: seconds against rows with kernels on the fly (figure 2, right), and test error
over time for several numbers of rows (figure 4)."""

import runs
from runs import common, panels

LITTLE = "64M"  # few kernel rows can be kept: nearly all are computed when they are needed
SOME = "1G"
P, C = 1.25, 1
LEARN = runs.obscure(P, C, runs.FIRST, runs.SECOND)
ROWS_STYLE = {f"--memory {memory}": style for memory, style in
              ((SOME, (common.COLOURS[0], "")), (LITTLE, (common.COLOURS[1], "7 3")))}
ROWS_STYLE["updates"] = (common.COLOURS[2], "")
ROWS_STYLE["support rows"] = (common.COLOURS[3], "7 3")


# ---- figure 2, right ----

def measure_rows(laboratory, options):
    """{memory: {rows: result}}"""
    found = {}
    for memory, sizes in ((SOME, options.rows), (LITTLE, options.rows_computed)):
        for rows in sizes if laboratory.has("obscure") else ():
            data = runs.mnist(rows, memory)
            result = laboratory.measure(data, LEARN)
            found.setdefault(memory, {})[rows] = {
                "train": result["seconds"]["train"], "total": result["seconds"]["total"],
                "updates": result["updates"], "support": result["support_rows"],
                "rss": result["peak_rss_mb"], "accuracy": result["accuracy"]}
            print(f"MNIST {rows} rows, {memory}: {result['seconds']['train']:.1f} s, "
                  f"{100 * result['accuracy']:.2f} %", flush=True)
    return found


def is_kept(rows, memory):
    size = {"M": 2**20, "G": 2**30}[memory[-1]] * int(memory[:-1])
    return runs.MNIST_VALUED * rows * rows * 4 <= size


def per_update(cell):
    """Nanoseconds for each update and row: what an update costs beyond being linear in rows."""
    return {rows: 1e9 * r["train"] / r["updates"] / rows for rows, r in cell.items()}


def exponents(memory, cell):
    """Of those sizes at which kernels are computed on the fly."""
    fly = {rows: r for rows, r in cell.items() if not is_kept(rows, memory)}
    series = {"training": {rows: r["train"] for rows, r in fly.items()},
              "updates": {rows: r["updates"] for rows, r in fly.items()},
              "seconds per update": {rows: r["train"] / r["updates"] for rows, r in fly.items()},
              "seconds per update and row": per_update(fly),
              "support rows": {rows: r["support"] for rows, r in fly.items()}}
    return {name: common.exponent(points.items()) for name, points in series.items()}


def picture_rows(found, path):
    left = panels.Panel("MNIST, on the fly", "rows", "training (s)")
    right = panels.Panel("MNIST", "rows", "updates, support rows")
    for memory, cell in found.items():
        left.add(f"--memory {memory}", [(rows, r["train"]) for rows, r in cell.items()])
    for cell in list(found.values())[:1]:
        right.add("updates", [(rows, r["updates"]) for rows, r in cell.items()])
        right.add("support rows", [(rows, r["support"]) for rows, r in cell.items()])
    runs.write_picture(path, [[left, right]], ROWS_STYLE, "Seconds and support rows against rows")


def report_rows(found):
    if not found:
        return ""
    rows_of_table = []
    for memory, cell in found.items():
        for rows, r in cell.items():
            kept = " (all values kept)" if is_kept(rows, memory) else ""
            rows_of_table.append([
                f"{memory}{kept}", f"{rows:,}", f"{r['train']:.2f}", f"{r['updates']:,}",
                f"{1e3 * r['train'] / r['updates']:.3f}", f"{per_update(cell)[rows]:.2f}",
                f"{r['support']:,}", f"{r['rss']:.0f}", f"{100 * r['accuracy']:.2f}"])
        slopes = {name: "" if slope is None else f"**{slope:.2f}**"
                  for name, slope in exponents(memory, cell).items()}
        rows_of_table.append([f"{memory}, on the fly", "exponent", slopes["training"],
                              slopes["updates"], slopes["seconds per update"],
                              slopes["seconds per update and row"], slopes["support rows"], "", ""])
    header = ["--memory", "rows", "training (s)", "updates", "ms per update",
              "ns per update and row", "support rows", "peak memory (MB)", "test accuracy (%)"]
    data = runs.mnist("N", SOME)
    return f"""## The number of rows (figure 2, right)

MNIST, 12 kernels, p = {P:g}, C = {C}, {runs.FIRST} + {runs.SECOND} epochs; kernel values that do not fit `--memory` are computed on the fly.
The exponents are slopes of least-squares lines through logarithms, over the sizes that are computed on the fly; at 64M
few rows can be kept for the next time they change, at 1G more of them the fewer rows there are.
The paper: time is approximately linear in the rows. A change costs a kernel row, as long as there are rows, so with so many epochs
training grows like updates x rows, and updates, like support rows, grow slower than rows; "ns per update and row" is what is left.

    {runs.shown([*LEARN, *data.train])}
    {runs.shown(data.test, "eval")}

{common.markdown_table(header, rows_of_table)}"""


# ---- figure 4 ----

def measure_error(laboratory, options):
    """{rows: {"seconds": [], "accuracy": [], "svm": result, "best": result}}. Test accuracies come
    from a run that stops after every epoch to test; its seconds from one that does not."""
    found = {}
    for rows in options.error_rows if laboratory.has("obscure") else ():
        data = runs.mnist(rows)
        plain = laboratory.train([*LEARN, *data.train])
        tested = laboratory.train([*LEARN, "--dev", data.test[0], "--patience", "1000",
                                   *data.train])
        cell = found[rows] = {"seconds": [e["seconds"] for e in plain["epochs"]],
                              "accuracy": [e["dev_accuracy"] for e in tested["epochs"]],
                              "train": plain["seconds"]["train"],
                              "kernels": plain["seconds"]["kernels"], "lines": {}}
        for method in ("svm", "best"):
            if rows <= options.line_rows:
                result = laboratory.other(data, method)
                if result:
                    cell["lines"][method] = {"accuracy": result["accuracy"],
                                             "train": result["seconds"]["train"]}
        print(f"MNIST {rows} rows: error {100 * (1 - cell['accuracy'][-1]):.2f} %", flush=True)
    return found


LINES = {"svm": ("svm, average kernel", "2 3"), "best": ("best kernel", "9 3 2 3")}


def picture_error(found, path):
    style = {}
    panel = panels.Panel("MNIST, 12 kernels", "training (s)", "test error (%)")
    ends = [s for cell in found.values() for s in (cell["seconds"][0], cell["seconds"][-1])]
    for (rows, cell), colour in zip(found.items(), common.COLOURS):
        name = f"{rows:,} rows"
        style[name] = (colour, "")
        panel.add(name, [(s, 100 * (1 - a)) for s, a in zip(cell["seconds"], cell["accuracy"])])
        for method, line in cell["lines"].items():
            title, dash = LINES[method]
            style[f"{name}: {title}"] = (colour, dash)
            level = 100 * (1 - line["accuracy"])
            panel.add(f"{name}: {title}", [(min(ends), level), (max(ends), level)], marks=False)
    if found:
        runs.write_picture(path, [[panel]], style, "Test error on MNIST against training time")


def report_error(found, options):
    if not found:
        return ""
    rows_of_table = []
    for rows, cell in found.items():
        errors = [100 * (1 - a) for a in cell["accuracy"]]
        best, first = min(errors), len(errors) - runs.SECOND - 1
        soon = next(i for i, e in enumerate(errors) if e <= 1.1 * best)
        rows_of_table.append([
            f"{rows:,}", f"{errors[0]:.2f}", f"{errors[first]:.2f}", f"{errors[-1]:.2f}",
            f"{cell['kernels']:.2f}", f"{cell['seconds'][0]:.2f}", f"{cell['seconds'][first]:.2f}",
            f"{cell['seconds'][-1]:.2f}", f"{cell['seconds'][soon]:.2f}",
            *(f"{100 * (1 - cell['lines'][m]['accuracy']):.2f} ({cell['lines'][m]['train']:.1f} s)"
              if m in cell["lines"] else "" for m in LINES)])
    header = ["rows", "error after 1 epoch (%)", "after stage 1", "after stage 2", "kernels (s)",
              "1 epoch (s)", "stage 1 (s)", "both (s)", "within a tenth of the best (s)",
              "svm, average kernel (%)", "best kernel (%)"]
    data = runs.mnist("N")
    dev = ["--dev", data.test[0], "--patience", "1000"]
    return f"""## Test error over time (figure 4)

MNIST, 12 kernels, p = {P:g}, C = {C}, {runs.FIRST} + {runs.SECOND} epochs, values kept where {runs.MNIST_MEMORY} suffice (up to 11,500 rows), else on the fly.
The errors of epochs come from a run with `--dev`, the seconds from one without. svm and best: `--method`, up to {options.line_rows:,} rows.

    {runs.shown([*LEARN, *data.train])}
    {runs.shown([*LEARN, *dev, *data.train])}

{common.markdown_table(header, rows_of_table)}"""
