# SPDX-License-Identifier: BSD-3-Clause
"""The optimum of small problems by an independent solver: Newton's method on the weights of columns.

The problem is  mean loss(y, Xw + b) + lam sum_m g(||w_m||)  (or half a squared norm of the ||w_m||),  one group of columns for each linear
kernel; other kernels have as columns those of a matrix F with F F' = K (`columns`). Losses and norms are rounded off a little, less with every round; the value that counts is
that of the problem itself, so what comes back is never below the optimum.
"""

import numpy as np

L = np.longdouble


def _softplus(x, soft):
    return np.where(x > 0, x, 0) + soft * np.log1p(np.exp(-np.abs(x) / soft))


def _sigmoid(x, soft):
    small = np.exp(-np.abs(x) / soft)
    return np.where(x > 0, 1, small) / (1 + small), small / (1 + small) ** 2 / soft


class Hinge:
    kinks = True

    def value(self, y, f):
        return np.maximum(0, 1 - y * f)

    def soft(self, y, f, soft):
        slope, curvature = _sigmoid(1 - y * f, soft)
        return _softplus(1 - y * f, soft), -y * slope, curvature


class Logistic:
    kinks = False

    def value(self, y, f):
        return _softplus(-y * f, L(1))

    def soft(self, y, f, soft):
        slope, curvature = _sigmoid(-y * f, L(1))
        return self.value(y, f), -y * slope, curvature


class Squared:
    kinks = False

    def value(self, y, f):
        return (f - y) ** 2 / 2

    def soft(self, y, f, soft):
        return self.value(y, f), f - y, np.ones_like(f)


class Epsilon:
    kinks = True

    def __init__(self, epsilon):
        self.epsilon = L(epsilon)

    def value(self, y, f):
        return np.maximum(0, np.abs(f - y) - self.epsilon)

    def soft(self, y, f, soft):
        above, below = f - y - self.epsilon, y - f - self.epsilon
        up, bend = _sigmoid(above, soft)
        down, other = _sigmoid(below, soft)
        return _softplus(above, soft) + _softplus(below, soft), up - down, bend + other


class Penalty:
    """g(x) = linear x + square x^2 / 2 + power x^q / q."""

    def __init__(self, linear=0.0, square=0.0, power=0.0, q=2.0):
        self.linear, self.square, self.power, self.q = L(linear), L(square), L(power), L(q)

    def __call__(self, lengths):
        return sum(self.linear * x + self.square * x * x / 2 + self.power * x**self.q / self.q
                   for x in lengths)

    def slopes(self, lengths):
        """First and second derivatives in each length; and how derivatives in two lengths add to
        the second ones: a factor, and what it multiplies products of."""
        x = np.array(lengths)
        power = self.power * x ** (self.q - 1)
        return self.linear + self.square * x + power, self.square + (self.q - 1) * power / x, (
            L(0), x)


class SquaredNorm:
    """factor/2 (sum x^q)^(2/q)."""

    def __init__(self, q, factor=1.0):
        self.q, self.factor = L(q), L(factor)

    def __call__(self, lengths):
        x = np.array(lengths, L)
        return self.factor / 2 * (x**self.q).sum() ** (2 / self.q)

    def slopes(self, lengths):
        x, q = np.array(lengths), self.q
        norm = (x**q).sum() ** (1 / q)
        first = self.factor * norm ** (2 - q) * x ** (q - 1)
        return first, (q - 1) * first / x, ((2 - q) / (self.factor * norm * norm), first)


class Sum:
    """Of penalties of which at most one is a squared norm."""

    def __init__(self, *terms):
        self.terms = terms

    def __call__(self, lengths):
        return sum(term(lengths) for term in self.terms)

    def slopes(self, lengths):
        firsts, seconds, products = zip(*(term.slopes(lengths) for term in self.terms))
        coupled = [product for product in products if product[0] != 0]
        return sum(firsts), sum(seconds), (coupled or products)[0]


class Weighted:
    """A penalty of the lengths times weights."""

    def __init__(self, penalty, weights):
        self.penalty, self.weights = penalty, np.array(weights, L)

    def __call__(self, lengths):
        return self.penalty(list(self.weights * np.array(lengths, L)))

    def slopes(self, lengths):
        first, second, (factor, base) = self.penalty.slopes(
            list(self.weights * np.array(lengths, L)))
        return self.weights * first, self.weights**2 * second, (factor, self.weights * base)


def gaussian(X, sigma2):
    X = X.astype(L)
    return np.exp(-((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2) / (2 * L(sigma2)))


def polynomial(X, degree, offset):
    X = X.astype(L)
    return (X @ X.T + L(offset)) ** degree


def columns(K):
    """F with F F' = K, by eigenvectors; what is beyond double precision is left out."""
    values, vectors = np.linalg.eigh(K.astype(float))
    kept = values > 1e-15 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


def _cholesky_solve(H, g):
    n = len(g)
    R = np.zeros_like(H)
    for j in range(n):
        pivot = H[j, j] - R[:j, j] @ R[:j, j]
        R[j, j] = np.sqrt(pivot if pivot > H[j, j] * L(1e-18) else H[j, j] * L(1e-12) + L(1e-300))
        R[j, j + 1:] = (H[j, j + 1:] - R[:j, j] @ R[:j, j + 1:]) / R[j, j]
    x = g.copy()
    for j in range(n):
        x[j] = (x[j] - R[:j, j] @ x[:j]) / R[j, j]
    for j in reversed(range(n)):
        x[j] = (x[j] - R[j, j + 1:] @ x[j + 1:]) / R[j, j]
    return x


def optimum(X, y, groups, lam, loss, penalty, rounds=28, bias=True):
    """The least value found. groups: lists of columns, one for each kernel; they may overlap."""
    n, d = X.shape
    A = np.c_[X, np.full(n, float(bias))].astype(L)
    y, lam = y.astype(L), L(lam)
    t = np.zeros(d + 1, L)
    unit = np.abs(y).mean() if not isinstance(loss, (Hinge, Logistic)) else L(1)
    size = np.sqrt((A[:, :d] ** 2).mean()) + L(1e-300)

    def lengths(t, tiny):
        return [np.sqrt((t[g] ** 2).sum() + tiny * tiny) for g in groups]

    def objective(t):
        return loss.value(y, A @ t).mean() + lam * penalty(lengths(t, L(0)))

    best = objective(t)
    b = np.median(y) if bias else L(0)
    best = min(best, objective(np.r_[np.zeros(d, L), b]))
    for k in range(rounds):
        soft = unit * L(10) ** (-L(k) / 3)
        tiny = soft / size

        def smooth(t):
            value = loss.soft(y, A @ t, soft)[0].mean()
            return value + lam * penalty(lengths(t, tiny))

        now = smooth(t)
        for _ in range(100):
            _, slope, curvature = loss.soft(y, A @ t, soft)
            g = A.T @ slope / n
            H = (A.T * (curvature / n)) @ A
            firsts, seconds, (product, bases) = penalty.slopes(lengths(t, tiny))
            pull = np.zeros(d + 1, L)
            for columns, x, first, second, base in zip(groups, lengths(t, tiny), firsts, seconds,
                                                       bases):
                w = t[columns]
                pull[columns] = base * w / x
                g[columns] += lam * first * w / x
                H[np.ix_(columns, columns)] += lam * (
                    first / x * np.eye(len(columns), dtype=L)
                    + (second - first / x) * np.outer(w, w) / (x * x)
                )
            H += lam * product * np.outer(pull, pull)
            step = -_cholesky_solve(H, g)
            decrement = -g @ step
            if not decrement > L(1e-15) * abs(now):
                break
            length = L(1)
            while length > 1e-9 and not (
                (there := smooth(t + length * step)) <= now - L(1e-4) * length * decrement
            ):
                length /= 2
            if length <= 1e-9:
                break
            t, now = t + length * step, there
        best = min(best, objective(t))
    return float(best)
