# SPDX-License-Identifier: BSD-3-Clause
"""Data frames of pandas: in, out, and through model files."""

import pickle
import unittest

import medley
import numpy as np
from medley import MKLClassifier, MKLRegressor
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from support import InFolder, rings, sentences, trees

try:
    import pandas
except ImportError:
    pandas = None

NAMES = ["height", "width", "weight", "age"]


def table(rows=80, seed=0):
    X, y = rings(rows, seed)
    return pandas.DataFrame(X, columns=NAMES), pandas.Series(np.array(["in", "out"])[y])


@unittest.skipIf(pandas is None, "pandas is not installed; scripts/deps python installs it")
class In(InFolder):
    def test_columns_are_found_by_name_after_save_and_load(self):
        X, y = table()
        model = MKLClassifier("rbf(auto)", views="all+each").fit(X, y)
        self.assertEqual(model.feature_names_in_.tolist(), NAMES)
        self.assertEqual([name.split("@")[1] for name in model.blocks_], ["all", *NAMES])
        model.save(self.folder / "m.medley")
        for other in (MKLClassifier.load(self.folder / "m.medley"),
                      pickle.loads(pickle.dumps(model))):
            self.assertEqual(other.feature_names_in_.tolist(), NAMES)
            mixed = X[NAMES[::-1]].assign(further=1.0)
            self.assertEqual(other.predict(mixed).tolist(), model.predict(X).tolist())
            with self.assertRaisesRegex(ValueError, r"no columns \['age'\]"):
                other.predict(X.drop(columns="age"))

    def test_views_of_named_columns_go_through_a_file(self):
        X, y = table()
        views = {"size": ["height", "width"], "rest": ["age", "weight"]}
        model = MKLClassifier("rbf(auto)", views=views).fit(X, y)
        expected = model.predict(X).tolist()
        model.save(self.folder / "m.medley")
        for parameters in ({}, {"views": views}):  # the file knows them, too
            loaded = MKLClassifier.load(self.folder / "m.medley", **parameters)
            self.assertEqual(loaded.predict(X[NAMES[::-1]]).tolist(), expected)
            self.assertEqual(set(loaded.feature_names_in_), set(NAMES))
            self.assertEqual(loaded.views, views)
        parts = {"size": X[["width", "height"]], "rest": X[["age", "weight"]]}
        self.assertEqual(loaded.predict(parts).tolist(), expected)

    def test_frames_are_arrays(self):
        X, y = table()
        same = MKLClassifier("rbf(auto)").fit(X.to_numpy(), y.to_numpy())
        model = MKLClassifier("rbf(auto)").fit(X, y)
        np.testing.assert_array_equal(model.decision_function(X),
                                      same.decision_function(X.to_numpy()))
        nullable = X.round().astype("Int64")
        self.assertEqual(MKLClassifier("linear").fit(nullable, y).n_features_in_, 4)

    def test_what_is_no_number_is_refused_with_its_columns(self):
        X, y = table()
        for column, hold in (
            (pandas.Categorical(["a", "b"] * 40), r"\['colour'\] of X hold categories.*get_dummies"),
            (pandas.Categorical([1, 2] * 40), r"\['colour'\] of X hold categories"),
            (["a", "b"] * 40, r"\['colour'\] of X hold texts.*OneHotEncoder"),
            (pandas.array(["a", "b"] * 40, dtype="string"), r"\['colour'\] of X hold texts"),
            (pandas.date_range("2001-01-01", periods=80), r"\['colour'\] of X hold times"),
        ):
            for model in (MKLClassifier(), MKLRegressor()):
                with self.subTest(hold=hold, model=type(model).__name__):
                    with self.assertRaisesRegex(medley.InputError, hold):
                        model.fit(X.assign(colour=column), np.arange(80) % 2)
        with self.assertRaisesRegex(medley.InputError, r"\['k'\] of X\['b'\] hold categories"):
            part = pandas.DataFrame({"k": pandas.Categorical(["a", "b"] * 40)})
            MKLClassifier("linear").fit({"a": X, "b": part}, y)
        model = MKLClassifier("linear").fit(X, y)
        with self.assertRaisesRegex(medley.InputError, "hold categories"):
            model.predict(X.assign(age=pandas.Categorical(["a", "b"] * 40)))

    def test_the_remedies_work(self):
        X, y = table()
        X = X.assign(colour=pandas.Categorical(["red", "blue"] * 40))
        model = MKLClassifier("rbf(auto)").fit(pandas.get_dummies(X), y)
        self.assertIn("colour_red", model.feature_names_in_)
        line = make_pipeline(make_column_transformer((OneHotEncoder(), ["colour"]),
                                                     remainder="passthrough"),
                             MKLClassifier("rbf(auto)"))
        self.assertGreater(line.fit(X, y).score(X, y), 0.7)

    def test_searches_cut_frames_and_views_of_frames(self):
        X, y = table(120)
        search = GridSearchCV(MKLClassifier("rbf(auto)"), {"C": [0.1, 10]}, cv=2).fit(X, y)
        self.assertEqual(search.best_estimator_.feature_names_in_.tolist(), NAMES)
        views = medley.Views(size=X[["height", "width"]], rest=X[["weight", "age"]])
        search = GridSearchCV(MKLClassifier("rbf(auto)"), {"C": [0.1, 10]}, cv=2).fit(views, y)
        self.assertEqual(search.best_estimator_.model_.column_names("size"), ["height", "width"])

    def test_there_is_nothing_to_transform(self):
        # set_output and get_feature_names_out are for estimators that have transform.
        for model in (MKLClassifier(), MKLRegressor()):
            for name in ("transform", "set_output", "get_feature_names_out"):
                self.assertFalse(hasattr(model, name))


@unittest.skipIf(pandas is None, "pandas is not installed; scripts/deps python installs it")
class Out(unittest.TestCase):
    def test_weights_are_a_frame_of_blocks(self):
        X, y = table()
        model = MKLClassifier(["linear(norm=diag)", "rbf(auto)"], views="all+each").fit(X, y)
        frame = model.weights_frame()
        self.assertEqual(frame.columns.tolist(),
                         ["block", "kernel", "view", "weight", "norm", "features"])
        self.assertEqual(frame["block"].tolist(), model.blocks_)
        np.testing.assert_array_equal(frame["weight"], model.weights_)
        self.assertEqual(frame["view"].unique().tolist(), ["all", *NAMES])
        self.assertIn("linear", frame["kernel"][0])
        K = X.to_numpy() @ X.to_numpy().T
        plain = MKLClassifier("precomputed").fit(K, y).weights_frame()
        self.assertEqual((plain["view"][0], plain["kernel"][0]), ("", plain["block"][0]))

    def test_templates_have_weights_too(self):
        words, labels = sentences(20)
        frame = medley.SequenceLabeler(epochs=2).fit(words, labels).weights_frame()
        self.assertTrue((frame["features"] >= 0).all())
        words, arcs = trees(10)
        parser = medley.DependencyParser("arc-form-upos", hash_bits=10, epochs=2).fit(words, arcs)
        self.assertEqual(len(parser.weights_frame()), len(parser.blocks_))

    def test_tunings_and_paths_are_frames(self):
        X, y = table()
        found = medley.tune(X, y, {"C": [0.01, 1], "penalty": ["mkl", "l2"]}, cv=2)
        frame = found.to_frame()
        self.assertEqual(len(frame), 4)
        self.assertEqual(set(frame["penalty"]), {"mkl", "l2"})
        best = frame[frame["rank"] == 1].iloc[0]
        self.assertEqual(best["mean"], found.best_score_)
        self.assertEqual(len(pandas.DataFrame(found.cv_results_)), 4)
        trace = medley.regularization_path(X, y, count=3, eval_set=(X, y),
                                           estimator=MKLClassifier(views="all+each"))
        frame = trace.to_frame()
        self.assertEqual(frame["lambda"].tolist(), trace.lambdas.tolist())
        self.assertEqual(frame["score"].tolist(), trace.score.tolist())
        np.testing.assert_array_equal(frame[trace.blocks], trace.weights)


if __name__ == "__main__":
    unittest.main()
