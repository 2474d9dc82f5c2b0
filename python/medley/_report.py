# SPDX-License-Identifier: BSD-3-Clause
"""HTML: reports of the library, whole and inside a notebook, and fitted models as a small table."""

import ctypes
import os
import tempfile
from html import escape
from typing import Any, Sequence, Tuple, Union

from . import _structs as s
from ._errors import UsageError
from ._library import c_text, call

# Nothing inside may run, load, or reach the page around it.
_FRAME = (
    '<iframe sandbox="" srcdoc="{page}" title="{title}" loading="lazy" '
    'style="width: 100%; height: {height}px; border: 1px solid #8888"></iframe>'
)


class Report:
    """A report as ``report`` of a fitted estimator returns it; notebooks show it in the cell.

    There it stands in a frame of its own in which no script runs, so that a notebook is safe with
    reports of any data. The page itself has no scripts and loads nothing.

    Parameters
    ----------
    html : str
        The page.
    title : str
        What the frame is called.

    Attributes
    ----------
    html : str
        The page: one file that needs nothing else.
    title : str
        What the frame is called.

    Examples
    --------
    >>> import medley
    >>> X, y = medley.generate("ringnorm", rows=60, seed=1)
    >>> report = medley.MKLClassifier("rbf(auto)").fit(X, y).report()
    >>> report.html.startswith("<!DOCTYPE html>"), report._repr_html_()[:19]
    (True, '<iframe sandbox="" ')
    """

    def __init__(self, html: str, title: str = "Report of Medley") -> None:
        self.html, self.title = html, title

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path
            The file.
        """
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(self.html)

    def _repr_html_(self, height: int = 640) -> str:
        return _FRAME.format(page=escape(self.html), title=escape(self.title), height=height)

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html)} characters)"


def write_report(model: Any, path: Any, options: Any) -> Report:
    """Writes the report of a model, to a file that passes away where path is None."""
    title = options.title.decode() if options.title else "Report of Medley"
    with tempfile.TemporaryDirectory(prefix="medley-") as folder:
        name = os.path.join(folder, "report.html") if path is None else os.fspath(path)
        call("medley_report_write", model.pointer, c_text(name), ctypes.byref(options))
        with open(name, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return Report(file.read(), title)


def answer_of(name: str, result: Any) -> Any:
    """The library's object behind a Tuning or a Path."""
    kind = {"tuning": "Tuning", "trace": "Path"}[name]
    if type(result).__name__ != kind:
        raise UsageError(f"report: {name} is a {type(result).__name__}, expected a medley.{kind}")
    return result.pointer


def contender_lines(given: Sequence[Tuple[str, float, float]]) -> Any:
    """An array of medley_contender."""
    lines = (s.Contender * max(1, len(given)))()
    for line, one in zip(lines, given):
        if not isinstance(one, (tuple, list)) or len(one) != 3:
            raise UsageError("report: contenders are triples (name, score, seconds)")
        line.name, line.score, line.seconds = c_text(one[0]), one[1], one[2]
    return lines


# ---- fitted models ----

_MOST_LINES = 20
_BAR = '<div style="background: #4a7ebb; height: 0.7em; width: {width:.1f}em"></div>'


def _line(block: Any, largest: float) -> str:
    width = 12 * block.weight / largest if largest > 0 else 0
    return (
        f'<tr><td style="text-align: left">{escape(block.name)}</td>'
        f"<td>{block.weight:.4f}</td><td>{_BAR.format(width=width)}</td></tr>"
    )


def model_html(name: str, told: Any) -> str:
    """A fitted model: what was learnt, how well, and the blocks that count most."""
    blocks = sorted(told["blocks"], key=lambda block: -block.weight)
    active = [block for block in blocks if block.weight > 0]
    shown = (active or blocks)[:_MOST_LINES]
    figures = [f"{len(active)} of {len(blocks)} blocks count", f"objective {told['objective']:.6g}"]
    if told["gap"] == told["gap"]:  # NaN: no certificate
        figures.append(f"gap {100 * told['gap']:.3g} %")
    kinds = f"{told['task']}, {told['loss']}, {told['penalty']}, {told['method']}"
    lines = "".join(_line(block, blocks[0].weight if blocks else 0) for block in shown)
    more = len(active) - len(shown)
    rest = f"<p>and {more} more: <code>weights_frame()</code></p>" if more > 0 else ""
    return (
        f"<div><p><b>{escape(name)}</b> ({escape(kinds)}): {escape(', '.join(figures))}</p>"
        f"<table><thead><tr><th>block</th><th>weight</th><th></th></tr></thead>"
        f"<tbody>{lines}</tbody></table>{rest}</div>"
    )
