# SPDX-License-Identifier: BSD-3-Clause
"""Whatever comes in: an estimator that works, or an exception of a kind that Python has for it."""

import fractions
import os
import tempfile
from decimal import Decimal

import medley
import numpy as np
from medley import DependencyParser, MKLClassifier, MKLRegressor, SequenceLabeler
from medley._dataset import parse
from properties import assume, example, examples, given, holders, labelled, quietly, st, tables
from scipy import sparse
from support import InFolder, rings, sentences, trees

# MedleyError is what the package raises itself (ValueError, OSError or MemoryError as well);
# ValueError and TypeError come from NumPy and scikit-learn.
KINDS = (medley.MedleyError, ValueError, TypeError)


class Odd:
    """An object that nothing can be made of."""

    def __repr__(self):
        return "Odd()"


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-5, 5), st.floats(), st.complex_numbers(),
    st.text(max_size=4), st.binary(max_size=4), st.dates(), st.decimals(), st.fractions(),
    st.sampled_from([Odd(), object, len, np.nan, np.inf, -np.inf, 1e39, 1e300, 5e-324, 10**400,
                     -(10**400), np.float16(2), np.bool_(True), np.datetime64("2020-01-01"),
                     np.str_("a"), Ellipsis, b"\xff", "\udcff", "\ud800", "\0", range(3),
                     Decimal("sNaN"), fractions.Fraction(1, 3), np.ma.masked, slice(3)]),
)
GARBAGE = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.tuples(inner, inner), st.lists(inner, max_size=3).map(iter),
        st.dictionaries(st.one_of(st.text(max_size=2), st.integers(0, 3)), inner, max_size=3),
        st.sets(st.integers(0, 5), max_size=3),
    ),
    max_leaves=8,
)
ARRAYS = st.one_of(
    st.sampled_from([
        np.empty((0, 3)), np.empty((3, 0)), np.empty((0, 0)), np.array(3.0), np.arange(4),
        np.zeros((2, 2, 2)), np.zeros((4, 2), complex), np.array([["a", "b"]] * 4),
        np.array([[1, None]] * 4, dtype=object), np.array([["1", 2.5]] * 4, dtype=object),
        np.array([[b"1"]] * 4), np.zeros((4, 2), dtype="M8[s]"), np.zeros((4, 2), dtype="m8[s]"),
        np.zeros((4,), dtype=[("a", "f4"), ("b", "f4")]), np.matrix(np.eye(4)),
        sparse.csr_matrix((4, 0)), sparse.csr_matrix((0, 4)), sparse.eye(4, dtype=complex),
        sparse.csr_matrix(np.full((4, 2), np.nan)), sparse.coo_matrix(np.eye(4, dtype=bool)),
        np.ma.masked_array(np.eye(4), mask=np.eye(4)), np.array([[10**400, 1]] * 4, dtype=object),
        np.array([[Decimal(1), 2]] * 4, dtype=object), memoryview(b"abcd"), bytearray(b"abcd"),
    ]),
    tables(),
    st.tuples(tables(rows=(4, 4)), st.sampled_from([np.nan, np.inf, -np.inf, 1e39, 1e300, -1e39,
                                                    1e30, 1e20, 3e38, 1e-30, 1e-40, 5e-324]),
              st.booleans()).map(lambda t: spoilt(*t)),
)
EXTREME = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.sampled_from([0.0, 1.0, -1.0, 1e-45, 1e-38, 1e-25, 1e-20, 1e-10, 1e10, 1e15, 1e19, 1e20,
                     1e25, 1e30, 1e38, 3.4e38, -3.4e38, -1e20]),
)
DIVERGES = np.zeros((4, 4), dtype=np.float32)  # as kernel values, with method spom
DIVERGES[0, 0], DIVERGES[1, 3] = 4.5e-13, 1e38
OPTIONS = [option.name for option in medley.list_options()
           if option.name not in ("checkpoint", "threads", "epochs", "epochs1", "epochs2", "max-iter")]
KERNELS = ["linear", "poly(degree=2)", "poly(degree=9)", "rbf(sigma2=5)", "rbf(auto)",
           "laplace(auto)", "rbf(sigma2=1e30)", "rbf(gamma=1e30)", "bspline(h=1)",
           "bspline(h=1e30)", "chi2(auto)", "intersection", "linear(explicit)"]
ANYTHING = st.one_of(GARBAGE, ARRAYS, st.lists(ARRAYS, max_size=3),
                     st.dictionaries(st.sampled_from(["a", "", "x@y", "a b", "K"]), ARRAYS,
                                     max_size=2))


def spoilt(X, value, everywhere):
    X = X.astype(np.float64)
    X.flat[0] = value
    return np.where(X == 0, X, value) if everywhere else X


def length(value, otherwise=4):
    """len() where there is one, within bounds."""
    try:
        return min(len(value), 20)
    except TypeError:
        return otherwise


class Garbage(InFolder):
    never = ()  # kinds of exceptions

    def answered(self, work):
        """Works, or says why not; what was learnt is finite. Returns what came, or None."""
        try:
            with quietly(), np.errstate(all="ignore"):
                model = work()
        except KINDS as problem:
            self.assertTrue(str(problem), "an exception without a sentence")
            self.assertNotIsInstance(problem, self.never)
            return None
        except AttributeError as problem:  # of scikit-learn 1.2, for objects that equal nothing
            if str(problem) != "'bool' object has no attribute 'any'":
                raise
            return None
        for name in ("weights_", "norms_"):
            self.assertTrue(np.isfinite(getattr(model, name, 0)).all(), name)
        return model


class Scored(Garbage):
    def scored(self, model, X):
        """Scores of what a model was learnt from are numbers."""
        if model is not None:
            with quietly(), np.errstate(all="ignore"):
                name = "decision_function" if hasattr(model, "classes_") else "predict"
                self.assertTrue(np.isfinite(getattr(model, name)(X)).all())


class Rows(Scored):
    @examples(60)
    @given(ANYTHING, st.sampled_from([["linear"], ["rbf(sigma2=5)", "poly(degree=3)"], "default",
                                      ["linear(norm=diag)"], ["rbf(auto)"], ["laplace(auto)"]]),
           st.sampled_from(["spicy", "spom", "obscure", "svm"]),
           st.sampled_from([None, "standard", "minmax", "maxabs"]))
    def test_anything_as_rows(self, X, kernels, method, scale):
        epochs = {"epochs": 2} if method == "spom" else {}
        y = np.arange(length(X)) % 2
        model = self.answered(lambda: MKLClassifier(kernels, method=method, scale=scale, n_jobs=1,
                                                    **epochs).fit(X, y))
        self.scored(model, X)

    @examples(40)
    @given(ANYTHING)
    def test_anything_as_labels(self, y):
        X, _ = rings(length(y) or 4)
        model = self.answered(lambda: MKLClassifier(["linear"], n_jobs=1).fit(X, y))
        if model is not None:
            self.scored(model, X)
            self.assertLessEqual(set(map(str, model.predict(X))), set(map(str, np.ravel(y))))

    @examples(40)
    @given(ANYTHING, st.sampled_from(["squared", "epsilon(0.1)"]))
    def test_anything_as_numbers(self, y, loss):
        X, _ = rings(length(y) or 4)
        self.scored(self.answered(lambda: MKLRegressor(["linear", "rbf(sigma2=5)"], loss=loss,
                                                       n_jobs=1).fit(X, y)), X)

    @examples(40)
    @given(ANYTHING, st.sampled_from(["predict", "decision_function", "predict_proba"]))
    def test_anything_as_new_rows(self, X, name):
        known, y = rings(12, columns=2)
        model = MKLClassifier(["linear", "rbf(sigma2=5)"], n_jobs=1).fit(known, y)
        found = self.answered(lambda: getattr(model, name)(X))
        if found is not None and name != "predict":
            self.assertTrue(np.isfinite(found).all())

    @examples(40)
    @given(ANYTHING)
    def test_anything_as_kernel_values(self, K):
        model = self.answered(lambda: MKLClassifier("precomputed", n_jobs=1).fit(K, [0, 1, 0, 1]))
        self.scored(model, K)

    @examples(60)
    @given(st.sampled_from(sorted(MKLClassifier().get_params())), GARBAGE)
    def test_anything_as_a_parameter(self, name, value):
        X, y = rings(8)
        if name == "verbose" and (callable(value) or value):
            return
        if name in ("epochs", "options") and not isinstance(value, (int, str)):
            return
        if name == "memory" or (name == "epochs" and isinstance(value, int) and value > 50):
            return
        parameters = {"kernels": ["linear"], "n_jobs": 1, name: value}
        self.answered(lambda: MKLClassifier(**parameters).fit(X, y))

    @examples(40)
    @given(st.dictionaries(st.sampled_from(OPTIONS), SCALARS, max_size=2))
    def test_anything_as_an_option(self, options):
        X, y = rings(8)
        self.answered(lambda: MKLClassifier(["linear"], n_jobs=1, options=options).fit(X, y))

    @examples(60)
    @given(st.one_of(
        st.text(max_size=12),
        st.text("rbflinearpoly()=,{}@.12*-+ednorm", max_size=24),
        st.builds("{}({}={}){}".format, st.sampled_from(["rbf", "poly", "linear", "laplace", "chi2",
                                                         "bspline", "intersection", "bias"]),
                  st.sampled_from(["sigma2", "sigma", "gamma", "degree", "offset", "scale", "h",
                                   "norm", "zeros"]),
                  st.sampled_from(["0", "-1", "1e-300", "1e300", "nan", "inf", "1e38", "{1,2}", "",
                                   "2..1", "1e-40", "99", "2", "0.5", "diag", "center", "trace"]),
                  st.sampled_from(["", "@", "@all", "@x", "@@"]))))
    @example("rbf(sigma2=1e-300)")
    def test_anything_as_a_kernel(self, spec):
        X, y = rings(8)
        X = np.abs(X)
        self.scored(self.answered(lambda: MKLClassifier([spec], n_jobs=1).fit(X, y)), X)

    @examples(40)
    @given(labelled(), st.sampled_from([np.nan, np.inf, -np.inf, 1e39, -1e300]), st.data())
    def test_a_bad_number_anywhere_is_refused(self, drawn, bad, data):
        X, y = drawn
        with quietly():
            model = MKLClassifier(["linear"], n_jobs=1).fit(X, y)
        row = data.draw(st.integers(0, X.shape[0] - 1))
        column = data.draw(st.integers(0, X.shape[1] - 1))
        wrong = X.astype(np.float64)
        wrong[row, column] = bad
        wrong = data.draw(holders(wrong)) if data.draw(st.booleans()) else wrong
        for work in (lambda: MKLClassifier(["linear"], n_jobs=1).fit(wrong, y),
                     lambda: model.predict(wrong)):
            with self.assertRaises(ValueError), quietly():
                work()


class Extremes(Scored):
    """Numbers of any size that a float32 holds: a model of finite numbers, or a refusal, which is
    no error of a file."""

    never = OSError

    @examples(60)
    @given(labelled(columns=(1, 3), values=EXTREME), st.lists(st.sampled_from(KERNELS), min_size=1,
                                                               max_size=2),
           st.sampled_from(["spicy", "spom", "obscure", "svm", "pegasos", "average"]),
           st.sampled_from([None, "standard", "minmax", "maxabs"]),
           st.sampled_from([None, "diag", "trace", "center"]))
    def test_rows_of_any_size(self, drawn, kernels, method, scale, normalize):
        X, y = drawn
        model = self.answered(lambda: MKLClassifier(
            kernels, method=method, scale=scale, normalize=normalize, n_jobs=1,
            epochs=2 if method in ("spom", "pegasos") else None).fit(X, y))
        if model is not None:
            self.scored(model, X)
            with quietly(), np.errstate(all="ignore"):
                shares = model.predict_proba(X)
            np.testing.assert_allclose(shares.sum(axis=1), 1)

    @examples(40)
    @given(labelled(columns=(1, 3)), tables(columns=(3, 3), values=EXTREME),
           st.sampled_from(KERNELS), st.sampled_from([None, "standard", "minmax"]),
           st.sampled_from([None, "diag", "trace", "center"]))
    def test_new_rows_of_any_size(self, drawn, new, kernel, scale, normalize):
        X, y = drawn
        model = self.answered(lambda: MKLClassifier([kernel], scale=scale, normalize=normalize,
                                                    n_jobs=1).fit(np.abs(X), y))
        if model is not None:
            found = self.answered(lambda: model.decision_function(new[:, : X.shape[1]]))
            self.assertTrue(found is None or np.isfinite(found).all())

    @examples(40)
    @given(labelled(columns=(1, 3)), st.data(), st.sampled_from(["squared", "epsilon(0.1)"]))
    def test_targets_of_any_size(self, drawn, data, loss):
        X, _ = drawn
        y = data.draw(st.lists(st.one_of(st.floats(allow_nan=False, allow_infinity=False), EXTREME),
                               min_size=len(X), max_size=len(X)))
        self.scored(self.answered(lambda: MKLRegressor(["linear", "rbf(sigma2=5)"], loss=loss,
                                                       n_jobs=1).fit(X, y)), X)

    @examples(40)
    @given(tables(rows=(4, 4), columns=(4, 4), values=EXTREME), st.booleans(),
           st.sampled_from([None, "trace", "center"]),
           st.sampled_from(["spicy", "spom", "svm"]))
    @example(DIVERGES, False, None, "spom")
    def test_kernel_values_of_any_size(self, K, square, normalize, method):
        with np.errstate(all="ignore"):
            K = K.astype(np.float64)
            K = K @ K.T if square else (K + K.T) / 2
        model = self.answered(lambda: MKLClassifier(
            "precomputed", method=method, normalize=normalize, n_jobs=1,
            epochs=2 if method == "spom" else None).fit(K, [0, 1, 0, 1]))
        self.scored(model, K)


    @examples(30)
    @given(labelled(columns=(1, 3)), st.sampled_from(["spicy", "spom", "svm", "average"]),
           st.lists(EXTREME, min_size=1, max_size=4))
    @example((np.eye(4, dtype=np.float32), np.arange(4) % 2), "spicy", [-3e38, 3e38])
    def test_new_kernel_values_of_any_size(self, drawn, method, values):
        X, y = drawn
        K = X.astype(np.float64) @ X.T
        with quietly():
            model = MKLClassifier("precomputed", method=method, n_jobs=1,
                                  epochs=2 if method == "spom" else None).fit(K, y)
        new = np.resize(values, (2, len(X)))
        for name in ("decision_function", "predict_proba"):
            found = self.answered(lambda: getattr(model, name)(new))
            self.assertTrue(found is None or np.isfinite(found).all())

    @examples(30)
    @given(tables(rows=(4, 4), columns=(4, 4)), st.sampled_from([0, 1e-20, 1e-6, 1e-3, 1, 1e3]),
           st.sampled_from(["spicy", "simplemkl", "gauss-seidel"]))
    @example(1 - np.eye(4, dtype=np.float32), 1e-6, "spicy")  # distances, with rounding
    def test_what_is_no_kernel_is_refused(self, K, diagonal, method):
        K = np.triu(K.astype(np.float64), 1)
        K = K + K.T + diagonal * np.eye(4)
        values = np.linalg.eigvalsh(K)
        assume(values[0] < -1e-3 * values[-1])
        with self.assertRaisesRegex(medley.InputError, "not positive semi-definite"), quietly():
            MKLClassifier("precomputed", method=method, n_jobs=1).fit(K, [0, 1, 0, 1])


class Sequences(Garbage):
    @examples(40)
    @given(st.one_of(ANYTHING, st.lists(ANYTHING, max_size=3)))
    def test_anything_as_sequences(self, X):
        y = [["a", "b"][: length(one)] for one in (X if isinstance(X, list) else [])]
        self.answered(lambda: SequenceLabeler(epochs=1, n_jobs=1).fit(X, y))
        model = SequenceLabeler(epochs=1, n_jobs=1).fit(*sentences(4))
        self.answered(lambda: model.predict(X))

    @examples(40)
    @given(st.lists(st.lists(st.dictionaries(st.text(max_size=3), SCALARS, max_size=3), min_size=1,
                             max_size=3), min_size=1, max_size=3))
    @example([[{"a": 10**400}]])
    @example([[{"": 1.0}], [{"": ""}]])
    def test_anything_as_attributes(self, X):
        y = [["ab"[(i + j) % 2] for j in range(len(X[i]))] for i in range(len(X))]
        self.answered(lambda: SequenceLabeler(epochs=1, n_jobs=1).fit(
            [*X, [{"w": "a"}, {"w": "b"}]], [*y, ["a", "b"]]))

    @examples(40)
    @given(st.one_of(ANYTHING, st.lists(st.lists(SCALARS, min_size=2, max_size=2), min_size=2,
                                        max_size=2)))
    def test_anything_as_labels_of_sequences(self, y):
        X = [["the", "dog"], ["a", "cat"]]
        model = self.answered(lambda: SequenceLabeler(epochs=1, n_jobs=1).fit(X, y))
        if model is not None:
            self.answered(lambda: model.evaluate(X, y))
            self.answered(lambda: model.score(X, y))

    @examples(20)
    @given(tables(rows=(2, 4)), st.sampled_from([np.nan, np.inf, -np.inf]),
           st.sampled_from(["f2", "f4", "f8", "longdouble"]), st.sampled_from([None, "csr", "lil"]))
    @example(np.zeros((2, 1), np.float32), np.inf, "f2", None)
    @example(np.zeros((2, 1), np.float32), np.nan, "f4", "lil")
    def test_a_bad_number_in_a_sequence_is_refused(self, X, bad, dtype, layout):
        good = X.copy()
        X[0, 0] = bad
        held = sparse.csr_matrix(X).asformat(layout) if layout else X.astype(dtype)
        labels = [["a", "b", "a", "b"][: len(X)]]
        model = SequenceLabeler(kernels=["linear"], epochs=1, n_jobs=1).fit([good + 1], labels)
        for work in (lambda: model.predict([held]), lambda: model.fit([held], labels)):
            with self.assertRaisesRegex(medley.InputError, r"X\[0\]"):
                work()


class Trees(Garbage):
    def parser(self):
        return DependencyParser("arc-form-upos", hash_bits=8, epochs=1, n_jobs=1)

    @examples(40)
    @given(st.one_of(ANYTHING, st.lists(st.lists(st.one_of(SCALARS, st.tuples(SCALARS, SCALARS),
                                                           st.dictionaries(st.sampled_from(
                                                               ["form", "upos", "feats", "x"]),
                                                               SCALARS, max_size=2)),
                                                 max_size=3), max_size=3)))
    def test_anything_as_sentences(self, X):
        y = [list(range(length(one))) for one in (X if isinstance(X, list) else [])]
        if isinstance(X, str) and os.path.exists(X):
            return
        self.answered(lambda: self.parser().fit(X, y))
        model = self.parser().fit(*trees(4))
        self.answered(lambda: model.predict(X))

    @examples(40)
    @given(st.one_of(ANYTHING, st.lists(st.one_of(SCALARS, st.tuples(SCALARS, SCALARS)), min_size=2,
                                        max_size=2).map(lambda tree: [tree])))
    @example([[(0, "root"), (2**70, "x")]])
    def test_anything_as_trees(self, y):
        X = [[("a", "D"), ("b", "N")]]
        self.answered(lambda: self.parser().fit(X, y))


class Files(Garbage):
    @examples(80)
    @given(st.one_of(st.text(max_size=60), st.text("1:2 ,;\t\n\"'#@qidab.-e+", max_size=60)),
           st.sampled_from([None, "csv", "svmlight", "columns", "attributes", "conllu", "letter"]))
    def test_any_text_as_a_file(self, content, format):
        try:
            data = content.encode("utf-8", errors="surrogateescape")
        except UnicodeEncodeError:
            return
        path = self.folder / "data"
        path.write_bytes(data)
        self.answered(lambda: medley.read(path, format=format))
        self.answered(lambda: parse(content, "X", format=format))

    @examples(60)
    @given(st.binary(max_size=80), st.sampled_from([b"", b"\x93NUMPY\x01\x00", b"\x1f\x8b\x08",
                                                    b"\x00\x00\x08\x03", b"MEDLEY\r\n"]))
    def test_any_bytes_as_a_file(self, content, start):
        path = self.folder / "data"
        path.write_bytes(start + content)
        self.answered(lambda: medley.read(path))
        self.answered(lambda: MKLClassifier.load(path))

    @examples(60)
    @given(st.integers(0, 2**16), st.integers(0, 255), st.sampled_from(["rows", "words"]))
    def test_a_spoilt_byte_of_a_model_is_noticed(self, place, byte, kind):
        if kind == "rows":
            model = MKLClassifier(["linear"], n_jobs=1).fit(*rings(8))
        else:
            model = SequenceLabeler(epochs=1, n_jobs=1).fit(*sentences(3))
        content = bytearray(model.model_.to_bytes())
        content[place % len(content)] = byte
        with tempfile.NamedTemporaryFile(dir=self.folder) as file:
            file.write(content)
            file.flush()
            self.answered(lambda: type(model).load(file.name))
