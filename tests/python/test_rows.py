# SPDX-License-Identifier: BSD-3-Clause
"""Classifiers and regressors: what comes in, what comes out, and the command beside them."""

import pickle
import unittest

import medley
import numpy as np
from medley import MKLClassifier, MKLRegressor, Views
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from support import InFolder, command, frame, needs_command, rings

SPECS = ["linear(norm=diag)", "rbf(sigma2=5)"]


class Parity(InFolder):
    """The same data and options give the same bytes as the command does."""

    def write(self, X, y, name="train"):
        np.save(self.folder / f"{name}.npy", X)
        np.save(self.folder / f"{name}-y.npy", y)

    def trained(self, *options, data=("train.npy",)):
        model = self.folder / "m.medley"
        paths = [str(self.folder / item) for item in data]
        command("train", "--quiet", "--model", model, "--labels", self.folder / "train-y.npy",
                *options, *paths)
        return model.read_bytes()

    def same(self, estimator, X, y, *options, **arguments):
        self.write(X, y)
        ours = estimator.fit(X, y).model_.to_bytes()
        self.assertEqual(ours, self.trained(*options, **arguments))

    @needs_command
    def test_models_are_the_bytes_that_the_command_writes(self):
        X, y = rings(120)
        self.same(MKLClassifier(), X, y)
        self.same(MKLClassifier(SPECS, C=3, gap=1e-3, scale="standard"), X, y, "--kernel", SPECS[0],
                  "--kernel", SPECS[1], "--C", 3, "--gap", 1e-3, "--scale", "standard")
        self.same(MKLClassifier(method="spom", penalty="l2", epochs=7, random_state=5), X, y,
                  "--method", "spom", "--penalty", "l2", "--epochs", 7, "--seed", 5)
        self.same(MKLClassifier(method="obscure", p=1.1, views="all+each", normalize="trace"), X, y,
                  "--method", "obscure", "--p", 1.1, "--views", "all+each", "--normalize", "trace")
        self.same(MKLClassifier(loss="logistic", calibrate=True), X, y, "--loss", "logistic",
                  "--calibrate")
        self.same(MKLClassifier(options={"ridge": 0.1, "storage": "float64"}), X, y, "--ridge", 0.1,
                  "--storage", "float64")

    @needs_command
    def test_several_classes_and_numbers_match_the_command_too(self):
        X, y = medley.generate("waveform", rows=150, seed=4)
        self.same(MKLClassifier(SPECS, epochs=5), X, y, "--kernel", SPECS[0], "--kernel", SPECS[1],
                  "--epochs", 5)
        targets = X[:, 0] + 0.5 * X[:, 1].astype(np.float64) ** 2
        self.same(MKLRegressor(gap=1e-4), X, targets, "--task", "regression", "--gap", 1e-4)

    @needs_command
    def test_precomputed_kernels_match_the_command(self):
        X, y = rings(80)
        K = np.stack([rbf_kernel(X, gamma=0.1), linear_kernel(X)])
        np.save(self.folder / "K.npy", K)
        self.write(X, y)
        model = MKLClassifier("precomputed").fit({"K1": K[0], "K2": K[1]}, y)
        ours = model.model_.to_bytes()
        self.assertEqual(ours, self.trained("--gram", f"K={self.folder / 'K.npy'}", data=()))

    @needs_command
    def test_views_match_the_command(self):
        X, y = rings(90, columns=5)
        self.write(X, y)
        np.save(self.folder / "a.npy", X[:, :2])
        np.save(self.folder / "b.npy", X[:, 2:])
        views = [f"a={self.folder / 'a.npy'}", f"b={self.folder / 'b.npy'}"]
        theirs = self.trained("--view", views[0], "--view", views[1], "--kernel", "rbf", data=())
        as_dict = MKLClassifier("rbf").fit({"a": X[:, :2], "b": X[:, 2:]}, y)
        self.assertEqual(as_dict.model_.to_bytes(), theirs)
        cut = MKLClassifier("rbf", views={"a": [0, 1], "b": slice(2, 5)}).fit(X, y)
        self.assertEqual(cut.model_.to_bytes(), theirs)

    @needs_command
    def test_files_go_both_ways(self):
        X, y = rings(100)
        self.write(X, y)
        model = MKLClassifier(SPECS).fit(X, y)
        model.save(self.folder / "p.medley")
        told = command("predict", "--model", self.folder / "p.medley", self.folder / "train.npy")
        self.assertEqual(told.split(), [str(label) for label in model.predict(X)])
        self.trained("--kernel", SPECS[1])
        loaded = MKLClassifier.load(self.folder / "m.medley")
        self.assertEqual(loaded.classes_.tolist(), [0, 1])
        same = MKLClassifier(SPECS[1]).fit(X, y)
        np.testing.assert_array_equal(loaded.decision_function(X), same.decision_function(X))
        with self.assertRaisesRegex(ValueError, "numbers"):
            MKLRegressor.load(self.folder / "m.medley")


class Inputs(InFolder):
    def test_sparse_is_dense(self):
        X, y = rings(100, columns=8)
        X[np.abs(X) < 1] = 0
        for kind in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
            for dtype in (np.float32, np.float64):
                dense = MKLClassifier(SPECS, method="spicy").fit(X, y)
                thin = MKLClassifier(SPECS, method="spicy").fit(kind(X, dtype=dtype), y)
                np.testing.assert_allclose(thin.decision_function(kind(X)),
                                           dense.decision_function(X), rtol=1e-3, atol=1e-3)

    def test_types_and_layouts_do_not_matter(self):
        X, y = rings(100)
        expected = MKLClassifier(SPECS).fit(X, y).decision_function(X)
        wide = np.zeros((100, 9), dtype=np.float32)
        wide[:, 3:7] = X
        layouts = {
            "float64": X.astype(np.float64),
            "fortran": np.asfortranarray(X),
            "part of a wider array": wide[:, 3:7],
            "every second row": np.repeat(X, 2, axis=0)[::2],
            "turned around": X[::-1].copy()[::-1],
            "big-endian": X.astype(">f4"),
            "lists": X.tolist(),
        }
        for name, same in layouts.items():
            with self.subTest(layout=name):
                model = MKLClassifier(SPECS).fit(same, y)
                np.testing.assert_array_equal(model.decision_function(same), expected)

    def test_labels_keep_their_type(self):
        X, y = rings(60)
        for labels in (np.array(["no", "yes"]), np.array([-1, 1], dtype=np.int8),
                       np.array([0.5, 2.0]), np.array([False, True]), np.array(["01", "1"]),
                       np.array(["a", "b"], dtype=object), np.array([10**12, 10**12 + 1])):
            with self.subTest(labels=labels):
                model = MKLClassifier("rbf(auto)")
                if labels.dtype == np.float64:
                    with self.assertRaisesRegex(ValueError, "continuous"):
                        model.fit(X, labels[y])
                    continue
                predicted = model.fit(X, labels[y]).predict(X)
                self.assertEqual(predicted.dtype, labels.dtype)
                self.assertGreater((predicted == labels[y]).mean(), 0.8)
                np.testing.assert_array_equal(model.classes_, labels)

    def test_shapes_are_those_of_scikit_learn(self):
        X, y = medley.generate("waveform", rows=120, seed=1)
        three = MKLClassifier(epochs=3).fit(X, y)
        self.assertEqual(three.decision_function(X).shape, (120, 3))
        np.testing.assert_array_equal(three.decision_function(X).argmax(axis=1), three.predict(X))
        np.testing.assert_allclose(three.predict_proba(X).sum(axis=1), 1)
        two = MKLClassifier(epochs=3).fit(X[y < 2], y[y < 2])
        scores = two.decision_function(X)
        self.assertEqual(scores.shape, (120,))
        np.testing.assert_array_equal((scores > 0).astype(int), two.predict(X))
        np.testing.assert_allclose(np.log(two.predict_proba(X)), two.predict_log_proba(X))

    def test_what_was_learnt_is_told(self):
        X, y = rings(120)
        model = MKLClassifier(["rbf(sigma2={1,5,25})"], gap=1e-3).fit(X, y)
        self.assertEqual(len(model.blocks_), 3)
        self.assertAlmostEqual(model.weights_.sum(), 1)
        self.assertLessEqual(model.gap_, 1e-3)
        self.assertLessEqual(model.dual_, model.objective_)
        told = model.summary()
        self.assertEqual(told["method"], "spicy")
        self.assertEqual([block.name for block in told["blocks"]], model.blocks_)
        figures = model.evaluate(X, y)
        self.assertEqual(figures["accuracy"], model.score(X, y))
        self.assertEqual(figures["confusion"].sum(), 120)
        self.assertIn("log_loss", figures)

    def test_what_theorems_say_is_told(self):
        X, y = rings(60)
        told = MKLClassifier("rbf", method="spom", epochs=3).fit(X, y).summary()["theory"]
        self.assertEqual(list(told), ["G", "F", "regret_bound", "regret"])
        self.assertLess(told["regret"], told["regret_bound"])
        told = MKLClassifier("rbf", method="obscure").fit(X, y).summary()["theory"]
        self.assertLessEqual(told["online_updates"], told["mistake_bound"])
        self.assertIsNone(MKLClassifier("rbf", method="spicy").fit(X, y).summary()["theory"])

    def test_preselected_kernels_are_told(self):
        X, y = rings(80)
        model = MKLClassifier(["rbf(sigma2={0.0001,2})", "linear"], preselect=1).fit(X, y)
        told = model.summary()["preselected"]
        self.assertEqual([k["kernel"] for k in told if k["kept"]], model.blocks_)
        self.assertEqual(model.blocks_, ["rbf(sigma2=2)@all"])
        self.assertEqual([k["error"] for k in told], sorted(k["error"] for k in told))
        with self.assertRaisesRegex(medley.UsageError, "neither a number of kernels nor view"):
            MKLClassifier("linear", preselect="all").fit(X, y)

    def test_distances_are_kernels(self):
        X, y = rings(80)
        D = np.abs(X[:, None] - X[None]).sum(axis=2)
        train, new = D[:60, :60], D[60:, :60]
        gamma = train.sum() / (60 * 59)
        values = MKLClassifier(np.exp(-train / gamma)).fit(X[:60], y[:60])
        model = MKLClassifier([medley.Distances(train)]).fit(X[:60], y[:60])
        self.assertAlmostEqual(model.objective_, values.objective_, 5)
        np.testing.assert_array_equal(model.predict(X[60:], grams=[new]),
                                      values.predict(X[60:], grams=[np.exp(-new / gamma)]))
        with self.assertRaisesRegex(medley.InputError, "distances are numbers of 0 or more"):
            MKLClassifier(medley.Distances(-train)).fit(X[:60], y[:60])

    def test_labels_never_seen_count_as_wrong(self):
        X, y = rings(60)
        model = MKLClassifier("rbf(auto)").fit(X, y)
        strange = np.where(np.arange(60) < 10, 7, model.predict(X))
        self.assertAlmostEqual(model.evaluate(X, strange)["accuracy"], 50 / 60)

    def test_views_can_be_cut_by_rows(self):
        X, y = rings(60)
        views = Views(a=X[:, :2], b=sparse.csr_matrix(X[:, 2:]))
        part = views[np.arange(10)]
        self.assertEqual(part.shape, (10, 4))
        model = MKLClassifier("rbf", method="spicy").fit(views, y)
        np.testing.assert_allclose(model.decision_function(part),
                                   model.decision_function(views)[:10], atol=1e-5)

    def test_frames_have_columns_by_name(self):
        X, y = rings(60)

        table = frame(X, ["a", "b", "c", "d"])
        model = MKLClassifier("rbf", views={"one": ["b", "d"], "two": "a"}).fit(table, y)
        self.assertEqual(model.feature_names_in_.tolist(), ["a", "b", "c", "d"])
        same = MKLClassifier("rbf", views={"one": [1, 3], "two": [0]}).fit(X, y)
        np.testing.assert_array_equal(model.predict(table), same.predict(X))
        self.assertEqual(model.objective_, same.objective_)
        with self.assertRaisesRegex(ValueError, "no such columns"):
            MKLClassifier("rbf", views={"one": ["z"]}).fit(table, y)

    def test_frames_are_matched_by_name(self):
        X, y = rings(80)
        X[:, 3] *= 50
        names = ["a", "b", "c", "d"]
        table = frame(X, names)
        moved = frame(np.column_stack([X[:, 2], y, X[:, [3, 0, 1]]]), ["c", "x", "d", "a", "b"])
        few = frame(X[:, 1:3], ["b", "c"])
        model = MKLClassifier(SPECS, scale="standard").fit(table, y)
        right = model.decision_function(table)
        model.save(self.folder / "m.medley")
        loaded = MKLClassifier.load(self.folder / "m.medley")
        for one in (model, pickle.loads(pickle.dumps(model)), loaded):
            self.assertEqual(one.feature_names_in_.tolist(), names)
            self.assertEqual(one.n_features_in_, 4)
            np.testing.assert_array_equal(one.decision_function(moved), right)
            self.assertEqual(one.evaluate(moved, y)["log_loss"],
                             model.evaluate(table, y)["log_loss"])
            with self.assertRaisesRegex(ValueError, r"no columns \['a', 'd'\].* \['b', 'c'\]"):
                one.predict(few)

    @needs_command
    def test_names_of_csv_files_are_those_of_frames(self):
        X, y = rings(60)
        rows = [",".join([*map(repr, map(float, row)), str(label)]) for row, label in zip(X, y)]
        (self.folder / "train.csv").write_text("\n".join(["a,b,c,d,kind", *rows, ""]))
        command("train", "--quiet", "--model", self.folder / "m.medley", self.folder / "train.csv")
        model = MKLClassifier.load(self.folder / "m.medley")
        self.assertEqual(model.feature_names_in_.tolist(), ["a", "b", "c", "d"])
        np.testing.assert_array_equal(
            model.predict(frame(X[:, ::-1], ["d", "c", "b", "a"])), model.predict(frame(X, "abcd"))
        )

    def test_kernel_values_in_a_dict_are_matched_by_name(self):
        X, y = rings(90)
        K, L = X @ X.T, np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
        new, old = slice(60, None), slice(60)
        model = MKLClassifier("precomputed").fit({"linear": K[old, old], "rbf": L[old, old]}, y[old])
        right = model.decision_function({"linear": K[new, old], "rbf": L[new, old]})
        np.testing.assert_array_equal(model.decision_function({"rbf": L[new, old], "linear": K[new, old]}), right)
        for words, given in (("X has no kernel 'linear'", {"rbf": L[new, old]}),
                             ("X has no kernel 'linear'", {"a": K[new, old], "b": L[new, old]}),
                             ("X has a kernel 'more'", {"linear": K[new, old], "rbf": L[new, old], "more": K[new, old]})):
            with self.assertRaisesRegex(ValueError, words):
                model.predict(given)

    def test_views_are_matched_by_name(self):
        X, y = rings(60)
        X[:, 1] *= 20
        views = {"one": frame(X[:, :2], ["a", "b"]), "two": X[:, 2:]}
        moved = {"one": frame(np.column_stack([X[:, 1], y, X[:, 0]]), ["b", "x", "a"]),
                 "two": X[:, 2:]}
        model = MKLClassifier("rbf", scale="standard").fit(views, y)
        model.save(self.folder / "m.medley")
        for one in (model, MKLClassifier.load(self.folder / "m.medley")):
            np.testing.assert_array_equal(one.decision_function(moved),
                                          model.decision_function(views))
            with self.assertRaisesRegex(ValueError, "are missing: 'a'"):
                one.predict({**moved, "one": frame(X[:, 1:2], ["b"])})

    def test_images_have_tiles(self):
        X, y = rings(80, columns=16)
        model = MKLClassifier("rbf", views="grid:2x2", image_shape=(4, 4)).fit(X, y)
        self.assertEqual(len(model.blocks_), 4)

    def test_pieces_give_the_model_of_the_whole(self):
        X, y = medley.generate("waveform", rows=240, seed=2)
        kernels = ["linear", "rbf(sigma2=20)"]
        whole = MKLClassifier(kernels, options={"eta": 0.1}).partial_fit(X, y, classes=[0, 1, 2])
        pieces = MKLClassifier(kernels, options={"eta": 0.1})
        for start in range(0, 240, 80):
            pieces.partial_fit(X[start:start + 80], y[start:start + 80], classes=[0, 1, 2])
        expected = whole.decision_function(X)
        np.testing.assert_allclose(pieces.decision_function(X), expected, atol=1e-3)
        late = MKLClassifier(kernels).partial_fit(X[y > 0], y[y > 0])
        late.partial_fit(X[y == 0], y[y == 0])
        self.assertEqual(late.classes_.tolist(), [0, 1, 2])
        self.assertTrue((late.predict(X) == 0).any())

    def test_pieces_are_offered_only_where_they_can_be_learnt(self):
        X, y = rings(60)
        for parameters in ({"method": "spicy"}, {"C": 1}, {"calibrate": True}):
            self.assertFalse(hasattr(MKLClassifier(**parameters), "partial_fit"), parameters)
        with self.assertRaises(AttributeError) as caught:
            MKLClassifier(calibrate=True).partial_fit(X, y)
        told = str(caught.exception.__cause__ or caught.exception)  # as scikit-learn 1.3 has it
        self.assertRegex(told, "calibrate is about .* has no place")
        state = np.random.RandomState(3)
        drawn = MKLClassifier(random_state=state)
        before = state.get_state()[2]
        self.assertTrue(hasattr(drawn, "partial_fit"))
        self.assertEqual(state.get_state()[2], before)
        model = MKLClassifier("rbf(auto)").partial_fit(X, y)
        copied = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copied.predict(X), model.predict(X))
        with self.assertRaisesRegex(ValueError, "fit starts anew"):
            copied.partial_fit(X, y)
        with self.assertRaisesRegex(ValueError, "among classes"):
            model.partial_fit(X, y + 5, classes=[0, 1])
        model.partial_fit(X, y)
        fresh = MKLClassifier("rbf(auto)").fit(X, y)
        self.assertEqual(model.fit(X, y).objective_, fresh.objective_)

    def test_random_states_choose_the_seed(self):
        X, y = medley.generate("waveform", rows=90, seed=1)
        fit = lambda state: MKLClassifier(epochs=2, random_state=state).fit(X, y)
        self.assertEqual(fit(4).model_.to_bytes(), fit(4).model_.to_bytes())
        self.assertNotEqual(fit(4).summary()["seed"], fit(5).summary()["seed"])
        one = fit(np.random.RandomState(0)).summary()["seed"]
        self.assertEqual(one, fit(np.random.RandomState(0)).summary()["seed"])

    def test_held_out_rows_end_training_early(self):
        X, y = medley.generate("waveform", rows=300, seed=2)
        model = MKLClassifier(epochs=200, options={"patience": 2})
        model.fit(X[:200], y[:200], eval_set=(X[200:], y[200:]))
        self.assertLess(len(model.summary()["epochs"]), 200)


class Kernels(unittest.TestCase):
    def setUp(self):
        self.X, self.y = rings(80)
        self.new, _ = rings(40, seed=9)
        self.kernel = lambda A, B: rbf_kernel(A, B, gamma=0.1)

    def test_callables_are_precomputed_values(self):
        K, N = self.kernel(self.X, self.X), self.kernel(self.new, self.X)
        called = MKLClassifier([self.kernel, linear_kernel]).fit(self.X, self.y)
        given = MKLClassifier([K, linear_kernel(self.X)]).fit(self.X, self.y)
        stack = MKLClassifier("precomputed").fit([K, linear_kernel(self.X)], self.y)
        expected = called.decision_function(self.new)
        grams = [N, linear_kernel(self.new, self.X)]
        np.testing.assert_array_equal(given.decision_function(self.new, grams=grams), expected)
        np.testing.assert_array_equal(stack.decision_function(grams), expected)
        self.assertEqual(called.blocks_, ["callable", "linear_kernel"])
        self.assertEqual(given.score(self.X, self.y, grams=[K, linear_kernel(self.X)]),
                         called.score(self.X, self.y))

    def test_a_list_mixes_all(self):
        X = {"a": self.X, "K": self.kernel(self.X, self.X)}
        new = {"a": self.new, "K": self.kernel(self.new, self.X)}
        L, M = linear_kernel(self.X), linear_kernel(self.new, self.X)
        kernels = ["rbf(sigma2=3)@a", "precomputed@K", (linear_kernel, "a"), L]
        mixed = MKLClassifier(kernels, method="spom", epochs=5).fit(X, self.y)
        self.assertEqual(len(mixed.blocks_), 4)
        first = mixed.decision_function(new, grams=[M])
        self.assertEqual(first.shape, (40,))
        np.testing.assert_allclose(mixed.decision_function({k: v[:7] for k, v in new.items()},
                                                           grams=[M[:7]]), first[:7], atol=1e-5)

    def test_unit_diagonals_of_callables_are_seen_to(self):
        scaled = lambda A, B: 3 * linear_kernel(A, B)
        model = MKLClassifier([scaled], normalize="diag", gap=1e-8).fit(self.X, self.y)
        spec = MKLClassifier(["linear(norm=diag)"], gap=1e-8).fit(self.X, self.y)
        np.testing.assert_allclose(model.decision_function(self.new),
                                   spec.decision_function(self.new), atol=2e-3)

    def test_kernels_that_cannot_be_are_refused(self):
        for kernels, sentence in (
            ([], "empty"), ([3.5], "cannot be a float"), ("rfb", "did you mean"),
            (["rbf@nowhere"], "no view 'nowhere'"), ([lambda A, B: A], "shape"),
            (["precomputed", "rbf"], "no features"), (["precomputed@K"], "dict"),
            (["default", "rbf"], "alone"), (None, "None"),
        ):
            with self.subTest(kernels=kernels):
                with self.assertRaisesRegex(ValueError, sentence):
                    MKLClassifier(kernels).fit(self.X, self.y)
        model = MKLClassifier([linear_kernel(self.X)]).fit(self.X, self.y)
        with self.assertRaisesRegex(ValueError, "grams="):
            model.predict(self.new)


if __name__ == "__main__":
    unittest.main()
