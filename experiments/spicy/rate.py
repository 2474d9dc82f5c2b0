# SPDX-License-Identifier: BSD-3-Clause
"""Theorem 1 of Suzuki and Tomioka (2011): with proximal steps of constant length the objective comes
nearer to its optimum by a constant factor, with steps that grow the factor itself goes to 0."""

import lab
import uci
from lab import common
from panels import Panel, write_panels

# first length, in units of the automatic one, and growth with each outer iteration
LENGTHS = (("0.1", "1"), ("1", "1"), ("10", "1"), ("0.01", "2"), ("0.01", "4"), ("1", "4"))
ITERATIONS = 200
BANK = [*uci.BANK, "--views", "all", "--storage", "float64"]  # as float64 from the beginning on
SMALLEST = 1e-10  # below it is rounding
MARKS = (1, 2, 5, 10, 20, 50, 100, 200)


def name(first, growth):
    return f"{first} x {growth}^t" if growth != "1" else f"{first}, constant"


STYLE = {name(*pair): (common.COLOURS[i], "6 3" if pair[1] == "1" else "")
         for i, pair in enumerate(LENGTHS)}


def measure(laboratory, options, files, folder):
    """{loss: {name: relative excess over the optimum after each outer iteration}}"""
    def one_run(method, pair):
        first, growth = pair
        return laboratory.train(method, [*BANK, "--spicy-gamma", first, "--spicy-growth", growth,
                                         "--gap", "1e-11", "--max-iter", str(ITERATIONS)],
                                files["sonar"], options.limit)

    tasks = [(method, pair) for method in lab.SPICY for pair in LENGTHS]
    measured = laboratory.each(one_run, tasks)
    runs = {(method.name, pair): run for (method, pair), run in zip(tasks, measured)}
    found, panels = {}, []
    for method in lab.SPICY:
        panel = Panel(f"sonar, {method.name}", "outer iteration", "objective above the optimum, relative",
                      x_log=False)
        optimum = max(runs[method.name, pair]["dual"] for pair in LENGTHS)
        for pair in LENGTHS:
            course = [max(e["objective"] / optimum - 1, 0) for e in runs[method.name, pair]["epochs"]]
            found.setdefault(method.name, {})[name(*pair)] = course
            panel.add(name(*pair), [(t, x) for t, x in enumerate(course, 1) if x > SMALLEST])
        panels.append(panel)
    write_panels(folder / "figure8.svg", [panels], STYLE)
    return found


def factors(course):
    """By what the excess is multiplied with an iteration: in the mean over the first and the last
    quarter of the iterations until rounding, and at best."""
    seen = [x for x in course if x > SMALLEST]
    quarter = max(len(seen) // 4, 1)
    if len(seen) < 3:
        return "", "", ""
    early = (seen[quarter] / seen[0]) ** (1 / quarter)
    late = (seen[-1] / seen[-1 - quarter]) ** (1 / quarter)
    return early, late, min(b / a for a, b in zip(seen, seen[1:]))


def report(found):
    parts = ["""## The rate of theorem 1 (figure 8)

Sonar, 27 kernels on all variables: how far the objective is above the optimum, relative, after so many outer iterations,
with proximal steps whose length is constant or grows (`--spicy-gamma`, `--spicy-growth`; in units of the length that
suits the kernels). "Factor": by what an iteration multiplies that distance, in the mean over the first and over the last
quarter of the iterations (until 1e-10, then it is rounding), and at best. With constant steps it comes to
stay; with growing steps it falls towards 0, which is super-linear convergence.
"""]
    for method, courses in found.items():
        rows = []
        for label, course in courses.items():
            cells = [f"{course[mark - 1]:.1e}" if mark <= len(course) else "" for mark in MARKS]
            rows.append([label, *cells, *(f"{x:.2g}" if x != "" else "" for x in factors(course))])
        header = [method, *(f"{mark}" for mark in MARKS), "factor, first", "last", "best"]
        parts.append(common.markdown_table(header, rows))
    return "\n".join(parts)
