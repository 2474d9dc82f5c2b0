# SPDX-License-Identifier: BSD-3-Clause
"""Certificates are true: no dual value is above the optimum that an independent solver finds, no
model is better than it, and models predict with the objective that they report."""

import os
import unittest
import warnings

import numpy as np
from certificates import (Epsilon, Hinge, Logistic, Penalty, Squared, SquaredNorm, columns,
                          gaussian, optimum, polynomial)
from medley import DependencyParser, MKLClassifier, MKLRegressor, SequenceLabeler, UsageError
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.datasets import load_breast_cancer, load_diabetes

PROBLEMS = int(os.environ.get("MEDLEY_CERTIFICATES", "60"))

PENALTIES = {
    "group-lasso": Penalty(linear=1),
    "l2": Penalty(square=1),
    "elastic(t=0.5)": Penalty(linear=0.5, square=0.5),
    "elastic(t=0.1)": Penalty(linear=0.9, square=0.1),
    "block(q=1.5)": Penalty(power=1, q=1.5),
}
SQUARES = {"mkl": 1, "squared-block(q=1.25)": 1.25, "squared-block(q=2)": 2,
           "squared-block(q=3)": 3}
LOSSES = {
    "hinge": Hinge(),
    "logistic": Logistic(),
    "squared": Squared(),
    "epsilon(epsilon=0.3)": Epsilon(0.3),
}


def problem(seed):
    """Columns of several scales, of low rank and twice the same, in groups; two labels or numbers."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(12, 60))
    groups = [int(random.integers(1, 4)) for _ in range(random.integers(1, 5))]
    X = random.normal(size=(rows, sum(groups)))
    if random.random() < 0.3:
        X[:, -1] = X[:, 0]
    if random.random() < 0.3:
        X[:, -1] = X[:, : max(1, X.shape[1] // 2)].sum(axis=1)
    if random.random() < 0.5:
        X *= 10.0 ** random.uniform(-6, 6)
    if random.random() < 0.3:
        X *= 10.0 ** random.uniform(-2, 2, X.shape[1])
    if random.random() < 0.3:
        X += random.uniform(-3, 3) * np.abs(X).mean()
    X = X.astype(np.float32).astype(float)
    scores = X @ (random.normal(size=X.shape[1]) / (np.abs(X).mean(axis=0) + 1e-300))
    scores = (scores - scores.mean()) / (scores.std() + 1e-300) + 0.5 * random.normal(size=rows)
    return random, X, groups, scores


def kernel_problem(seed):
    """Gaussians from narrow to nearly constant and polynomials, of columns of one scale."""
    random = np.random.default_rng(1000 + seed)
    rows = int(random.integers(10, 25))
    X = random.normal(size=(rows, int(random.integers(1, 4))))
    if random.random() < 0.3:
        X[rows // 2:] = X[: rows - rows // 2] + 1e-3 * X[rows // 2:]
    if random.random() < 0.3:
        X += random.uniform(-3, 3)
    X = X.astype(np.float32).astype(float)
    kernels, K = [], []
    for _ in range(random.integers(1, 4)):
        if random.random() < 0.7:
            sigma2 = float(f"{10.0 ** random.uniform(-2, 3):.4g}")
            kernels.append(f"rbf(sigma2={sigma2!r})")
            K.append(gaussian(X, sigma2))
        else:
            degree, offset = int(random.integers(2, 4)), float(random.integers(0, 3))
            kernels.append(f"poly(degree={degree},offset={offset!r})")
            K.append(polynomial(X, degree, offset))
    scores = np.sin(2 * X[:, 0]) + 0.5 * random.normal(size=rows)
    return random, X, kernels, K, (scores - scores.mean()) / scores.std()


def spread(groups):
    ends = np.cumsum([0, *groups])
    return [list(range(a, b)) for a, b in zip(ends[:-1], ends[1:])]


class JointLoss:
    """Mean loss of several classes, for scores of rows and classes, and its gradient."""

    def __init__(self, labels, classes, margin, temperature=1.0):
        self.gold = np.eye(classes)[labels]
        self.costs = margin * (1 - self.gold)
        self.temperature = temperature

    def __call__(self, scores):
        f = (scores + self.costs) / self.temperature
        total = logsumexp(f, axis=1, keepdims=True)
        losses = self.temperature * total[:, 0] - (scores * self.gold).sum(axis=1)
        return losses.mean(), (np.exp(f - total) - self.gold) / len(scores)

    def hinge(self, scores):
        f = scores + self.costs
        return (f.max(axis=1) - (scores * self.gold).sum(axis=1)).mean()


def least_joint_objective(X, loss, lam, hinge):
    """The optimum with the penalty l2, or just above it: hinges are smoothed less and less."""
    size = np.abs(X).max() or 1.0
    X, lam = X / size, lam / size**2
    W, best = np.zeros(X.shape[1] * loss.gold.shape[1]), np.inf
    for temperature in (1, 0.1, 0.01, 1e-3, 1e-4) if hinge else (1,):
        loss.temperature = temperature

        def objective(w):
            shaped = w.reshape(X.shape[1], -1)
            value, slope = loss(X @ shaped)
            return value + lam / 2 * (w**2).sum(), (X.T @ slope + lam * shaped).ravel()

        W = minimize(objective, W, jac=True, method="L-BFGS-B",
                     options={"maxiter": 3000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-10}).x
        value = objective(W)[0]
        if hinge:
            value = loss.hinge(X @ W.reshape(X.shape[1], -1)) + lam / 2 * (W**2).sum()
        best = min(best, value)
    return best


class OnlineBounds(unittest.TestCase):
    """What certify=True says of online methods."""

    def check(self, seed, loss, **settings):
        """A model and the optimum of its problem."""
        random, X, groups, scores = problem(seed)
        labels = np.searchsorted(np.quantile(scores, [0.3, 0.6]), scores)
        C = 10.0 ** random.uniform(-1, 1)
        if settings["method"] == "frank-wolfe":  # which unscaled columns take too long
            C /= (X**2).sum(axis=1).mean()
        views = {f"v{i}": columns for i, columns in enumerate(spread(groups))}
        kernels = ["linear", "linear(explicit)"][seed % 2]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MKLClassifier(kernels, penalty="l2", loss=loss, C=C, views=views, scale="none",
                                  **settings).fit(X, labels)
        lam = 1 / (C * len(X))
        joint = JointLoss(labels, 3, loss != "logistic")
        best = least_joint_objective(X, joint, lam, loss == "hinge")
        name = f"seed {seed}, {loss}: dual {model.dual_}, optimum {best}, found {model.objective_}"
        self.assertLessEqual(model.dual_, best, name)
        self.assertGreaterEqual(model.objective_, best * (1 - 1e-4), name)
        f = model.decision_function(X).astype(float)
        joint.temperature = 1
        found = (joint.hinge(f) if loss == "hinge" else joint(f)[0])
        found += lam / 2 * (model.norms_**2).sum()
        self.assertAlmostEqual(model.objective_ / found, 1, delta=1e-4, msg=name)
        self.assertAlmostEqual(model.gap_, 1 - model.dual_ / model.objective_, delta=1e-9, msg=name)
        return model, best

    def test_bounds_are_not_above_the_optimum(self):
        for loss in ("hinge", "logistic", "softmax-margin"):
            gaps = []
            for seed in range(PROBLEMS // 3):
                model, best = self.check(seed, loss, method="spom", certify=True,
                                         epochs=[5, 100][seed % 2])
                gaps.append(1 - model.dual_ / best)
            print(f"bounds, {loss}: median distance from the optimum {np.median(gaps):.3g}")
            self.assertLess(np.median(gaps), 0.3)

    def test_frank_wolfe_reaches_the_gap_that_is_asked_for(self):
        for loss in ("hinge", "logistic", "softmax-margin"):
            for seed in range(PROBLEMS // 6):
                model, best = self.check(seed, loss, method="frank-wolfe", gap=0.01)
                name = f"seed {seed}, {loss}: {model.gap_}, {model.objective_}, optimum {best}"
                self.assertLess(model.gap_, 0.011, name)
                self.assertLess(model.objective_, 1.011 * best, name)

    def test_other_estimators_have_them(self):
        words = [["the", "dog", "ran"], ["a", "cat", "sat"], ["the", "cat", "ran"]] * 3
        labeler = SequenceLabeler(certify=True, C=1).fit(words, [["D", "N", "V"]] * 9)
        parser = DependencyParser("arc-form-upos", epochs=5, certify=True).fit(
            [[("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")]] * 3, [[2, 3, 0]] * 3)
        for model in (labeler, parser):
            self.assertGreater(model.dual_, 0)
            self.assertLess(model.dual_, model.objective_)
            self.assertGreater(model.gap_, 0)
        self.assertTrue(np.isnan(SequenceLabeler().fit(words, [["D", "N", "V"]] * 9).gap_))

    def test_penalties_without_a_conjugate_are_refused(self):
        X = np.eye(12)
        with self.assertRaisesRegex(UsageError, "certify needs a penalty whose conjugate"):
            MKLClassifier("linear(explicit)", method="spom", penalty="l1", certify=True).fit(
                X, np.arange(12) % 3)
        with self.assertRaisesRegex(UsageError, "certify has no place in method='average'"):
            MKLClassifier(method="average", certify=True).fit(X, np.arange(12) % 3)


class Certificates(unittest.TestCase):
    def check(self, X, y, groups, loss, penalty, C, gap, name):
        """A problem of linear kernels: returns whether its gap was reached."""
        views = {f"v{i}": columns for i, columns in enumerate(groups)}
        return self.check_kernels("linear", views, X, y, X, groups, loss, penalty, C, gap, name)

    def check_kernels(self, kernels, views, X, y, F, groups, loss, penalty, C, gap, name):
        """The same for kernels whose columns are F[:, group]."""
        kind = MKLClassifier if loss in ("hinge", "logistic") else MKLRegressor
        model = kind(kernels, method="spicy", loss=loss, penalty=penalty, C=C, gap=gap,
                     views=views, scale="none").fit(X, y)
        lam = 1 / (C * len(y))
        signs = np.where(y == model.classes_[1], 1.0, -1.0) if hasattr(model, "classes_") else y
        f = (model.decision_function(X) if hasattr(model, "classes_") else model.predict(X))
        norms = model.norms_
        measure = np.longdouble(1)
        g = PENALTIES.get(penalty)
        if g is None:  # the norms of labels are those of two vectors w and -w for v = 2 w
            measure = np.sqrt(np.longdouble(2)) if hasattr(model, "classes_") else measure
            g = SquaredNorm(SQUARES[penalty], 1 / measure**2)
        found = float(LOSSES[loss].value(signs.astype(np.longdouble), f).mean()) + lam * float(
            g([measure * np.longdouble(x) for x in norms]))
        best = optimum(F, signs, groups, lam, LOSSES[loss], g)
        said = model.objective_
        slack = 1e-9 + 1e-6 * best
        self.assertLessEqual(model.dual_, best + slack, name)
        self.assertLessEqual(best, found + slack + max(gap, 1e-6) * found, name)
        self.assertLessEqual(abs(said - found), max(gap, 1e-6) * said + 1e-9, name)
        return model.gap_ <= gap

    def test_random_problems(self):
        reached = 0
        for seed in range(PROBLEMS):
            random, X, groups, scores = problem(seed)
            loss = list(LOSSES)[seed % 4]
            penalty = list(PENALTIES)[seed // 4 % 5]
            C = 10.0 ** random.uniform(-3, 3)
            gap = [1e-2, 1e-3, 1e-5][seed % 3]
            y = np.where(scores > 0, 1, 0) if loss in ("hinge", "logistic") else scores
            if len(np.unique(y)) < 2:
                continue
            with self.subTest(seed=seed, loss=loss, penalty=penalty, C=C):
                reached += self.check(X, y, spread(groups), loss, penalty, C, gap, f"seed {seed}")
        print(f"certificates: {reached} of {PROBLEMS} gaps were reached")

    def test_random_problems_of_squared_norms(self):
        reached = count = 0
        for seed in range(PROBLEMS):
            random, X, groups, scores = problem(500 + seed)
            loss = list(LOSSES)[seed % 4]
            penalty = list(SQUARES)[seed // 4 % 4]
            gap = [1e-2, 1e-3, 1e-5][seed % 3]
            X = X / (np.abs(X).mean() or 1)
            X = X.astype(np.float32).astype(float)
            C = 10.0 ** random.uniform(-2, 2)
            y = np.where(scores > 0, 1, 0) if loss in ("hinge", "logistic") else scores
            if len(np.unique(y)) < 2:
                continue
            with self.subTest(seed=seed, loss=loss, penalty=penalty, C=C):
                count += 1
                reached += self.check(X, y, spread(groups), loss, penalty, C, gap, f"seed {seed}")
        print(f"certificates: {reached} of {count} gaps of squared norms were reached")
        self.assertGreaterEqual(reached, 0.9 * count)

    def test_random_problems_of_gaussians_and_polynomials(self):
        reached = count = 0
        for seed in range((PROBLEMS + 2) // 3):
            random, X, kernels, K, scores = kernel_problem(seed)
            loss = list(LOSSES)[seed % 4]
            penalty = list(PENALTIES)[seed // 4 % 5]
            C = 10.0 ** random.uniform(-3, 3)
            gap = [1e-2, 1e-3, 1e-5][seed % 3]
            y = np.where(scores > 0, 1, 0) if loss in ("hinge", "logistic") else scores
            if len(np.unique(y)) < 2:
                continue
            F = [columns(one) for one in K]
            with self.subTest(seed=seed, loss=loss, penalty=penalty, C=C, kernels=kernels):
                count += 1
                reached += self.check_kernels(
                    kernels, None, X, y, np.hstack(F), spread([f.shape[1] for f in F]), loss,
                    penalty, C, gap, f"kernels, seed {seed}")
        print(f"certificates: {reached} of {count} gaps of Gaussians and polynomials were reached")

    def test_diabetes_and_breast_cancer(self):
        data = load_diabetes()
        X = ((data.data - data.data.mean(0)) / data.data.std(0)).astype(np.float32).astype(float)
        self.assertTrue(self.check(X, data.target, [[i] for i in range(10)], "squared",
                                   "group-lasso", 10, 1e-3, "diabetes"))
        data = load_breast_cancer()
        X = ((data.data - data.data.mean(0)) / data.data.std(0)).astype(np.float32).astype(float)
        self.assertTrue(self.check(X, data.target, [list(range(30))], "hinge", "group-lasso", 1000,
                                   1e-2, "breast cancer"))
        # as it comes: columns of 1e-3 to 4e3, and an optimum from Newton steps in long double
        model = MKLClassifier("linear", method="spicy", loss="hinge", C=1000, scale="none").fit(
            data.data.astype(np.float32).astype(float), data.target)
        self.assertLessEqual(model.gap_, 1e-2)
        self.assertLessEqual(model.dual_, 0.0198769 * (1 + 1e-5))
        self.assertGreaterEqual(model.objective_, 0.0198769 * (1 - 1e-5))


if __name__ == "__main__":
    unittest.main()
