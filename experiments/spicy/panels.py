# SPDX-License-Identifier: BSD-3-Clause
"""Many small panels with one legend, either axis logarithmic, spread shown as bars: what comparisons
of several methods on several data sets need and one chart below another does not give."""

import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import common  # noqa: E402

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 330, 250, 62, 30, 12, 46
LEGEND, LETTER = 24, 7  # height of a row of it, and about the width of a letter


class Axis:
    """From values to pixels. A logarithmic axis of more than two decades names the decades only."""

    def __init__(self, values, log, low=None):
        self.log = log
        values = [v for v in values if v > 0] if log else list(values)
        self.low, self.high = (min(values) if low is None else low), max(values)
        if log and self.high < 2 * self.low:
            middle = math.sqrt(self.low * self.high)
            self.low, self.high = middle / 2, 2 * middle
        elif self.high <= self.low:
            self.low, self.high = self.low - 0.5, self.high + 0.5
        margin = 0.06 * (self.map(self.high) - self.map(self.low))
        self.begin, self.end = self.map(self.low) - margin, self.map(self.high) + margin

    def map(self, value):
        return math.log10(value) if self.log else value

    def share(self, value):
        """Where the value lies between the ends of the axis, 0 to 1."""
        at = self.begin if self.log and value <= 0 else self.map(value)
        return min(max((at - self.begin) / (self.end - self.begin), 0), 1)

    def ticks(self):
        if not self.log:
            return common.ticks(self.begin, self.end, False)
        begin, end = 10**self.begin, 10**self.end
        marks = common.ticks(begin, end, True)
        decades = [10.0**e for e in range(math.ceil(self.begin), math.floor(self.end) + 1)]
        return decades if len(decades) > 2 else marks


class Panel:
    """Curves in one frame. A point is (x, y) or (x, y, low, high); the last two draw a bar."""

    def __init__(self, title, x_label, y_label, x_log=True, y_log=True, y_low=None):
        self.title, self.x_label, self.y_label = title, x_label, y_label
        self.x_log, self.y_log, self.y_low, self.curves = x_log, y_log, y_low, []
        self.rules = []

    def add(self, name, points, marks=True):
        points = [p for p in points if p[1] is not None and (p[1] > 0 or not self.y_log)]
        if points:
            self.curves.append((name, sorted(points), marks))

    def rule(self, y):
        """A dashed line across, such as the gap that ends training."""
        self.rules.append(y)

    def svg(self, style):
        points = [p for _, curve, _ in self.curves for p in curve]
        across = Axis([p[0] for p in points], self.x_log)
        up = Axis([y for p in points for y in p[1:]] + self.rules, self.y_log, self.y_low)
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

        def at(x, y):
            return (LEFT + (right - LEFT) * across.share(x),
                    bottom - (bottom - TOP) * up.share(y))

        parts = self.frame(across, up, right, bottom)
        for y in self.rules:
            py = at(points[0][0], y)[1]
            parts.append(f'<path d="M{LEFT} {py:.1f}H{right}" stroke="{common.INK}" '
                         'stroke-dasharray="3 3"/>')
        for name, curve, marks in self.curves:
            parts += draw(curve, at, style[name], marks)
        return "\n".join(parts)

    def frame(self, across, up, right, bottom):
        parts = []
        for x in across.ticks():
            px = LEFT + (right - LEFT) * across.share(x)
            parts += [common.line(px, TOP, px, bottom, common.GRID),
                      common.text(px, bottom + 15, f"{x:g}", size=11)]
        for y in up.ticks():
            py = bottom - (bottom - TOP) * up.share(y)
            parts += [common.line(LEFT, py, right, py, common.GRID),
                      common.text(LEFT - 6, py + 4, f"{y:g}", "end", 11)]
        turn = f' transform="translate(14 {(TOP + bottom) / 2:.0f}) rotate(-90)"'
        return parts + [common.line(LEFT, bottom, right, bottom, common.INK),
                        common.line(LEFT, TOP, LEFT, bottom, common.INK),
                        common.text(LEFT, 18, self.title, "start", 13, ' font-weight="bold"'),
                        common.text((LEFT + right) / 2, bottom + 34, self.x_label, size=11),
                        common.text(0, 0, self.y_label, size=11, extra=turn)]


def draw(curve, at, style, marks):
    colour, dash = style
    stroke = f'stroke="{colour}" stroke-width="1.8"'
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    spots = [at(p[0], p[1]) for p in curve]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    parts = [f'<polyline points="{path}" fill="none" {stroke}{dashes}/>']
    for point, (x, y) in zip(curve, spots):
        if marks:
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>')
        if len(point) == 4:
            low, high = at(point[0], point[2])[1], at(point[0], point[3])[1]
            parts.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 3:.1f} {low:.1f}h6'
                         f'M{x - 3:.1f} {high:.1f}h6" stroke="{colour}" fill="none"/>')
    return parts


def legend(names, style, top, width):
    """Its parts, and how many rows it has."""
    wide = 60 + LETTER * max(map(len, names))
    columns = max(1, (width - LEFT) // wide)
    parts = []
    for i, name in enumerate(names):
        x = LEFT + wide * (i % columns)
        y = top + LEGEND * (i // columns) + 12
        colour, dash = style[name]
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        parts += [f'<line x1="{x}" y1="{y}" x2="{x + 28}" y2="{y}" stroke="{colour}" '
                  f'stroke-width="2"{dashes}/>', common.text(x + 34, y + 4, name, "start")]
    return parts, math.ceil(len(names) / columns)


def write_panels(path, rows, style):
    """rows: lists of panels; style: a curve's name -> (colour, dashes). Panels without curves leave
    their place empty; a picture without any is not written."""
    if not any(panel.curves for row in rows for panel in row):
        return
    shown = {name for row in rows for panel in row for name, _, _ in panel.curves}
    names = [name for name in style if name in shown]
    width = WIDTH * max(len(row) for row in rows)
    key, key_rows = legend(names, style, HEIGHT * len(rows), width)
    height = HEIGHT * len(rows) + LEGEND * key_rows + 12
    body = [f'<g transform="translate({WIDTH * j} {HEIGHT * i})">\n{panel.svg(style)}\n</g>'
            for i, row in enumerate(rows) for j, panel in enumerate(row) if panel.curves]
    body += key
    common.write(path, f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                 f'width="{width}" height="{height}" font-family="sans-serif">\n'
                 '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(body)
                 + "\n</svg>\n")
