# SPDX-License-Identifier: BSD-3-Clause
"""Optima of small problems with weights, sums of terms and groups against an independent solver."""

import json
import tempfile
import unittest
import warnings
from pathlib import Path

import numpy as np
from certificates import Logistic, Penalty, Squared, SquaredNorm, Sum, Weighted, optimum
from medley import MedleyError, MKLClassifier, MKLRegressor, UsageError
from support import InFolder, command, needs_command

PENALTIES = {
    "group-lasso": Penalty(linear=1),
    "mkl": SquaredNorm(1),
    "elastic(t=0.3)": Penalty(linear=0.7, square=0.3),
    "block(q=1.5)": Penalty(power=1, q=1.5),
    "squared-block(q=1.5)": SquaredNorm(1.5),
}
SUMS = {
    "group-lasso+0.5*l2": Penalty(linear=1, square=0.5),
    "0.5*group-lasso+block(q=1.5)": Penalty(linear=0.5, power=1, q=1.5),
    "block(q=1.2)+2*l2": Penalty(square=2, power=1, q=1.2),
    "block(q=3)+0.3*group-lasso": Penalty(linear=0.3, power=1, q=3),
    "mkl+0.2*group-lasso": Sum(SquaredNorm(1), Penalty(linear=0.2)),
    "squared-block(q=1.5)+0.5*l2": Sum(SquaredNorm(1.5), Penalty(square=0.5)),  # Kloft's
    "elastic-mkl(s=0.3)": Sum(SquaredNorm(1, 0.7), Penalty(square=0.3)),
    "0.5*squared-block(q=1.2)+block(q=1.5)": Sum(SquaredNorm(1.2, 0.5), Penalty(power=1, q=1.5)),
    "2*mkl+elastic(t=0.5)": Sum(SquaredNorm(1, 2), Penalty(linear=0.5, square=0.5)),
    "squared-block(q=2)+block(q=4)": Sum(SquaredNorm(2), Penalty(power=1, q=4)),
}
LOSSES = {"logistic": Logistic(), "squared": Squared()}


def problem(seed, groups=(1, 2, 3, 2)):
    """Groups of columns, of which some matter; signs and numbers."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(40, sum(groups))).astype(np.float32).astype(float)
    scores = X[:, 0] + 2 * X[:, 1] - X[:, 4] + 0.5 * random.normal(size=40)
    ends = np.cumsum([0, *groups])
    return random, X, [list(range(a, b)) for a, b in zip(ends[:-1], ends[1:])], scores


def views_of(groups):
    return {f"v{i}": columns for i, columns in enumerate(groups)}


def named(weights):
    return [f"linear@v{i}={weight!r}" for i, weight in enumerate(weights)]


class References(unittest.TestCase):
    def distance(self, seed, loss, text, penalty, block_weight=None, **settings):
        """How far the objective of spicy is from the optimum, relative to it."""
        random, X, groups, scores = problem(seed)
        labels = loss == "logistic"
        kind = MKLClassifier if labels else MKLRegressor
        C = 10.0 ** random.uniform(-1, 1)
        model = kind("linear", method="spicy", loss=loss, penalty=text, C=C, gap=1e-8,
                     block_weight=block_weight, views=views_of(groups), scale="none",
                     **settings).fit(X, (scores > 0) * 1 if labels else scores)
        y = np.where(scores > 0, 1.0, -1.0) if labels else scores
        best = optimum(X, y, groups, 1 / (C * len(X)), LOSSES[loss], penalty)
        self.assertLess(model.gap_, 1.001e-8, f"{seed}, {text}")
        return abs(model.objective_ / best - 1)

    def test_ten_problems_with_random_weights(self):
        worst = 0
        for seed in range(10):
            text = list(PENALTIES)[seed % 5]
            loss = list(LOSSES)[seed // 5]
            weights = list(np.round(10 ** np.random.default_rng(seed).uniform(-0.7, 0.7, 4), 3))
            penalty = PENALTIES[text]
            if loss == "logistic" and isinstance(penalty, SquaredNorm):
                penalty = SquaredNorm(float(penalty.q), 0.5)  # two vectors, w and -w
            distance = self.distance(seed, loss, text, Weighted(penalty, weights),
                                     named([float(w) for w in weights]))
            self.assertLess(distance, 1e-6, f"{text}, {loss}, {weights}")
            worst = max(worst, distance)
        print(f"references with weights: {worst:.2g} at most from the optimum")

    def test_ten_problems_with_sums_of_terms(self):
        for seed, (text, penalty) in enumerate(SUMS.items()):
            for loss in LOSSES:
                g = penalty
                if loss == "logistic" and isinstance(penalty, Sum):
                    g = Weighted(penalty, [0.5**0.5] * 4)  # two vectors, w and -w
                with self.subTest(text=text, loss=loss):
                    distance = self.distance(20 + seed, loss, text, g)
                    print(f"{text}, {loss}: {distance:.2g} from the optimum")
                    self.assertLess(distance, 1e-6)

    @needs_command
    def test_powers_take_one_outer_step(self):
        _, X, _, scores = problem(6)
        with tempfile.TemporaryDirectory() as folder:
            data, model = Path(folder) / "data.csv", Path(folder) / "model"
            rows = np.c_[X, np.where(scores > 0, 1, 0)]
            np.savetxt(data, rows, delimiter=",", fmt=["%.6g"] * X.shape[1] + ["%d"])
            for penalty in ("block(q=1.1)", "block(q=1.5)", "block(q=2)", "block(q=3)",
                            "block(q=10)", "block(q=1.5)+0.5*l2"):
                told = json.loads(command(
                    "train", "--model", model, "--json", "--quiet", "--method", "spicy", "--loss",
                    "logistic", "--penalty", penalty, "--C", 0.3, "--gap", 1e-6, "--views", "each",
                    "--kernel", "rbf(sigma=1)", data))
                self.assertEqual(told["iterations"], 1, penalty)
                self.assertLess(told["gap"], 1e-6)

    def test_sums_of_terms_with_weights(self):
        weights = [0.5, 2.0, 1.25, 3.0]
        penalty = Weighted(SUMS["squared-block(q=1.5)+0.5*l2"], weights)
        distance = self.distance(5, "squared", "squared-block(q=1.5)+0.5*l2", penalty,
                                 named(weights))
        self.assertLess(distance, 1e-6)


class Groups(InFolder):
    """Nested and overlapping groups of blocks."""

    def fit(self, text, **settings):
        _, X, groups, scores = problem(4)
        file = self.folder / "groups.txt"
        file.write_text(text)
        return MKLClassifier("linear(explicit)", method="spom", loss="logistic", C=1, epochs=3000,
                             views=views_of(groups), scale="none", **settings, options={
                                 "groups": file, "batch": 40, "schedule": "constant",
                                 "eta0": 0.02, "radius": "none"}).fit(X, scores > 0)

    def check(self, text, members, weights, left):
        """members: views of each group. left: blocks that stay."""
        _, X, groups, scores = problem(4)
        model = self.fit(text)
        columns = [sum((groups[v] for v in views), []) for views in members]
        # the norm of a block is that of two vectors w and -w, for v = 2 w
        best = optimum(X, np.where(scores > 0, 1.0, -1.0), columns, 1 / len(X), Logistic(),
                       Weighted(Penalty(linear=1), np.array(weights) / np.sqrt(2)), bias=False)
        distance = model.objective_ / best - 1
        print(f"groups: {distance:.2g} from the optimum")
        self.assertLess(abs(distance), 1e-4)
        self.assertEqual(list(np.flatnonzero(model.norms_)), left)

    def test_nested_groups_reach_the_optimum(self):
        self.check("outer inner,linear(explicit)@v3 12\ninner linear(explicit)@v2 3\n"
                   "all outer,linear(explicit)@v0,linear(explicit)@v1 0.5\n# a comment\n\n"
                   "one linear(explicit)@v1 1",
                   [[2, 3], [2], [0, 1, 2, 3], [1]], [12, 3, 0.5, 1], [0, 1])

    def test_overlapping_groups_reach_the_optimum(self):
        self.check("a linear(explicit)@v0,linear(explicit)@v1 1\n"
                   "b linear(explicit)@v1 linear(explicit)@v2 2\n"
                   "c linear(explicit)@v2,linear(explicit)@v3,linear(explicit)@v0 1.5",
                   [[0, 1], [1, 2], [2, 3, 0]], [1, 2, 1.5], [0, 1, 2, 3])

    def test_mistakes_have_a_sentence_each(self):
        for text, words in (
            ("a linear*,nobody 1", "groups.txt:1: group 'a' names 'nobody', which is neither a block"),
            ("a linear* 1\nb c 1\nc b 1", "groups.txt:3: group 'b' is inside of itself by way of"),
            ("a a 1", "groups.txt:1: group 'a' is inside of itself"),
            ("a linear* -1", "groups.txt:1: the weight of group 'a' is '-1'; it must be"),
            ("a linear* 0", "the weight of group 'a' is '0'"),
            ("a linear* inf", "the weight of group 'a' is 'inf'"),
            ("a linear* heavy", "the weight of group 'a' is 'heavy'"),
            ("a linear*", "groups.txt:1: 'a linear\\*' is no group; write a name"),
            ("a linear* 1\n\na linear* 2", "groups.txt:3: group 'a' is there already, in line 1"),
            ("linear(explicit)@v0 linear* 1", "has the name of a block"),
            ("# nothing", "there are no groups in this file"),
        ):
            with self.subTest(text=text):
                with self.assertRaisesRegex(MedleyError, words):
                    self.fit(text)
        with self.assertRaisesRegex(UsageError, "has weights of its own and no place for block_weight"):
            self.fit("a linear* 1", block_weight="linear*=2")
        with self.assertRaisesRegex(UsageError, "certify needs a penalty whose conjugate"):
            self.fit("a linear* 1", certify=True)


class Weights(unittest.TestCase):
    """Weights of blocks are the same as kernels divided by their squares."""

    def fit(self, X, y, method, weights, scales, **settings):
        kernels = [f"poly(degree=1,offset=0,scale={scale!r})@v{i}"
                   for i, scale in enumerate(scales)]
        weights = weights and {kernel.replace(",scale=1.0", ""): weight
                               for kernel, weight in zip(kernels, weights)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return MKLClassifier(kernels, method=method, C=1, block_weight=weights, scale="none",
                                 views=views_of(problem(1)[2]), **settings).fit(X, y)

    def test_every_method_obeys_them(self):
        _, X, _, scores = problem(1)
        y = (scores > 0) * 1
        d = [3.0, 2.0, 1.25, 4.0]
        for method, settings in {
            "spicy": {"penalty": "elastic(t=0.5)", "gap": 1e-7},
            "gauss-seidel": {"penalty": "block(q=1.5)", "gap": 1e-6},
            "simplemkl": {"penalty": "group-lasso", "gap": 1e-3},
            "frank-wolfe": {"penalty": "squared-block(q=1.5)", "gap": 1e-3, "epochs": 500},
            "obscure": {"p": 1.25, "options": {"epochs1": 2, "epochs2": 30}},
            "pegasos": {"p": 1.5, "epochs": 30},
            "spom": {"penalty": "mkl", "epochs": 1000, "options": {
                "eta0": 0.3, "average": True, "average-from": 0.5, "radius": "none"}},
        }.items():
            with self.subTest(method=method):
                one = self.fit(X, y, method, d, [1.0] * 4, **settings)
                other = self.fit(X, y, method, None, [1 / x**2 for x in d], **settings)
                plain = self.fit(X, y, method, None, [1.0] * 4, **settings)
                near = {"spom": 1e-2, "frank-wolfe": 2e-3, "simplemkl": 2e-3}.get(method, 1e-4)
                self.assertLess(abs(one.objective_ / other.objective_ - 1), near)
                self.assertGreater(abs(plain.objective_ / other.objective_ - 1), 2 * near)
                np.testing.assert_allclose(one.norms_ * d, other.norms_, atol=10 * near *
                                           other.norms_.max())

    def test_size_is_the_root_of_the_number_of_columns(self):
        _, X, groups, scores = problem(2)
        settings = {"method": "spicy", "penalty": "l2", "C": 1, "views": views_of(groups),
                    "scale": "none", "gap": 1e-8}
        size = MKLClassifier("linear", block_weight="*=size", **settings).fit(X, scores > 0)
        given = MKLClassifier("linear", block_weight=named([len(g) ** 0.5 for g in groups]),
                              **settings).fit(X, scores > 0)
        np.testing.assert_allclose(size.norms_, given.norms_, rtol=1e-6)

    def test_mistakes_have_a_sentence_each(self):
        _, X, groups, scores = problem(3)
        for weight, words, settings in (
            ("linear*=-1", "must be a number from 1e-06 to 1e\\+06 or the word size, not '-1'", {}),
            ("linear*=0", "must be a number from 1e-06", {}),
            ("linear*=nan", "must be a number from 1e-06", {}),
            ("linear*=inf", "must be a number from 1e-06", {}),
            ("linear*=", "must be a number from 1e-06", {}),
            ("linear", "write NAME=X", {}),
            ("laplace*=2", "there is no block of that name; the first is 'linear", {}),
            ("rbf*=size", "no features that could be counted", {"kernels": "rbf(sigma=1)"}),
            ("linear*=2", "has no place in method='svm'", {"method": "svm"}),
            ("linear*=2", "penalties of the norms of blocks, and l1",
             {"method": "spom", "penalty": "l1", "kernels": "linear(explicit)"}),
            ("linear*=2", "penalties of the norms of blocks, and absorbed-l2",
             {"method": "spom", "penalty": "absorbed-l2"}),
        ):
            with self.subTest(weight=weight, **settings):
                with self.assertRaisesRegex(UsageError, words):
                    MKLClassifier(block_weight=weight, **{"kernels": "linear", "views":
                                  views_of(groups), **settings}).fit(X, scores > 0)


if __name__ == "__main__":
    unittest.main()
