#!/usr/bin/env python3
"""The optimum of a conditional random field by another way: L-BFGS on the whole gradient, as CRFsuite has it.

    bench/crf_peer.py ATTRIBUTES C [ITERATIONS]

ATTRIBUTES: CRFsuite's format, a line for each item (label, then attributes), an empty line after each sequence. Minimises

    mean over sequences of -log p(y | x) + lambda/2 ||w||^2,     lambda = 1 / (C N),

with a weight for each attribute that occurs and label, and one for each pair of labels, in double precision, and prints the objective as it falls.
It is what `medley train --loss logistic --penalty l2 --C C ATTRIBUTES` minimises; CRFsuite's c2 is 1 / (2 C).
"""
import gzip
import sys

import numpy
from scipy import optimize, sparse


def read(path):
    """Sequences of (labels, attributes)."""
    sequences, labels, attributes = [], [], []
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        for line in lines:
            words = line.rstrip("\n").split("\t")
            if words == [""]:
                if labels:
                    sequences.append((labels, attributes))
                labels, attributes = [], []
                continue
            labels.append(words[0])
            attributes.append(words[1:])
    if labels:
        sequences.append((labels, attributes))
    return sequences


class Field:
    """Sequences side by side, position by position: those that are long enough come first."""

    def __init__(self, sequences):
        sequences = sorted(sequences, key=lambda s: -len(s[0]))
        names = {label for labels, _ in sequences for label in labels}
        self.labels = {label: i for i, label in enumerate(sorted(names))}
        self.count = len(sequences)
        longest = len(sequences[0][0])
        self.width = [sum(len(s[0]) > t for s in sequences) for t in range(longest)]
        ids, rows, columns, gold = {}, [], [], []
        for t in range(longest):
            for labels, attributes in sequences[: self.width[t]]:
                for name in attributes[t]:
                    rows.append(len(gold))
                    columns.append(ids.setdefault(name, len(ids)))
                gold.append(self.labels[labels[t]])
        self.x = sparse.csr_matrix((numpy.ones(len(rows)), (rows, columns)), (len(gold), len(ids)))
        self.xt = self.x.T.tocsr()
        self.gold = numpy.array(gold)
        self.begin = numpy.concatenate([[0], numpy.cumsum(self.width)])
        self.size = (len(ids) + len(self.labels)) * len(self.labels)

    def at(self, t, values, width=None):
        return values[self.begin[t]: self.begin[t] + (width or self.width[t])]

    def loss(self, weights):
        """The sum of -log p, and its gradient."""
        k = len(self.labels)
        w = weights.reshape(-1, k)
        pairs = w[-k:]
        score = self.x @ w[:-k]
        exp_pairs, largest = numpy.exp(pairs - pairs.max()), pairs.max()
        peak = score.max(axis=1, keepdims=True)
        emission = numpy.exp(score - peak)
        forward, log_z = numpy.empty_like(score), numpy.zeros(self.count)
        for t, width in enumerate(self.width):
            here = self.at(t, emission)
            if t > 0:
                here = here * (self.at(t - 1, forward, width) @ exp_pairs)
                log_z[:width] += largest
            total = here.sum(axis=1, keepdims=True)
            self.at(t, forward)[:] = here / total
            log_z[:width] += numpy.log(total[:, 0]) + self.at(t, peak)[:, 0]
        marginal, pair_sum = forward.copy(), numpy.zeros((k, k))
        gold_pairs = numpy.zeros((k, k))
        for t in range(len(self.width) - 1, 0, -1):
            width = self.width[t]
            before = self.at(t - 1, forward, width)
            reach = before @ exp_pairs
            ratio = self.at(t, marginal) / numpy.maximum(reach, 1e-300)
            pair_sum += exp_pairs * (before.T @ ratio)
            self.at(t - 1, marginal, width)[:] = before * (ratio @ exp_pairs.T)
            numpy.add.at(gold_pairs, (self.at(t - 1, self.gold, width), self.at(t, self.gold)), 1)
        value = log_z.sum() - score[numpy.arange(len(self.gold)), self.gold].sum() - (gold_pairs * pairs).sum()
        marginal[numpy.arange(len(self.gold)), self.gold] -= 1
        return value, numpy.concatenate([(self.xt @ marginal).ravel(), (pair_sum - gold_pairs).ravel()])


def main(path, C, iterations=300):
    field = Field(read(path))
    strength = 1 / (float(C) * field.count)
    seen = []

    def objective(w):
        loss, gradient = field.loss(w)
        seen.append(loss / field.count + strength / 2 * (w @ w))
        return seen[-1], gradient / field.count + strength * w

    def tell(_):
        if len(seen) % 10 == 0:
            print(f"{len(seen)} evaluations, objective {min(seen):.8g}", flush=True)

    found = optimize.minimize(objective, numpy.zeros(field.size), jac=True, method="L-BFGS-B", callback=tell,
                              options={"maxiter": int(iterations), "maxcor": 10, "ftol": 1e-12, "gtol": 1e-9})
    print(f"objective {found.fun:.10g} after {found.nit} iterations ({found.message})")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
