# SPDX-License-Identifier: BSD-3-Clause
"""Figures 5 and 6 of Suzuki and Tomioka (2011): seconds against the number of kernels and of rows,
Gaussians of random width on random sets of variables; and on to far more kernels."""

import math
import random

import lab
from lab import common
from panels import Panel, write_panels

SETS = ("ringnorm", "splice", "twonorm", "waveform")
METHODS = lab.SPICY + lab.ELASTIC + lab.PEERS + lab.LOGISTIC_PEERS
BEYOND_SET = "ringnorm"
SMALL_MEMORY = "16M"  # fewer bytes than the values of 500 kernels on 200 rows
ENOUGH = 1.25  # memory for all values, and for what is not values


def file_name(data):
    return f"ida/{data}.csv.gz"


def bank(laboratory, kernels, seed):
    """Options for so many kernels. Those of a smaller number are the first of a larger one."""
    draw = random.Random(seed)
    path = laboratory.scratch / f"kernels-{kernels}-{seed}.txt"
    if not path.exists():
        widths = [5 * draw.gauss(0, 1) ** 2 + 0.1 for _ in range(kernels)]
        lab.write_whole(path, "".join(f"rbf(sigma={width:.6g})@random{m}\n"
                                      for m, width in enumerate(widths, 1)))
    return ["--views", f"random:{kernels}:{seed}", "--kernels", str(path), "--normalize", "trace"]


def series(laboratory, options, files, sizes):
    """{data: {method: {size: runs}}}; sizes: a name -> (kernels, rows). A method ends with the size
    at which a run was stopped or took longer than the limit allows."""
    def one_method(data, method):
        found = {}
        for size, (kernels, rows) in sizes.items():
            variants = [[*bank(laboratory, kernels, s), "--sample", str(rows), "--seed", str(s)]
                        for s in range(1, options.scaling_splits + 1)]
            runs = laboratory.repeat(method, variants, files[data], options.limit,
                                     options.scaling_budget)
            if not runs:
                break
            found[size] = runs
            say(data, method.name, kernels, rows, runs)
            if not lab.finished(runs):
                break
        return found

    tasks = [(data, method) for data in options.scaling_sets for method in METHODS]
    found = {data: {} for data in options.scaling_sets}
    for (data, method), cells in zip(tasks, laboratory.each(one_method, tasks)):
        if cells:
            found[data][method.name] = cells
    return found


def say(data, name, kernels, rows, runs):
    median = lab.quartiles(lab.column(runs, "seconds"))[0]
    stopped = "" if lab.finished(runs) else " (stopped)"
    print(f"{data} M {kernels} N {rows}: {name}  {median:.3f} s{stopped}", flush=True)


def measure_kernels(laboratory, options, files):
    sizes = {m: (m, options.fixed_rows) for m in options.kernels}
    return series(laboratory, options, files, sizes)


def measure_rows(laboratory, options, files):
    sizes = {n: (options.fixed_kernels, n) for n in options.rows}
    return series(laboratory, options, files, sizes)


def picture(found, path, label):
    """Medians with quartiles, a panel for each set of data."""
    panels = []
    for data, methods in found.items():
        panel = Panel(data, label, "training time (s)")
        for name, sizes in methods.items():
            points = []
            for size, runs in sizes.items():
                if lab.finished(runs):
                    points.append((size, *lab.quartiles(lab.column(runs, "seconds"))))
            panel.add(name, points)
        panels.append(panel)
    write_panels(path, [panels[:2], panels[2:]] if len(panels) > 2 else [panels], lab.STYLE)


def report(found, title, label, splits):
    parts = [title]
    for data, methods in found.items():
        sizes = sorted({size for cells in methods.values() for size in cells})
        rows = [[name, *(cell(cells.get(size), splits) or "stopped" for size in sizes)]
                for name, cells in methods.items()]
        if rows:
            header = [f"{data}: {label}", *(f"{size:,}" for size in sizes)]
            parts.append(common.markdown_table(header, rows))
    return "\n".join(parts)


def cell(runs, splits):
    """The median, and of how many runs it is if these are fewer than the splits."""
    if not runs:
        return ""
    if not lab.finished(runs):
        return f"> {runs[-1]['seconds']:.0f} (run {len(runs)})"
    median = lab.quartiles(lab.column(runs, "seconds"))[0]
    return f"{median:.3f}" + (f" ({len(runs)})" if len(runs) < splits else "")


# ---- beyond the paper ----

def free_memory():
    """Bytes that are free, or None where the system does not say."""
    try:
        for line in open("/proc/meminfo", encoding="ascii"):
            if line.startswith("MemAvailable"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    return None


def value_bytes(kernels, rows):
    return kernels * rows * (rows + 1) // 2 * 4


def memory_options(kernels, rows):
    """('in memory', ...) where there is enough of it, and ('on demand', ...)."""
    needed, free = ENOUGH * value_bytes(kernels, rows), free_memory()
    if free is None or needed < free:
        yield "in memory", str(int(needed) + 2**26)
    else:
        print(f"skipped: {kernels} kernels in memory: {needed / 1e9:.1f} GB are not free")
    yield "on demand", SMALL_MEMORY


def measure_beyond(laboratory, options, files):
    """{loss: {place: {M: runs}}}"""
    found, rows = {}, options.fixed_rows
    for method in lab.SPICY:
        places = found.setdefault(method.name, {})
        for kernels in options.many_kernels:
            for place, memory in memory_options(kernels, rows):
                variants = [[*bank(laboratory, kernels, s), "--sample", str(rows), "--memory",
                             memory, "--seed", str(s)] for s in range(1, options.beyond_splits + 1)]
                runs = [laboratory.train(method, v, files[BEYOND_SET], options.beyond_limit)
                        for v in variants]
                places.setdefault(place, {})[kernels] = runs
                say(f"{BEYOND_SET}, {place},", method.name, kernels, rows, runs)
    return found


def exponent(points):
    """Slope of the least-squares line through the logarithms."""
    if len(points) < 2:
        return None
    xs, ys = zip(*((math.log(x), math.log(y)) for x, y in points))
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    return (sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys))
            / sum((x - x_mean) ** 2 for x in xs))


def medians(sizes, key):
    return [(m, lab.quartiles(lab.column(runs, key))[0]) for m, runs in sizes.items()
            if lab.finished(runs) and lab.column(runs, key)]


BEYOND_STYLE = {f"{method.name}, {place}": (lab.STYLE[method.name][0], dash)
                for method in lab.SPICY for place, dash in (("in memory", ""), ("on demand", "6 4"))}


def picture_beyond(found, path):
    panel = Panel(BEYOND_SET, "kernels", "training time (s)")
    for name, places in found.items():
        for place, sizes in places.items():
            panel.add(f"{name}, {place}", [(m, *lab.quartiles(lab.column(runs, "seconds")))
                                           for m, runs in sizes.items() if lab.finished(runs)])
    write_panels(path, [[panel]], BEYOND_STYLE)


def report_beyond(found, options):
    rows = []
    for name, places in found.items():
        for place, sizes in places.items():
            for m, runs in sizes.items():
                def middle(key, digits, runs=runs):
                    values = lab.column(runs, key)
                    return f"{lab.quartiles(values)[0]:.{digits}f}" if values else ""

                rows.append([f"{name}, {place}", f"{m:,}",
                             f"{value_bytes(m, options.fixed_rows) / 1e6:,.0f}",
                             middle("seconds_kernels", 2),
                             cell(runs, options.beyond_splits), middle("iterations", 0), middle("passes", 0),
                             middle("active", 0), middle("peak_rss_mb", 0)])
            slope = exponent(medians(sizes, "seconds"))
            rows.append([f"{name}, {place}", "exponent", "", "",
                         "" if slope is None else f"**{slope:.2f}**", "", "", "", ""])
    header = ["method", "kernels", "values (MB)", "kernels (s)", "training (s)", "outer iterations",
              "passes", "active kernels", "peak memory (MB)"]
    return f"""## Beyond the paper: up to {max(options.many_kernels):,} kernels

{BEYOND_SET}, {options.fixed_rows} rows, C = {options.C}; medians of {options.beyond_splits} splits. In memory: all kernel values are computed
first (column "kernels") and kept, in single precision. On demand: with `--memory {SMALL_MEMORY}` values are
computed whenever they are needed and that time is in the column "training"; "kernels" is then what has to be known of every kernel
before. The exponent is the slope of a line through log seconds of training against log kernels.

{common.markdown_table(header, rows)}"""
