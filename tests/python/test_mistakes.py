# SPDX-License-Identifier: BSD-3-Clause
"""Ordinary mistakes are answered with a sentence that names what Python calls it."""

import re
import unittest
import warnings

import medley
import numpy as np
from medley import DependencyParser, MKLClassifier, MKLRegressor, SequenceLabeler, _names
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics.pairwise import linear_kernel
from sklearn.model_selection import cross_val_score
from support import InFolder, rings, sentences, trees


class Mistakes(InFolder):
    def setUp(self):
        super().setUp()
        self.X, self.y = rings(40)
        self.K = linear_kernel(self.X)

    def refused(self, cases):
        """cases: (words of the sentence, what is done)."""
        for words, work in cases:
            with self.subTest(words=words):
                with self.assertRaisesRegex(medley.MedleyError, re.escape(words)) as caught:
                    work()
                self.assertIsInstance(caught.exception, ValueError)
                self.assertNotRegex(str(caught.exception), "--|`")


class Rows(Mistakes):
    def fit(self, *arguments, **parameters):
        return MKLClassifier(*arguments, **parameters).fit(self.X, self.y)

    def test_columns_of_very_different_spread_are_warned_of(self):
        X, y = rings(60)
        X = X * np.where(np.arange(X.shape[1]) == 0, 1e5, 1)
        X = np.abs(X)  # kernels of histograms keep columns as they are
        with self.assertWarnsRegex(UserWarning, "scale='minmax'"):
            MKLClassifier("chi2").fit(X, y)
        with self.assertWarnsRegex(UserWarning, "differ greatly in spread"):
            medley.tune(X, y, {"C": [1, 2]}, estimator=MKLClassifier("chi2"), cv=2, refit=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(MKLClassifier("rbf(auto)").fit(X, y).scale_, "standard")
            self.assertEqual(MKLClassifier("chi2", scale="minmax").fit(X, y).scale_, "minmax")
            medley.tune(X, y, {"scale": [None, "minmax"]}, cv=2, refit=False)

    def test_models_of_nothing_and_uneven_sparse_columns_are_warned_of(self):
        X, y = self.X, self.y
        with self.assertWarnsRegex(UserWarning, "every block was left out"):
            self.fit("rbf(auto)", lambda_=1e6)
        uneven = sparse.csr_matrix(X * np.where(np.arange(X.shape[1]) == 0, 1e5, 1))
        with self.assertWarnsRegex(UserWarning, "use scale='maxabs'"):
            MKLClassifier("rbf(auto)").fit(uneven, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            MKLClassifier("rbf(auto)", scale="maxabs").fit(uneven, y)
            MKLClassifier("rbf(auto)").fit(sparse.csr_matrix(X), y)

    def test_missing_labels_are_no_class(self):
        X, half = self.X, len(self.X) // 2
        texts = ["a"] * half + ["b"] * (half - 1)
        last = len(texts)
        for missing in (None, float("nan"), np.float64("nan")):
            for labels in ([*texts, missing], np.array([*texts, missing], dtype=object)):
                self.refused((
                    (f"as the label of row {last}; every row needs a label",
                     lambda labels=labels: MKLClassifier("rbf(auto)").fit(X, labels)),
                    (f"as the label of row {last}; every row needs a label",
                     lambda labels=labels: medley.tune(X, labels, {"C": [1, 2]}, cv=2)),
                ))
        self.refused((("as the label of row 1; every row needs a label",
                       lambda: MKLRegressor("rbf(auto)").fit(X, [1.5, None, *self.y[2:]])),))
        self.assertEqual(list(MKLClassifier("rbf(auto)").fit(X, [*texts, "nan"]).classes_), ["a", "b", "nan"])

    def test_whole_numbers_are_not_negative(self):
        X, y, model = self.X, self.y, self.fit("rbf(auto)")
        self.refused((
            ("count=-1", lambda: medley.regularization_path(X, y, count=-1)),
            ("cv=-3", lambda: medley.tune(X, y, {"C": [1]}, cv=-3)),
            ("cv=2.5", lambda: medley.tune(X, y, {"C": [1]}, cv=2.5)),
            ("image_shape=-2", lambda: self.fit(image_shape=(-2, -2))),
            ("image_shape=3", lambda: self.fit(image_shape=3)),
            ("rows=-1", lambda: medley.generate("ringnorm", rows=-1)),
            ("examples=-1", lambda: model.report(self.folder / "r.html", examples=-1)),
            ("n_jobs=1.5", lambda: self.fit(n_jobs=1.5)),
            ("most=-1", lambda: model.strongest(0, -1)),
        ))
        for number in (-1, 99):
            with self.assertRaises(IndexError):
                model.strongest(number)

    def test_sentences_have_names_of_parameters(self):
        self.refused((
            ("C=-1 is out", lambda: self.fit(C=-1)),
            ("random_state=-1", lambda: self.fit(random_state=-1)),
            ("lambda_, C and options={'spicy-C': ...}", lambda: self.fit(C=1, lambda_=1)),
            ("has no place in method='spom'; leave out gap", lambda: self.fit(method="spom", gap=0.1)),
            ("use scale='minmax'", lambda: self.fit("chi2")),
            ("in MKLRegressor of", lambda: MKLRegressor(loss="hinge").fit(self.X, self.y)),
            ("epochs is about methods spom, pegasos, om2, frank-wolfe, fista, gauss-seidel-pegasos, simplemkl-pegasos, average and best", lambda: self.fit(method="spicy", epochs=3)),
            ("the view 'b'", lambda: MKLClassifier("linear").fit(
                {"a": self.X, "b": self.X}, self.y).predict({"a": self.X})),
            ("had 4 in training", lambda: MKLClassifier("linear").fit(
                {"a": self.X, "b": self.X}, self.y).predict({"a": self.X, "b": self.X[:, :2]})),
        ))

    def test_options_in_sentences_become_parameters(self):
        for given, wanted in (
            ("`ridge=0.01` would; `ridge` adds", "options={'ridge': 0.01} would; "
             "options={'ridge': ...} adds"),
            ("use `penalty='l1'` or `penalty`, or `method=lp-beta`.",
             "use penalty='l1' or penalty, or method='lp-beta'."),
            ("`bigram=none` does, `bigram` does; `loss=epsilon(0.1)`", "bigram='none' does, bigram "
             "does; loss='epsilon(0.1)'"),
            ("use `task=regression`, a - b -- c", "use MKLRegressor, a - b -- c"),
            ("`seed=-1`, `template=FILE`; give `view=a=FILE` and `labels`",
             "random_state=-1, template=FILE; give X and y"),
        ):
            self.assertEqual(_names.in_python(given), wanted)

    def test_kernel_values_fit(self):
        X, y, K = self.X, self.y, self.K
        model = self.fit([K], normalize="diag")
        views = medley.Views(k=K)
        self.refused((
            ("shape (1,)", lambda: model.predict(X, grams=[(K, np.array([2.0]))])),
            ("grams=[(matrix, diagonal)]", lambda: model.predict(X, grams=[K])),
            ("grams=[matrix]", lambda: model.predict(X, grams=K)),
            ("needs K(x, x)", lambda: MKLClassifier("precomputed", normalize="diag").fit(K, y)),
            ("not of views", lambda: MKLClassifier(["precomputed@k"]).fit(views[:20], y[:20])),
            ("twice", lambda: MKLClassifier(["precomputed"] * 2).fit(K, y)),
        ))
        self.assertEqual(model.predict(X, grams=[(K, np.diag(K))]).shape, (40,))
        self.assertEqual(len(cross_val_score(MKLClassifier(["precomputed"]), K, y, cv=2)), 2)
        thin = MKLClassifier("precomputed").fit([sparse.csr_matrix(K), sparse.csr_matrix(K)], y)
        self.assertEqual(len(thin.blocks_), 2)
        called = self.fit([lambda A, B: sparse.csr_matrix(A @ B.T), linear_kernel])
        self.assertEqual(called.predict(X).shape, (40,))
        twice = MKLClassifier([(linear_kernel, "a"), (linear_kernel, "a")]).fit({"a": X}, y)
        self.assertEqual(twice.blocks_, ["linear_kernel@a", "linear_kernel2@a"])

    def test_arguments_of_another_type(self):
        X, y, model = self.X, self.y, self.fit("rbf(auto)")
        self.assertFalse(hasattr(MKLClassifier(3), "partial_fit"))
        self.refused((
            ("kernels=3", lambda: self.fit(3)),
            ("options=3", lambda: self.fit(options=3)),
            ("calibrate='no'", lambda: self.fit(calibrate="no")),
            ("calibrate='no'", lambda: self.fit(options={"calibrate": "no"})),
            ("requires y", lambda: model.report(self.folder / "r.html", X)),
            ("requires y", lambda: model.evaluate(X, None)),
            ("the key 3", lambda: MKLClassifier().fit({3: X}, y)),
            ("eval_set is a pair", lambda: MKLClassifier().fit(X, y, eval_set=(X,))),
            ("views=3", lambda: self.fit(views=3)),
            ("there are 4", lambda: self.fit(views={"a": [9]})),
            ("verbose='x'", lambda: self.fit(verbose="x")),
            ("expected a medley.Tuning", lambda: model.report(self.folder / "r.html", tuning=3)),
            ("grams is a list", lambda: model.predict(X, grams=3)),
            ("eval_set is a pair", lambda: MKLClassifier().fit(X, y, eval_set=X)),
        ))
        column = model.evaluate(X, y.reshape(-1, 1))
        self.assertEqual(column["accuracy"], model.score(X, y))
        MKLClassifier(method="spom", epochs=2).fit(X, y, eval_set=[X, y])
        wide = sparse.csr_matrix(X.astype(np.float64))
        wide.indices = wide.indices.astype(np.int64)
        wide.indices[0] += 2**32
        with self.assertRaisesRegex(medley.InputError, "beyond"):
            medley._dataset.Dataset().put_table(wide)

    def test_grids_are_understood(self):
        X, y = self.X, self.y
        model = MKLClassifier("rbf(auto)")
        found = medley.tune(X, y, {}, cv=2, estimator=model)
        self.assertGreater(len(found.trials), 2)
        self.assertIsInstance(found.best_params_["C"], float)
        for grid, names in (({"max_iter": (n for n in (5, 50))}, {"max-iter"}),
                            ({"normalize": [None, "diag"], "gap": [None]}, {"normalize", "gap"}),
                            ({"scale": [None, "standard"]}, {"scale"}),
                            ({"lambda": [0.1, 1]}, {"lambda_"})):
            found = medley.tune(X, y, grid, cv=2, estimator=model)
            self.assertEqual(set(found.best_params_), names)
        self.refused((
            ("GridSearchCV", lambda: medley.tune(X, y, {}, estimator=RandomForestClassifier())),
            ("GridSearchCV", lambda: medley.regularization_path(X, y, estimator=MKLClassifier)),
            ("None", lambda: medley.tune(X, y, {"C": [None, 1]}, estimator=model)),
            ("a dict", lambda: medley.tune(X, y, ["C"], estimator=model)),
        ))


class Lists(Mistakes):
    def test_sequences(self):
        X, y = sentences(10)
        model = SequenceLabeler(epochs=2).fit(X, y)
        table = [np.ones((2, 3)), np.array([[1, 2, 3], [1, np.nan, 3]])]
        fit = lambda X, y: SequenceLabeler(epochs=2).fit(X, y)
        self.refused((
            ("sequence 0 is a text", lambda: model.predict(["the", "dog"])),
            ("sequence 1 is a NoneType", lambda: model.predict([["a"], None])),
            ("sequence 0 is a NoneType", lambda: fit([None], [["x"]])),
            ("token 1 of sequence 2 is None", lambda: fit([["a"], [], ["b", None]],
                                                          [["x"], [], ["x", "y"]])),
            ("token 1 of sequence 0 is {", lambda: fit([["a", {"b": 1}]], [["x", "y"]])),
            ("token 1 of sequence 0 is 'b'", lambda: fit([[{"b": 1}, "b"]], [["x", "y"]])),
            ("X[2][1]: found 'a:nan'", lambda: fit(
                [[{"a": 1.0}], [], [{"a": 1.0}, {"a": float("nan")}]], [["x"], [], ["x", "y"]])),
            ("X[1][1] holds nan", lambda: fit(table, [["x", "y"]] * 2)),
            ("None or NaN", lambda: fit([["a", "b"]], [[1.0, float("nan")]])),
            ("a token is", lambda: fit([np.ones((2, 2), dtype=complex)], [["x", "y"]])),
            ("order=3", lambda: SequenceLabeler(order=3).fit(X, y)),
            ("y[0] is a int", lambda: fit([["a"]], [3])),
            ("eval_set[1][0]", lambda: SequenceLabeler(epochs=2).fit(
                [[{"a": 1.0}, {"b": 1.0}]] * 3, [["x", "y"]] * 3,
                eval_set=([[{"a": 1.0}], [{"a": 1e300}]], [["x"], ["y"]]))),
            ("count=0", lambda: model.predict_best(X, 0)),
        ))

    def test_views_of_sequences(self):
        random = np.random.RandomState(0)
        X = [random.randn(4, 3) for _ in range(10)]
        y = [["p" if row[0] > 0 else "q" for row in sequence] for sequence in X]
        views = {"one": [0], "rest": slice(1, 3)}
        model = SequenceLabeler(kernels=["linear"], views=views, epochs=3).fit(X, y)
        self.assertEqual([name.split("@")[-1] for name in model.blocks_[:2]], ["one", "rest"])
        self.assertGreater(model.score(X, y), 0.8)

    def test_trees(self):
        X, y = trees(10)
        fit = lambda X, y: DependencyParser("arc-form-upos", hash_bits=10, epochs=1).fit(X, y)
        model = fit(X, y)
        two = [("a", "D"), ("b", "N")]
        self.refused((
            ("sentence 0 is a text", lambda: model.predict(["the", "dog"])),
            ("X is a list", lambda: model.parse_conllu(b"1\ta\n")),
            ("y[0][1] is (None, 'x')", lambda: fit([two], [[(2, "x"), (None, "x")]])),
            ("y[0][1] is (0, 'x', 3)", lambda: fit([two], [[(2, "x"), (0, "x", 3)]])),
            ("y[0][0] is (2.7, 'x')", lambda: fit([two], [[(2.7, "x"), (0, "x")]])),
            ("word 1 of sentence 1 is None", lambda: fit([[], [("a", "D"), None]],
                                                         [[], [(2, "x"), (0, "x")]])),
            ("X[2][0]: the HEAD is 9", lambda: fit([two, [], two], [
                [(2, "x"), (0, "x")], [], [(9, "x"), (0, "x")]])),
            ("use roots='many'", lambda: fit([two], [[(0, "x"), (0, "x")]])),
            ("train with unlabelled", lambda: fit([two], [[(2, "x"), (0, None)]])),
            ("y[0] is 3", lambda: fit([two], [3])),
            ("unlabelled='no'", lambda: DependencyParser(unlabelled="no").fit(X, y)),
            ("template=3", lambda: DependencyParser(3).fit(X, y)),
        ))
        self.assertEqual(model.parse_conllu([]), "")


if __name__ == "__main__":
    unittest.main()
