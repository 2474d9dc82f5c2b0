# SPDX-License-Identifier: BSD-3-Clause
"""Tables of pandas and pictures of matplotlib; both are imported when they are asked for."""

from typing import Any, List, Optional

import numpy as np

from ._checks import whole
from ._optional import needed


def weights_table(blocks: List[Any]) -> Any:
    """A data frame with a line for each block."""
    pandas = needed("pandas", "weights_frame")
    parts = [block.name.rpartition("@") for block in blocks]
    return pandas.DataFrame(
        {
            "block": [block.name for block in blocks],
            "kernel": [before or after for before, _, after in parts],
            "view": [after if at else "" for _, at, after in parts],
            "weight": [block.weight for block in blocks],
            "norm": [block.norm for block in blocks],
            "features": [block.features for block in blocks],
        }
    )


def _axes(ax: Optional[Any], by: str, size: Any) -> Any:
    if ax is not None:
        return ax
    return needed("matplotlib.pyplot", by).subplots(figsize=size, layout="constrained")[1]


def plot_weights(names: List[str], weights: np.ndarray, top: int, ax: Optional[Any]) -> Any:
    """Bars of the largest weights, the largest on top."""
    order = np.argsort(-weights, kind="stable")[: whole("top", top, 1)]
    order = order[weights[order] > 0] if weights.any() else order
    ax = _axes(ax, "plot_weights", (6.4, 1.2 + 0.28 * len(order)))
    places = np.arange(len(order))
    ax.barh(places, weights[order])
    ax.set_yticks(places, [names[i] for i in order])
    ax.invert_yaxis()
    ax.set_xlabel("weight")
    left_out = len(weights) - len(order)
    ax.set_title(f"{len(order)} of {len(weights)} blocks" if left_out else f"{len(order)} blocks")
    return ax


def plot_path(path: Any, top: int, ax: Optional[Any]) -> Any:
    """Weights over the strength of the penalty, from strong (left) to weak; the score beside it."""
    ax = _axes(ax, "Path.plot", (7.2, 4.2))
    most = path.weights.max(axis=0, initial=0)
    order = np.argsort(-most, kind="stable")[: whole("top", top, 1)]
    for i in range(len(path.blocks)):
        named = i in order and most[i] > 0
        style = {"label": path.blocks[i], "marker": "."} if named else {"color": "0.8", "zorder": 1}
        ax.plot(path.lambdas, path.weights[:, i], **style)
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set_xlabel("lambda (strong to weak penalty)")
    ax.set_ylabel("weight")
    if not np.isnan(path.score).all():
        beside = ax.twinx()
        beside.plot(path.lambdas, path.score, "k--", label=path.measure)
        beside.set_ylabel(path.measure)
    if (most > 0).any():
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.15), "ncols": 2}  # off the lines
        ax.legend(fontsize="small", **below)
    return ax
