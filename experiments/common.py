# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments share: finding the command and the data, running and measuring the
command, and writing tables (Markdown, JSON) and line charts (SVG). Standard library only."""

import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# A terminated experiment ends its child and removes its scratch folder, too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))


def skip(reason):
    """An experiment without its data is no failure: say what is missing and leave."""
    print("skipped: " + reason)
    sys.exit(0)


def find_medley():
    path = Path(os.environ.get("MEDLEY") or ROOT / "build" / "medley")
    if not os.access(path, os.X_OK):
        skip(f"no command {path}; build it with 'make', or name it in $MEDLEY")
    return str(path)


def find_data(*names):
    folder = Path(os.environ.get("MEDLEY_DATA") or ROOT.parent / "shared" / "data")
    paths = [folder / name for name in names]
    for path in paths:
        if not path.is_file():
            skip(f"no data file {path}; put it there, or name the data folder in $MEDLEY_DATA")
    return [str(path) for path in paths]


def listed_methods(medley):
    """Names of the methods that this command has."""
    listed = subprocess.run([medley, "list", "methods"], stdout=subprocess.PIPE, text=True,
                            check=True).stdout
    return {line.split()[0] for line in listed.splitlines() if line.startswith("  ")}


class Failed(Exception):
    """The command ended with an error or ran out of time."""


def run(command, limit=None):
    """Runs the command (a list); returns its JSON output with the child's own wall and CPU
    seconds and peak memory added as 'wall', 'cpu' and 'rss_mb'."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen(command, stdout=out, stderr=err)
        try:
            status, usage = wait(child, start + limit if limit else math.inf)
        except BaseException:
            child.kill()
            child.wait()
            raise
        wall = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        if os.waitstatus_to_exitcode(status) != 0:
            message = err.read().decode(errors="replace").strip()
            raise Failed(f"{' '.join(command)}\n  {message}")
        text = out.read()
    result = json.loads(text) if text.startswith(b"{") else {}
    result.update(wall=wall, cpu=usage.ru_utime + usage.ru_stime, rss_mb=usage.ru_maxrss / 1024)
    return result


def wait(child, deadline):
    """wait4 gives the usage of this child alone; with a deadline it has to be polled."""
    if deadline == math.inf:
        _, status, usage = os.wait4(child.pid, 0)
    else:
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                raise Failed(f"out of time: {' '.join(child.args)}")
            time.sleep(0.01)
    child.returncode = os.waitstatus_to_exitcode(status)
    return status, usage


def mean_deviation(values):
    """Mean and standard deviation of a sample (0 for a single value)."""
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def exponent(points):
    """Slope of the least-squares line through the logarithms of (x, y); None below two points."""
    points = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in points}) < 2:
        return None
    x_mean, y_mean = (statistics.fmean(values) for values in zip(*points))
    return (sum((x - x_mean) * (y - y_mean) for x, y in points)
            / sum((x - x_mean) ** 2 for x, _ in points))


def percent(values):
    """'87.5 ± 0.3' from fractions; the deviation only where there are several."""
    mean, deviation = mean_deviation(values)
    return f"{100 * mean:.1f}" + (f" ± {100 * deviation:.1f}" if len(values) > 1 else "")


def number_list(text):
    """'0-3,7' -> [0, 1, 2, 3, 7]"""
    numbers = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip())
        if not match:
            raise ValueError(f"{part!r} is neither a number nor a range such as 0-3")
        numbers += range(int(match[1]), int(match[2] or match[1]) + 1)
    return numbers


def processor():
    model = "unknown processor"
    try:
        for line in open("/proc/cpuinfo", encoding="utf-8"):
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{os.cpu_count()} processors ({model})"


def revision():
    """The commit that the figures belong to; 'and changes' where files differ from it."""
    def git(*arguments):
        return subprocess.run(["git", "-C", str(ROOT), *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ":!experiments/*/*.svg",
                      ":!experiments/*/table.md")
        return f"commit {git('rev-parse', '--short=10', 'HEAD')}" + (" and changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "no commit known"


BEGUN = revision()  # the tree may go on while an experiment runs


def machine():
    """One line on where and when the figures came about."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return f"{processor()}, load average {load:.1f} at the end; {BEGUN}"


def markdown_table(header, rows):
    """The first column is text, all others are numbers and aligned right."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "--:|" * (len(header) - 1)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path}")


def write_json(path, value):
    write(path, json.dumps(value, indent=1) + "\n")


# Line charts. Colours that remain apart for colour-blind readers (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c510a")
INK, GRID = "#333333", "#e4e4e4"


def ticks(low, high, log):
    if log:
        marks = [m * 10.0**e for e in range(-6, 7) for m in (1, 2, 5)]
        return [mark for mark in marks if low * 0.999 <= mark <= high * 1.001]
    step = 10.0 ** math.floor(math.log10((high - low) / 4))
    step *= max(m for m in (1, 2, 5) if m == 1 or (high - low) / (m * step) >= 4)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]


class Chart:
    """One panel of curves. A curve is a name, points (x, y), and optionally a dash pattern or a
    colour; the legend stands right of the panel."""

    WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 420, 70, 48, 230, 58

    def __init__(self, title, x_label, y_label, x_log=False, x_low=None, y_low=None):
        self.title, self.x_label, self.y_label, self.x_log = title, x_label, y_label, x_log
        self.x_low, self.y_low, self.curves = x_low, y_low, []

    def add(self, name, points, dash="", colour=None, marks=True):
        points = [(x, y) for x, y in points if x is not None and y is not None]
        if points:
            colour = colour or COLOURS[len(self.curves) % len(COLOURS)]
            self.curves.append((name, sorted(points), dash, colour, marks))

    def scale(self):
        xs = [x for curve in self.curves for x, _ in curve[1]]
        ys = [y for curve in self.curves for _, y in curve[1]]
        x_low, x_high = (min(xs) if self.x_low is None else self.x_low), max(xs)
        y_low = min(ys) if self.y_low is None else self.y_low
        margin = 0.04 * ((max(ys) - y_low) or 1.0)
        bounds = (math.log(x_low), math.log(x_high)) if self.x_log else (x_low, x_high)
        bounds = bounds if bounds[1] > bounds[0] else (bounds[0] - 1, bounds[1] + 1)
        pad = 0.03 * (bounds[1] - bounds[0])
        return bounds[0] - pad, bounds[1] + pad, y_low - margin, max(ys) + margin

    def svg(self):
        x0, x1, y0, y1 = self.scale()
        width = self.WIDTH - self.LEFT - self.RIGHT
        height = self.HEIGHT - self.TOP - self.BOTTOM

        def at(x, y):
            x = math.log(x) if self.x_log else x
            return (self.LEFT + width * (x - x0) / (x1 - x0),
                    self.TOP + height * (y1 - min(max(y, y0), y1)) / (y1 - y0))

        right, bottom = self.LEFT + width, self.TOP + height
        x_range = (math.exp(x0), math.exp(x1)) if self.x_log else (x0, x1)
        parts = []
        for x in ticks(*x_range, self.x_log):
            px = at(x, y0)[0]
            parts += [line(px, self.TOP, px, bottom, GRID), text(px, bottom + 18, f"{x:g}")]
        for y in ticks(y0, y1, False):
            py = at(x_range[0], y)[1]
            parts += [line(self.LEFT, py, right, py, GRID),
                      text(self.LEFT - 8, py + 4, f"{y:g}", "end")]
        parts += [line(self.LEFT, bottom, right, bottom, INK),
                  line(self.LEFT, self.TOP, self.LEFT, bottom, INK),
                  text(self.LEFT, 26, self.title, "start", 15, ' font-weight="bold"'),
                  text((self.LEFT + right) / 2, bottom + 42, self.x_label),
                  text(0, 0, self.y_label, extra=' transform="translate(18 '
                       f'{(self.TOP + bottom) / 2:.0f}) rotate(-90)"')]
        for index, (name, points, dash, colour, marks) in enumerate(self.curves):
            spots = [at(x, y) for x, y in points]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
            stroke = f'stroke="{colour}" stroke-width="2"'
            stroke += f' stroke-dasharray="{dash}"' if dash else ""
            parts.append(f'<polyline points="{path}" fill="none" {stroke}/>')
            if marks:
                parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'
                          for x, y in spots]
            row = self.TOP + 14 + 22 * index
            parts += [f'<line x1="{right + 16}" y1="{row}" x2="{right + 44}" y2="{row}" {stroke}/>',
                      text(right + 50, row + 4, name, "start")]
        return "\n".join(parts)


def line(x1, y1, x2, y2, colour):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{colour}" stroke-width="1"/>')


def text(x, y, content, anchor="middle", size=12, extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{INK}"{extra}>{escape(content)}</text>')


def write_charts(path, charts):
    """The charts below each other in one file."""
    charts = [chart for chart in charts if chart.curves]
    if not charts:
        return
    height = Chart.HEIGHT * len(charts)
    body = "".join(f'<g transform="translate(0 {Chart.HEIGHT * i})">\n{chart.svg()}\n</g>\n'
                   for i, chart in enumerate(charts))
    write(path, f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {Chart.WIDTH} {height}" '
          f'width="{Chart.WIDTH}" height="{height}" font-family="sans-serif">\n'
          f'<rect width="100%" height="100%" fill="#ffffff"/>\n{body}</svg>\n')
