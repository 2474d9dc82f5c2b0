# SPDX-License-Identifier: BSD-3-Clause
"""Model files by their description (docs/formats/model.md), and what they predict, in NumPy.

Only what models of rows hold: dense or sparse views of the whole table or of some columns.
"""

import re
import struct

import numpy as np

EPSILON = float(np.finfo(np.float32).eps)
NORMS = ("none", "diag", "trace", "center")
SCALES = ["none", "center", "standard", "minmax", "maxabs", "scaled"]


class Section:
    """Fields of a section, one behind the other."""

    def __init__(self, content):
        self.content, self.at = content, 0

    def _padded(self, size):
        start, self.at = self.at, self.at + (size + 7) // 8 * 8
        return self.content[start : start + size]

    def u64(self):
        return struct.unpack("<Q", self._padded(8))[0]

    def f64(self):
        return struct.unpack("<d", self._padded(8))[0]

    def text(self):
        return self._padded(self.u64()).decode()

    def array(self, kind, count):
        return np.frombuffer(self._padded(count * np.dtype(kind).itemsize), dtype=kind)


def sections(content):
    count = struct.unpack_from("<Q", content, 24)[0]
    found = {}
    for i in range(count):
        name, start, length, _ = struct.unpack_from("<8sQQQ", content, 32 + 32 * i)
        found[name.rstrip(b"\0").decode()] = Section(content[start : start + length])
    return found


def _view(s):
    view = {"name": (s.text(), s.text(), s.text())[0], "columns": s.u64(), "sparse": s.u64()}
    width = view["width"] = s.u64()
    view["chosen"] = s.array("<u8", width) if s.u64() else np.arange(width)
    scaled = s.u64()
    view["shift"] = s.array("<f4", width) if scaled else np.zeros(width)
    view["factor"] = s.array("<f4", width) if scaled else np.ones(width)
    if s.u64():
        raise NotImplementedError("views with steps")
    view["names"] = [s.text() for _ in range(s.u64())]
    view["scale"] = SCALES[s.u64()]
    view["origin"] = s.array("<f4", width) if s.u64() else np.zeros(width)
    return view


def _kernel(s, rows):
    kernel = {"name": s.text(), "precomputed": s.u64(), "view": s.u64(), "norm": NORMS[s.u64()],
              "by column": s.u64(), "factor": s.f64(), "mean": s.f64()}
    kernel["means"] = s.array("<f4", rows) if s.u64() else None
    return kernel


def _points(s, count, view):
    if not s.u64():
        return None
    width = s.u64()
    if view["sparse"]:
        entries = s.u64()
        starts, index = s.array("<u8", count + 1), s.array("<u4", entries)
        values, dense = s.array("<f4", entries), np.zeros((count, width))
        for row in range(count):
            here = slice(int(starts[row]), int(starts[row + 1]))
            dense[row, index[here]] = values[here]
    else:
        dense = s.array("<f4", count * width).reshape(count, width).astype(np.float64)
    s.array("<f4", count)
    if s.u64():
        s.array("<f4", count)
    return dense + view["origin"].astype(np.float64)


class ModelFile:
    """What a model of rows is made of."""

    def __init__(self, content):
        found = sections(content)
        s = found["kernels"]
        rows = s.u64()
        self.views = [_view(s) for _ in range(s.u64())]
        self.kernels = [_kernel(s, rows) for _ in range(s.u64())]
        s = found["points"]
        self.support = s.array("<u8", s.u64()).astype(int)
        self.points = [_points(s, len(self.support), view) for view in self.views]
        s = found["bodies"]
        outputs = self.outputs = s.u64()
        s.u64()
        biases = s.u64()
        self.bias = s.array("<f8", biases) if biases else np.zeros(outputs)
        self.bodies = []
        for _ in range(s.u64()):
            count, wide = s.u64(), s.u64()
            values = s.array("<f8" if wide else "<f4", count * outputs)
            self.bodies.append(values.reshape(count, outputs).astype(np.float64))
        self.terms = [(s.u64(), s.u64(), s.f64()) for _ in range(s.u64())]

    def rows(self, X, view):
        """Rows of the table as kernels see them."""
        part = np.asarray(X, dtype=np.float32)[:, view["chosen"].astype(int)]
        return (part.astype(np.float64) - view["shift"]) * view["factor"].astype(np.float64)

    def predict(self, X):
        """Outputs of rows, and how large the numbers are that they are sums of."""
        output, size = np.tile(self.bias, (len(X), 1)), np.tile(np.abs(self.bias), (len(X), 1))
        for number, body, factor in self.terms:
            kernel, weights = self.kernels[number], self.bodies[body] * factor
            rows = self.rows(X, self.views[kernel["view"]])
            if kernel["by column"]:
                lengths = np.linalg.norm(rows, axis=1, keepdims=True)
                if kernel["norm"] == "diag":
                    rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
                values, sizes = rows, np.abs(rows)
            else:
                values, sizes = self.values(kernel, rows)
            output += values @ weights
            size += sizes @ np.abs(weights)
        return output, size

    def values(self, kernel, rows):
        points = self.points[kernel["view"]]
        values, sizes = kernel_values(kernel["name"], rows, points)
        if kernel["norm"] == "diag":
            ours, theirs = (
                [kernel_values(kernel["name"], row[None], row[None])[0][0, 0] for row in table]
                for table in (rows, points))
            product = np.sqrt(np.outer(ours, theirs))
            inverse = np.divide(1, product, out=np.zeros_like(product), where=product > 0)
            values, sizes = values * inverse, sizes * inverse
        if kernel["norm"] == "center":
            sizes = sizes + sizes.mean(axis=1, keepdims=True) + np.abs(kernel["means"]) + abs(
                kernel["mean"])
            values = values - values.mean(axis=1, keepdims=True) - kernel["means"] + kernel["mean"]
        return values * kernel["factor"], sizes * kernel["factor"]


def spec_of(text):
    """Name and numbers of a spec such as 'rbf(sigma2=5,norm=diag)@view'."""
    name, inside = re.match(r"(\w+)(?:\(([^)]*)\))?", text).groups()
    given = [item.split("=") for item in (inside or "").split(",") if "=" in item]
    return name, {key.strip(): float(value) for key, value in given if key.strip() != "norm"}


def _gamma(given):
    if "gamma" in given:
        return given["gamma"]
    return 1 / (2 * (given["sigma2"] if "sigma2" in given else given["sigma"] ** 2))


def kernel_values(spec, A, B):
    """Values of a kernel in float64, without its normalisation; and how large the numbers are that
    a float32 rounds on the way, as parts of the value."""
    name, given = spec_of(spec)
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    products = A @ B.T
    lengths = np.outer(np.linalg.norm(A, axis=1), np.linalg.norm(B, axis=1))
    first, second = A[:, None, :], B[None, :, :]
    if name == "bias":
        return np.ones_like(products), np.ones_like(products)
    if name == "linear":
        return products, lengths
    if name == "poly":
        degree, offset = int(given.get("degree", 2)), given.get("offset", 1)
        scale = given.get("scale", 1)
        return (scale * products + offset) ** degree, degree * (
            scale * lengths + abs(offset)) ** degree
    if name == "intersection":
        return np.minimum(first, second).sum(axis=2), np.maximum(first, second).sum(axis=2)
    if name == "bspline":
        # the square of the distance is rounded, and its root the more the smaller it is
        square, h = ((first - second) ** 2).sum(axis=2), given["h"]
        wide = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1)[None, :]
        least = np.sqrt(np.maximum(square, EPSILON * wide) + 1e-30)
        return np.maximum(0, 1 - np.sqrt(square) / h), 1 + least / h + wide / (least * h)
    gamma = _gamma(given)
    if name == "rbf":
        exponent = gamma * ((first - second) ** 2).sum(axis=2)
        wide = gamma * ((A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1)[None, :])
    elif name == "laplace":
        exponent = gamma * np.abs(first - second).sum(axis=2)
        wide = exponent
    elif name == "chi2":
        sums = first + second
        exponent = gamma * np.divide((first - second) ** 2, sums, out=np.zeros_like(sums),
                                     where=sums > 0).sum(axis=2)
        wide = exponent
    else:
        raise NotImplementedError(name)
    return np.exp(-exponent), np.exp(-exponent) * (1 + wide)
