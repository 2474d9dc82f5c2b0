# SPDX-License-Identifier: BSD-3-Clause
"""Ranking, with a structure of one's own in Python: the items of a query get the places 0, 1, 2 ...,
each place once. Every item is a row with features; the best ranking is an assignment of items to
places, which SciPy finds.

    python3 ranking.py
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

import medley

ITEMS = 5


class Ranking(medley.Structure):
    """Outputs: every row of an example has another label."""

    name = "ranking"

    def decode(self, batch):
        outputs = np.zeros(batch.scores.shape[:2], dtype=np.int32)
        for output, scores, length in zip(outputs, batch.scores, batch.lengths):
            items, places = linear_sum_assignment(scores[:length, :length], maximize=True)
            output[items] = places
        return outputs


def make_queries(count, seed):
    """Items with four columns, of which the third and the product of the first two decide."""
    random = np.random.RandomState(seed)
    X = random.randn(count, ITEMS, 4)
    worth = X[:, :, 2] + X[:, :, 0] * X[:, :, 1] + 0.1 * random.randn(count, ITEMS)
    places = np.argsort(np.argsort(-worth, axis=1), axis=1)
    return list(X), places.tolist()


def main():
    X, y = make_queries(300, 1)
    new_X, new_y = make_queries(200, 2)
    kernels = ["linear", "poly(degree=2)", "rbf(sigma2=2)"]
    model = medley.StructuredPredictor(Ranking(), kernels=kernels, penalty="squared-block(q=1.5)")
    model.fit(X, y)
    found = model.predict(new_X)
    assert all(sorted(places) == list(range(ITEMS)) for places in found)
    best = np.mean([places.index(0) == right.index(0) for places, right in zip(found, new_y)])
    print(f"{100 * model.score(new_X, new_y):.1f} % of the items stand in their place, "
          f"{100 * best:.1f} % of the first places are right")
    for name, weight in sorted(zip(model.blocks_, model.weights_), key=lambda pair: -pair[1]):
        print(f"  {name:24} {weight:.3f}")
    model.save("ranking.medley")
    again = medley.StructuredPredictor.load("ranking.medley", structure=Ranking())
    assert again.predict(new_X) == found


if __name__ == "__main__":
    main()
