# SPDX-License-Identifier: BSD-3-Clause
"""Sequences and trees."""

import itertools
import unittest

import medley
import numpy as np
from medley import DependencyParser, SequenceLabeler
from scipy import sparse
from support import InFolder, command, needs_command, sentences, trees

TEMPLATE = "U00:%x[0,0]\nU01:%x[-1,0]\nB\n"


def parser(**parameters):
    return DependencyParser("arc-form-upos", hash_bits=10, **parameters)


def attributes(sentence):
    return [{"word": word, "first": i == 0, "length": len(word)} for i, word in enumerate(sentence)]


class Labels(InFolder):
    def setUp(self):
        super().setUp()
        self.X, self.y = sentences(60)

    def test_words_columns_attributes_and_numbers_are_learnt(self):
        number = {word: i for i, word in enumerate(sorted(set(itertools.chain(*self.X))))}
        forms = {
            "words": self.X,
            "columns": [[(word, word[:1]) for word in s] for s in self.X],
            "attributes": [attributes(s) for s in self.X],
            "flags": [[{f"w={word}": True, "never": False} for word in s] for s in self.X],
        }
        unit = np.eye(len(number), dtype=np.float32)
        forms["numbers"] = [unit[[number[word] for word in s]] for s in self.X]
        forms["sparse numbers"] = [sparse.csr_matrix(s) for s in forms["numbers"]]
        for name, X in forms.items():
            with self.subTest(form=name):
                kernels = ["linear"] if "numbers" in name else "default"
                model = SequenceLabeler(kernels=kernels, epochs=8).fit(X[:40], self.y[:40])
                self.assertGreater(model.score(X[40:], self.y[40:]), 0.95)
                self.assertEqual([len(p) for p in model.predict(X)], [np.shape(s)[0] for s in X])

    def test_templates_are_names_texts_and_files(self):
        path = self.folder / "my.template"
        path.write_text(TEMPLATE)
        for template in (TEMPLATE, path, str(path)):
            model = SequenceLabeler(template, epochs=3).fit(self.X, self.y)
            self.assertEqual(model.blocks_, ["U00:%x[0,0]", "U01:%x[-1,0]", "B"])
        fit = SequenceLabeler(TEMPLATE, epochs=3).fit
        first = fit(self.X, self.y).model_.to_bytes()
        self.assertEqual(fit(self.X, self.y).model_.to_bytes(), first)
        with self.assertRaises(medley.InputError) as caught:
            SequenceLabeler("U00:%x[0,0]\nU01:%x[oops]\n").fit(self.X, self.y)
        self.assertEqual((caught.exception.file, caught.exception.line), ("template", 2))
        X = [[(word, "T") for word in sentence] for sentence in self.X]
        chunk = SequenceLabeler("chunk", epochs=3).fit(X, self.y)
        self.assertGreater(len(chunk.blocks_), 10)
        features = chunk.strongest(0, 5)
        self.assertEqual(len(features), 5)
        self.assertIn(" -> ", features[0][0])

    @needs_command
    def test_models_are_those_of_the_command(self):
        text = "\n\n".join("\n".join(f"{w} {label}" for w, label in zip(s, labels))
                           for s, labels in zip(self.X, self.y)) + "\n"
        (self.folder / "train.txt").write_text(text)
        (self.folder / "t").write_text(TEMPLATE)
        command("train", "--quiet", "--model", self.folder / "m", "--template", self.folder / "t",
                "--loss", "logistic", "--epochs", 4, self.folder / "train.txt")
        ours = SequenceLabeler(self.folder / "t", loss="logistic", epochs=4).fit(self.X, self.y)
        theirs = SequenceLabeler.load(self.folder / "m")
        self.assertEqual(theirs.objective_, ours.objective_)
        np.testing.assert_array_equal(theirs.weights_, ours.weights_)
        self.assertEqual(theirs.predict(self.X), ours.predict(self.X))
        ours.save(self.folder / "ours")
        told = command("eval", "--json", "--model", self.folder / "ours", self.folder / "train.txt")
        self.assertIn('"f1":', told)

    def test_marginals_and_best_outputs_agree(self):
        model = SequenceLabeler(loss="logistic", epochs=4, options={"eta0": 0.1})
        model.fit(self.X, self.y)
        shares = model.predict_proba(self.X[:3])
        for table, sequence in zip(shares, self.X):
            self.assertEqual(table.shape, (len(sequence), 3))
            np.testing.assert_allclose(table.sum(axis=1), 1)
        named = model.predict_marginals(self.X[:1])[0][0]
        self.assertEqual(list(named), model.classes_.tolist())
        best = model.predict_best(self.X[:3], 3)
        self.assertEqual([outputs[0][0] for outputs in best], model.predict(self.X[:3]))
        self.assertTrue(all(o[0][1] >= o[1][1] >= o[2][1] for o in best))

    def test_scoring_chooses_the_measure(self):
        model = SequenceLabeler(epochs=5).fit(self.X, self.y)
        told = model.evaluate(self.X, self.y)
        for scoring, name in (("f1", "chunk_f1"), ("exact_match", "exact_match"),
                              ("accuracy", "accuracy")):
            self.assertEqual(model.set_params(scoring=scoring).score(self.X, self.y), told[name])

    def test_strange_words_and_empty_sequences_are_taken(self):
        X = [["New York", "", "a\tb", "\u00e9t\u00e9", ":"], [], ["x\ny", "#", "@", "\u2028", "%"]]
        y = [[1, 2, 1, 2, 1], [], [1, 2, 1, 2, 1]]
        model = SequenceLabeler(epochs=3).fit(X, y)
        self.assertEqual([len(labels) for labels in model.predict(X)], [5, 0, 5])
        self.assertIsInstance(model.predict(X)[0][0], int)
        named = [[{"w:x": "a:b", "t\tab": 1.5, "back\\slash": True}, {}] for _ in range(2)]
        model = SequenceLabeler(epochs=3).fit(named, [["p", "q"]] * 2)
        self.assertEqual(model.predict(named), [["p", "q"]] * 2)
        self.assertEqual(model.predict([[{"never": "seen"}]])[0][0] in ("p", "q"), True)
        self.assertEqual(model.predict([[], []]), [[], []])

    def test_what_does_not_fit_is_refused(self):
        for X, y, sentence in (
            ([["a", "b"]], [["x"]], "2 tokens and 1 labels"), (["ab"], [["x", "y"]], "is a text"),
            ([], [], "no sequences"), ([["a"]], None, "requires y"), ([[]], [[]], "all sequences"),
            ([["a"], ["b"]], [["x"], [1]], "different types"), ([[3, 4]], [[1, 2]], "a token is"),
            ([[("a", "b"), ("c",)]], [["x", "y"]], "1 columns, expected 2"),
        ):
            with self.subTest(sentence=sentence):
                with self.assertRaisesRegex((ValueError, TypeError), sentence):
                    SequenceLabeler().fit(X, y)
        with self.assertRaisesRegex(ValueError, "templates are for words"):
            SequenceLabeler("chunk").fit([np.zeros((2, 3))], [["x", "y"]])
        with self.assertRaisesRegex(ValueError, "not those of chunks"):
            SequenceLabeler(scoring="f1", epochs=2).fit([["a", "b"]], [["1", "2"]]).score(
                [["a", "b"]], [["1", "2"]])


class Trees(InFolder):
    def setUp(self):
        super().setUp()
        self.X, self.y = trees(40)

    def test_trees_are_learnt_in_the_shape_they_came(self):
        model = parser(epochs=4).fit(self.X[:30], self.y[:30])
        self.assertEqual(model.predict(self.X[30:]), self.y[30:])
        self.assertEqual(model.score(self.X[30:], self.y[30:]), 1.0)
        self.assertEqual(model.relations_, ["amod", "det", "nsubj", "root"])
        heads = [[head for head, _ in tree] for tree in self.y]
        bare = parser(epochs=4).fit(self.X, heads)
        self.assertEqual(bare.predict(self.X), heads)
        self.assertEqual(bare.score(self.X, heads), 1.0)
        self.assertNotIn("las", bare.evaluate(self.X, heads))
        dicts = [[{"form": f, "upos": u, "feats": {"Case": "Nom"}} for f, u in s] for s in self.X]
        self.assertEqual(parser(epochs=2).fit(dicts, self.y).predict(dicts), self.y)
        self.assertEqual(model.predict([[], self.X[0]]), [[], self.y[0]])

    def test_all_trees_of_a_sentence_have_the_probabilities_of_heads(self):
        model = parser(epochs=4, calibrate=True).fit(self.X, self.y)
        short = [("dog", "NOUN"), ("barks", "VERB"), ("dog", "NOUN")]
        X = [short, [], max(self.X, key=len)]
        best = model.predict_best(X, 20, probabilities=True)
        self.assertEqual([len(best[0]), best[1], len(best[2])], [9, [], 20])
        tables = model.predict_proba(X)
        self.assertEqual([t.shape for t in tables], [(3, 4), (0, 1), (len(X[2]), len(X[2]) + 1)])
        self.assertTrue(all(np.allclose(table.sum(axis=1), 1, atol=1e-5) for table in tables[::2]))
        summed = np.zeros((3, 4))
        for tree, _, probability in best[0]:
            for word, (head, _) in enumerate(tree):
                summed[word, head] += probability
        np.testing.assert_allclose(tables[0], summed, atol=1e-5)
        self.assertAlmostEqual(sum(p for _, _, p in best[0]), 1, places=5)
        self.assertTrue(all(a[1] >= b[1] for a, b in zip(best[2], best[2][1:])))
        trees, sure = model.predict(X), model.predict_confidence(X)
        self.assertEqual([outputs[0][0] for outputs in best if outputs], trees[::2])
        for tree, shares, table in zip(trees, sure, tables):
            self.assertEqual([p for p, _ in shares],
                             [table[w, head] for w, (head, _) in enumerate(tree)])
            self.assertTrue(all(0 <= p <= 1 for _, p in shares))
        told = model.evaluate(self.X, self.y, probabilities=True)
        self.assertLess(told["log_loss"], 0.5)
        self.assertEqual(told["nonprojective"]["gold"], 0)
        self.assertNotIn("log_loss", model.evaluate(self.X, self.y))
        heads = [[head for head, _ in tree] for tree in self.y]
        bare = parser(epochs=1).fit(self.X, heads)
        self.assertEqual(bare.predict_best(self.X[:1], 2)[0][0][0], bare.predict(self.X[:1])[0])
        self.assertEqual(len(bare.predict_confidence(self.X[:1])[0]), len(self.X[0]))
        self.assertEqual(bare.predict_best([[]]), [[]])

    def test_second_order_has_trees_and_probabilities(self):
        model = parser(epochs=4, options={"order": 2}).fit(self.X, self.y)
        right = sum(a == b for tree, gold in zip(model.predict(self.X), self.y)
                    for (a, _), (b, _) in zip(tree, gold))
        self.assertGreater(right / sum(len(tree) for tree in self.y), 0.9)
        for table in model.predict_proba(self.X[:3]):
            np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-4)
        best = model.predict_best(self.X[:1], 2)[0]
        self.assertEqual(best[0][0], model.predict(self.X[:1])[0])

    def test_too_many_or_no_best_trees_are_refused(self):
        model = parser(epochs=1).fit(self.X, self.y)
        for count, sentence in ((0, "count=0"), (21, "at most the 20"), ("2", "count='2'")):
            with self.subTest(count=count):
                with self.assertRaisesRegex((ValueError, TypeError), sentence):
                    model.predict_best(self.X[:1], count)
        with self.assertRaisesRegex(ValueError, "probabilities='yes'"):
            model.predict_best(self.X[:1], 2, probabilities="yes")
        with self.assertRaisesRegex(ValueError, "1001 words.*predict_proba"):
            model.predict_proba([[("dog", "NOUN")] * 1001])

    @needs_command
    def test_conllu_goes_in_and_out(self):
        lines = []
        for i, (sentence, tree) in enumerate(zip(self.X, self.y)):
            lines.append(f"# sent_id = {i}")
            for j, ((form, upos), (head, relation)) in enumerate(zip(sentence, tree)):
                lines.append(f"{j + 1}\t{form}\t_\t{upos}\t_\t_\t{head}\t{relation}\t_\t_")
            lines.append("")
        text = "\n".join(lines) + "\n"
        path = self.folder / "t.conllu"
        path.write_text(text)
        model = parser(epochs=4).fit(path)
        self.assertEqual(model.parse_conllu(text), text)
        self.assertEqual(model.parse_conllu(str(path)), text)
        self.assertEqual(model.score(text), 1.0)
        command("train", "--quiet", "--template", "arc-form-upos", "--epochs", 4, "--hash-bits",
                10, "--model",
                self.folder / "m", path)
        self.assertEqual((self.folder / "m").read_bytes(), model.model_.to_bytes())
        lists = parser(epochs=4).fit(self.X, self.y)
        self.assertEqual(lists.objective_, model.objective_)
        X, y = medley.read(path)
        self.assertEqual(y, self.y)
        self.assertEqual(X[0][0], {"form": self.X[0][0][0], "upos": "DET"})

    def test_what_is_no_tree_is_refused(self):
        for X, y, sentence in (
            (self.X, self.y[:-1], "39"), (self.X[:1], [[(9, "x")] * len(self.X[0])], "HEAD is 9"),
            (self.X[:1], [self.y[0][:-1]], "heads in y"), (self.X, None, "requires y"),
            ([[{"word": "a"}]], [[0]], "field 'word'"),
        ):
            with self.subTest(sentence=sentence):
                with self.assertRaisesRegex(ValueError, sentence):
                    DependencyParser().fit(X, y)


if __name__ == "__main__":
    unittest.main()
