# SPDX-License-Identifier: BSD-3-Clause
"""Estimators beside NumPy: values of kernels, scores from the model file, the same numbers held in
arrays of any type and layout or in sparse matrices."""

import ctypes

import numpy as np
from medley import DependencyParser, MKLClassifier, MKLRegressor, SequenceLabeler
from medley._dataset import Dataset
from medley._library import c_text, call
from medley._options import Options
from model_file import ModelFile, kernel_values
from properties import EPSILON, POSITIVE, examples, holders, labelled, quietly, tables
from properties import SPARSE, example, given, st
from scipy import sparse
from support import InFolder, trees

# Specs that need no choice from the data; those of the second kind want numbers that are not
# negative.
ANY_SIGN = ["linear", "poly(degree=2)", "poly(degree=3,offset=0.5,scale=0.25)", "rbf(sigma2=5)",
            "rbf(gamma=0.05)", "laplace(gamma=0.25)", "bspline(h=9)", "bias"]
NOT_NEGATIVE = ["chi2(gamma=0.25)", "intersection"]
NORMS = ["", "norm=diag", "norm=trace", "norm=center"]


def with_norm(spec, norm):
    if not norm or spec == "bias":
        return spec
    return f"{spec[:-1]},{norm})" if spec.endswith(")") else f"{spec}({norm})"


@st.composite
def banks(draw):
    """A table, labels and some kernels that suit it."""
    positive = draw(st.booleans())
    X, y = draw(labelled(values=POSITIVE) if positive else labelled())
    known = ANY_SIGN + NOT_NEGATIVE if positive else ANY_SIGN
    specs = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True))
    return X, y, [with_norm(spec, draw(st.sampled_from(NORMS))) for spec in specs]


def learner(specs, method, **parameters):
    """A classifier of any method, with few epochs where there are some."""
    if method in ("spom", "obscure", "pegasos"):
        parameters["options" if method == "obscure" else "epochs"] = (
            {"epochs1": 1, "epochs2": 1} if method == "obscure" else 2)
    return MKLClassifier(specs, method=method, n_jobs=1, **parameters)


class Kernels(InFolder):
    """Values are those of the formula in double precision to 8 units in the last place of a
    float32, counted in the numbers that the value is computed from: lengths of rows, exponents."""

    def values(self, spec, X):
        dataset, options, count = Dataset(), Options(), ctypes.c_size_t()
        dataset.put_table(X)
        options.set("kernel", spec)
        options.set("scale", "none")
        path = self.folder / "K.npy"
        call("medley_write_kernels", ctypes.byref(count), dataset.pointer, options.pointer,
             c_text(path))
        return np.load(path)

    def near(self, spec, X):
        expected, sizes = kernel_values(spec, X, X)
        found = self.values(spec, X)
        self.assertEqual(found.dtype, np.float32)
        off = np.abs(found - expected) / (EPSILON * (sizes + np.finfo(np.float32).tiny))
        self.assertLess(off.max(), 8, f"{spec}: {found} is not {expected}")
        np.testing.assert_array_equal(found, found.T)

    @examples(40)
    @given(st.sampled_from(ANY_SIGN), tables())
    def test_kernels_are_their_formulas(self, spec, X):
        self.near(spec, X)

    @examples(25)
    @given(st.sampled_from(NOT_NEGATIVE), tables(values=POSITIVE))
    def test_kernels_of_histograms_are_their_formulas(self, spec, X):
        self.near(spec, X)


class Scores(InFolder):
    """Scores are what the model file says."""

    def near(self, found, model, X):
        expected, sizes = ModelFile(model.model_.to_bytes()).predict(X)
        if expected.shape[1] == 2:
            expected, sizes = expected[:, 1:] - expected[:, :1], sizes.sum(axis=1, keepdims=True)
        if expected.shape[1] == 1:
            expected, sizes = expected[:, 0], sizes[:, 0]
        off = np.abs(found - expected) / (EPSILON * (sizes + 1e-30))
        self.assertTrue(np.isfinite(found).all())
        self.assertLess(off.max(), 64, f"{found} is not {expected}")

    @examples(30)
    @given(banks(), st.sampled_from(["spicy", "spom", "obscure", "pegasos", "average", "svm"]),
           st.data())
    def test_scores_are_sums_over_support_rows(self, bank, method, data):
        X, y, specs = bank
        rows = data.draw(tables(columns=(X.shape[1], X.shape[1]), values=POSITIVE))
        with quietly():
            model = learner(specs, method).fit(X, y)
        self.near(model.decision_function(rows), model, rows)

    @examples(20)
    @given(labelled(rows=(9, 14), classes=3), st.sampled_from(ANY_SIGN),
           st.sampled_from(["spicy", "spom"]), st.sampled_from([None, "standard", "maxabs"]))
    def test_scores_of_three_classes(self, drawn, spec, method, scale):
        X, y = drawn
        with quietly():
            model = learner([spec, "linear"], method, scale=scale).fit(X, y)
        self.near(model.decision_function(X), model, X)

    @examples(20)
    @given(banks(), st.sampled_from(["squared", "epsilon(0.1)"]))
    def test_numbers_are_sums_over_support_rows(self, bank, loss):
        X, y, specs = bank
        with quietly():
            model = MKLRegressor(specs, loss=loss, n_jobs=1).fit(X, y * 2.5 - 1)
        self.near(model.predict(X), model, X)


class Holders(InFolder):
    """The same numbers are the same numbers, whatever holds them."""

    @examples(40)
    @given(labelled(), st.sampled_from(["spicy", "spom"]), st.data())
    def test_predictions_do_not_depend_on_what_holds_the_rows(self, drawn, method, data):
        X, y = drawn
        with quietly():
            model = learner(["linear", "rbf(sigma2=5)"], method).fit(X, y)
        held = data.draw(holders(X))
        np.testing.assert_array_equal(model.decision_function(held), model.decision_function(X))

    @examples(40)
    @given(labelled(), st.sampled_from(["spicy", "spom", "obscure"]), st.data())
    def test_models_do_not_depend_on_what_holds_the_rows(self, drawn, method, data):
        X, y = drawn
        held = data.draw(holders(X, thin=False))
        with quietly():
            ours, theirs = (learner(["linear", "rbf(sigma2=5)"], method).fit(rows, y)
                            for rows in (X, held))
        self.assertEqual(ours.model_.to_bytes(), theirs.model_.to_bytes())

    @examples(20)
    @given(labelled(columns=(2, 8)), st.data())
    def test_models_of_sparse_rows_are_those_of_dense_rows(self, drawn, data):
        X, y = drawn
        held = data.draw(holders(X))
        with quietly():
            ours, theirs = (learner(["linear", "rbf(sigma2=5)"], "spicy", gap=1e-6).fit(rows, y)
                            for rows in (X, held))
        unit = 1 + np.abs(ours.decision_function(X)).max()
        np.testing.assert_allclose(theirs.decision_function(held), ours.decision_function(X),
                                   atol=2e-2 * unit)
        self.assertAlmostEqual(ours.objective_, theirs.objective_, delta=1e-5)

    @examples(20)
    @given(labelled(), st.data())
    def test_targets_do_not_depend_on_what_holds_them(self, drawn, data):
        X, y = drawn
        held = data.draw(holders(y[:, None].astype(np.float32), thin=False))
        with quietly():
            ours, theirs = (MKLRegressor("rbf(sigma2=5)", n_jobs=1).fit(X, numbers)
                            for numbers in (y, np.asarray(held).ravel()))
        self.assertEqual(ours.model_.to_bytes(), theirs.model_.to_bytes())

    @examples(15)
    @given(labelled(rows=(6, 12)), st.data())
    def test_sequences_do_not_depend_on_what_holds_them(self, drawn, data):
        X, y = drawn
        parts, labels = [X[:3], X[3:]], [y[:3].tolist(), y[3:].tolist()]
        held = [data.draw(holders(part, thin=False, objects=False)) for part in parts]
        with quietly():
            ours, theirs = (
                SequenceLabeler(kernels=["linear"], epochs=2, n_jobs=1).fit(rows, labels)
                for rows in (parts, held))
        self.assertEqual(ours.model_.to_bytes(), theirs.model_.to_bytes())

    @examples(15)
    @given(labelled(rows=(6, 12)), st.sampled_from(SPARSE), st.sampled_from(["f4", "f8", "f2"]))
    @example((np.eye(6, dtype=np.float32), np.arange(6) % 2), "dok", "f4")  # which is a dict
    def test_sparse_sequences_are_dense_ones(self, drawn, layout, dtype):
        X, y = drawn
        with quietly():
            model = SequenceLabeler(kernels=["linear"], epochs=2, n_jobs=1).fit([X], [y.tolist()])
        dtype = "f4" if layout != "csr" else dtype if np.array_equal(X.astype(dtype), X) else "f4"
        thin = sparse.csr_matrix(X.astype("f4")).asformat(layout).astype(dtype)
        np.testing.assert_array_equal(model.predict_proba([thin])[0], model.predict_proba([X])[0])

    @examples(10)
    @given(st.data())
    def test_words_do_not_depend_on_what_holds_them(self, data):
        X, y = trees(6)
        forms = [lambda w: w, list, lambda w: {"form": w[0], "upos": w[1]},
                 lambda w: (w[0], None, w[1], None, None), lambda w: {"upos": w[1], "form": w[0]}]
        held = [[data.draw(st.sampled_from(forms))(word) for word in words] for words in X]
        ours, theirs = (DependencyParser("arc-form-upos", hash_bits=8, epochs=1, n_jobs=1).fit(
            words, y) for words in (X, held))
        self.assertEqual(ours.model_.to_bytes(), theirs.model_.to_bytes())
        self.assertEqual(ours.predict(X), theirs.predict(held))


class Precomputed(InFolder):
    """A kernel of NumPy's and the library's own give the same optimum."""

    @examples(20)
    @given(labelled(values=POSITIVE), st.sampled_from(ANY_SIGN[:6] + NOT_NEGATIVE))
    def test_precomputed_values_are_computed_values(self, drawn, spec):
        X, y = drawn
        K = kernel_values(spec, X, X)[0]
        with quietly():
            ours = learner([spec], "spicy", gap=1e-6).fit(X, y)
            theirs = learner("precomputed", "spicy", gap=1e-6).fit(K, y)
        unit = 1 + np.abs(ours.decision_function(X)).max()
        self.assertAlmostEqual(ours.objective_, theirs.objective_, delta=1e-4)
        np.testing.assert_allclose(theirs.decision_function(K), ours.decision_function(X),
                                   atol=2e-2 * unit)
