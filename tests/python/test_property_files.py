# SPDX-License-Identifier: BSD-3-Clause
"""Files: what is written is read back, or is refused with a sentence; models keep their bits."""

import csv
import gzip
import io
import pickle

import medley
import numpy as np
from medley import DependencyParser, MKLClassifier, MKLRegressor, SequenceLabeler
from medley._dataset import Dataset, parse, read_file, to_python
from medley._labels import label_texts
from medley._library import c_text, call, lib, text
from properties import LARGEST, POSITIVE, example, examples, given, labelled, quietly, st, tables
from support import InFolder, command, needs_command

SMALLEST = 1e-45
FINITE = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.integers(-(2**60), 2**60).map(np.float32).map(float),
    st.sampled_from([0.0, -0.0, SMALLEST, -SMALLEST, 1e38, LARGEST, -LARGEST, 2.0**53, 0.1, 1e-38]),
)
SPECIAL = ["", "a,b", "a;b", '"', '""', '"a"', "'", "'a'", "#", "a#", "@", "@weight", ":", "12:",
           "qid:", "qid:3", "1:2", "nan", "inf", "1e5", "01", "0x10", "_", "-0", "NA", "?", "1,5",
           "\ufeff", "\ufeffa", "\u00e9", "\u00a0", "\u2028", "\x85", "\x1c", "\\", "\\:", "a\\",
           "x" * 5000, "\udcff", " a", "a ", "\t", "\n", "\r", "a\nb", "label", "class", "-", "%s",
           "1_000", "\u0661", "9007199254740993", "1e400", "null", "0.1", "None", "\v", "\x1a",
           "\U0001f600"]
TEXTS = st.one_of(st.sampled_from(SPECIAL),
                  st.text("aB1 ,;\"'\t\n\r:#@\\\u00e9\ufeff_", max_size=4),
                  st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]),
                          max_size=8))
PLAIN = st.text("abcXYZ_", min_size=1, max_size=6)


def labels_of(dataset):
    names = [text(lib.medley_dataset_label_name(dataset.pointer, i))
             for i in range(lib.medley_dataset_label_count(dataset.pointer))]
    codes = [lib.medley_dataset_label(dataset.pointer, row) for row in range(dataset.rows)]
    return [names[code] if code >= 0 else None for code in codes]


def dataset_of(X, labels=None, names=None, lengths=None):
    dataset = Dataset()
    dataset.put_table(X, names=names)
    if labels is not None:
        classes, codes = np.unique(np.array(labels, dtype=object), return_inverse=True)
        dataset.put_labels(codes, label_texts(classes))
    if lengths is not None:
        dataset.put_sequences(lengths)
    return dataset


@st.composite
def written_data(draw, texts=TEXTS, values=FINITE):
    """A table, a label for each row, and different names for its columns."""
    X = draw(tables(rows=(2, 6), columns=(1, 5), values=values))
    labels = draw(st.lists(texts, min_size=len(X), max_size=len(X)))
    names = draw(st.lists(texts, min_size=X.shape[1], max_size=X.shape[1], unique=True))
    return X, labels, names


class Folder(InFolder):
    def write(self, dataset, name, format):
        path = self.folder / name
        call("medley_dataset_write", dataset.pointer, c_text(path), c_text(format))
        return path


class Tables(Folder):
    """Tables with labels."""

    def same(self, dataset, X, labels, end, format, **options):
        """What is read back is what was written, or writing was refused."""
        classes = sorted(set(labels))
        expected = dict(zip(classes, label_texts(classes)))
        try:
            path = self.write(dataset, "data" + end, format)
        except medley.MedleyError as refusal:
            self.assertIsInstance(refusal, ValueError)
            self.assertRegex(str(refusal), "cannot be written|has no label")
            return None
        back = read_file(path, format=format, **options)
        found, _ = to_python(back)
        found = np.vstack(found) if isinstance(found, list) else found
        np.testing.assert_array_equal(found, X)
        self.assertEqual(labels_of(back), [expected[label] for label in labels])
        return path

    @examples(60)
    @given(written_data(), st.sampled_from(["", ".gz"]))
    @example((np.zeros((2, 1), np.float32), ["a", "b"], ["\ufeffx"]), "")  # no byte order mark
    def test_csv_comes_back(self, drawn, end):
        X, labels, names = drawn
        dataset = dataset_of(X, labels, names)
        path = self.same(dataset, X, labels, ".csv" + end, "csv", header=1, label="last")
        with (gzip.open if end else open)(path, "rb") as file:
            content = file.read().decode("utf-8-sig", errors="surrogateescape")
        rows = list(csv.reader(io.StringIO(content, newline="")))
        self.assertEqual(rows[0], [*names, "label"])

    @examples(30)
    @given(written_data(texts=PLAIN), st.sampled_from(["", ".gz"]))
    def test_csv_is_read_without_being_told_how(self, drawn, end):
        X, labels, names = drawn
        self.same(dataset_of(X, labels, names), X, labels, ".csv" + end, None)

    def test_csv_with_two_label_columns_is_not_guessed_at(self):
        path = self.write(dataset_of(np.eye(2), ["a", "b"], ["label", "x"]), "data.csv", "csv")
        with self.assertRaisesRegex(medley.UsageError, "2 columns are called 'label'"):
            medley.read(path)
        self.assertEqual(medley.read(path, label="last")[1].tolist(), ["a", "b"])

    @examples(40)
    @given(written_data(), st.sampled_from(["", ".gz"]))
    @example((np.zeros((2, 1), np.float32), ["a", "12:"], ["x"]), "")  # a feature, to the reader
    @example((np.zeros((2, 1), np.float32), ["qid:", "a"], ["x"]), "")
    @example((np.zeros((2, 1), np.float32), ["\ufeffa", "a"], ["x"]), "")
    def test_svmlight_comes_back(self, drawn, end):
        X, labels, _ = drawn
        self.same(dataset_of(X, labels), X, labels, ".svm" + end, "svmlight")

    @examples(40)
    @given(written_data(), st.sampled_from(["", ".gz"]))
    def test_columns_come_back(self, drawn, end):
        X, labels, _ = drawn
        self.same(dataset_of(X, labels), X, labels, ".columns" + end, "columns")

    @examples(40)
    @given(written_data(values=POSITIVE.map(lambda value: value + 0.5)),
           st.sampled_from(["", ".gz"]))
    def test_attributes_come_back(self, drawn, end):
        X, labels, names = drawn
        dataset = dataset_of(X, labels, names, [len(X)])
        self.same(dataset, X, labels, ".crfsuite" + end, "attributes")

    @examples(20)
    @given(written_data(texts=PLAIN), st.sampled_from(["svmlight", "columns", "attributes"]))
    def test_plain_labels_are_never_refused(self, drawn, format):
        X, labels, _ = drawn
        X = np.where(X == 0, np.float32(1), X)
        self.assertIsNotNone(self.same(dataset_of(X, labels), X, labels, ".data", format))

    @examples(25)
    @given(tables(values=FINITE), st.sampled_from(["", ".gz"]))
    def test_npy_comes_back(self, X, end):
        path = self.write(dataset_of(X), "data.npy" + end, "npy")
        np.testing.assert_array_equal(medley.read(path)[0], X)
        with (gzip.open if end else open)(path, "rb") as file:
            np.testing.assert_array_equal(np.load(io.BytesIO(file.read())), X)

    @examples(40)
    @given(tables(values=FINITE), st.data())
    def test_arrays_of_any_type_are_read(self, X, data):
        dtype = data.draw(st.sampled_from(["f4", "f8", ">f4", ">f8", "i1", "<i2", ">i4", ">i8",
                                           "u1", ">u2", "u4", "u8", "?"]))
        with np.errstate(all="ignore"):
            array = X.astype(dtype)
        array = np.asfortranarray(array) if data.draw(st.booleans()) else array
        path = self.folder / "array.npy"
        np.save(path, array)
        np.testing.assert_array_equal(medley.read(path)[0], array.astype(np.float32))

    @examples(6)
    @given(written_data(texts=PLAIN))
    @needs_command
    def test_convert_keeps_everything(self, drawn):
        X, labels, names = drawn
        path = self.write(dataset_of(X, labels, names), "a.csv", "csv")
        before = path.read_bytes()
        for name in ("b.svm.gz", "c.columns", "d.csv.gz", "e.npy"):
            label = ("--label", "last") if path.name == "a.csv" else ()
            command("convert", "--quiet", *label, "--output", self.folder / name, path)
            path = self.folder / name
        with gzip.open(self.folder / "d.csv.gz", "rb") as file:
            self.assertEqual(file.read().split(b"\n")[1:], before.split(b"\n")[1:])
        np.testing.assert_array_equal(np.load(path), X)


@st.composite
def decimals(draw):
    """Ways to write a number."""
    sign = draw(st.sampled_from(["", "-", "+"]))
    whole = draw(st.text("0123456789", max_size=draw(st.sampled_from([3, 9, 25]))))
    part = draw(st.text("0123456789", max_size=draw(st.sampled_from([3, 9, 25]))))
    exponent = draw(st.one_of(st.just(""), st.integers(-60, 45).map("e{}".format),
                              st.integers(0, 9).map("E+{:02d}".format)))
    point = "." if part else draw(st.sampled_from(["", "."]))
    return f"{sign}{whole or ('' if part else '0')}{point}{part}{exponent}"


class Numbers(Folder):
    """Numbers in texts are those that Python reads."""

    @examples(80)
    @given(st.lists(decimals(), min_size=1, max_size=4), st.sampled_from(["csv", "svmlight"]))
    def test_numbers_are_read_as_python_reads_them(self, texts, format):
        with np.errstate(over="ignore"):
            values = np.array([float(word) for word in texts]).astype(np.float32)
        if format == "csv":
            content = ",".join("abcd"[: len(texts)]) + ",y\n" + ",".join(texts) + ",1\n"
            content += ",".join("0" for _ in texts) + ",0\n"
        else:
            content = "1 " + " ".join(f"{i + 1}:{word}" for i, word in enumerate(texts)) + "\n"
            content += f"0 {len(texts)}:0\n"
        if np.isfinite(values).all():
            found = to_python(parse(content, "text", format=format))[0]
            np.testing.assert_array_equal(found[0], values)
            return
        with self.assertRaisesRegex(medley.InputError, "finite") as caught:
            parse(content, "text", format=format)
        self.assertEqual(caught.exception.line, 2 if format == "csv" else 1)

    @examples(40)
    @given(tables(rows=(1, 6), columns=(1, 4)), st.data())
    def test_what_is_no_number_is_named(self, X, data):
        row = data.draw(st.integers(0, X.shape[0] - 1))
        column = data.draw(st.integers(0, X.shape[1] - 1))
        word = data.draw(st.sampled_from(["nan", "inf", "-inf", "NaN", "1e39", "-1e400", "1,5",
                                          "infinity", "0x10", "1_0", "--1", "1e", "\u0661"]))
        cells = [[str(value) for value in line] for line in X.tolist()]
        cells[row][column] = f'"{word}"'
        names = ",".join(f"x{c}" for c in range(X.shape[1]))
        lines = [f"{names},y", *(",".join(line) + ",a" for line in cells), "0," * X.shape[1] + "b"]
        with self.assertRaises(medley.InputError) as caught:
            parse("\n".join(lines), "text", format="csv", header=1)
        self.assertEqual(caught.exception.line, row + 2)
        place = f"column {column + 1} ('x{column}')"
        is_code = word.lower() == "nan"
        told = f"missing value ('{word}') in {place}" if is_code else f"{place} holds '{word}'"
        self.assertIn(told, caught.exception.message)

    @examples(30)
    @given(TEXTS.filter(lambda word: word != "label"))
    def test_labels_with_a_null_character_are_refused(self, word):
        dataset = Dataset()
        dataset.put_table(np.zeros((2, 1)))
        with self.assertRaisesRegex(ValueError, "NUL"):
            dataset.put_labels([0, 1], [word, word + "\0"])
        with self.assertRaisesRegex(medley.InputError, "NUL"):
            parse(f"1,{word.split()[0] if word.split() else 'a'}\0\n", "text", format="csv")


WORDS = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zs", "Zl", "Zp"]), min_size=1,
                max_size=6)
FIELDS = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=6)


class Words(Folder):
    """Texts with labels, and trees."""

    @examples(40)
    @given(st.lists(st.lists(st.tuples(WORDS, WORDS, PLAIN), min_size=1, max_size=4), min_size=1,
                    max_size=3), st.sampled_from(["", ".gz"]))
    def test_tagged_words_come_back(self, sentences, end):
        content = "\n\n".join("\n".join(" ".join(token) for token in sentence)
                              for sentence in sentences)
        dataset = parse(content, "text", format="columns", text_columns=True)
        path = self.write(dataset, "words.columns" + end, "columns")
        X, y = medley.read(path, format="columns", text_columns=True)
        self.assertEqual([[tuple(token) for token in sentence] for sentence in X],
                         [[token[:2] for token in sentence] for sentence in sentences])
        self.assertEqual([list(map(str, labels)) for labels in y],
                         [[token[2] for token in sentence] for sentence in sentences])

    @examples(50)
    @given(st.data(), st.sampled_from(["", ".gz"]))
    def test_treebanks_come_back_to_the_byte(self, data, end):
        lines = []
        for _ in range(data.draw(st.integers(1, 3))):
            count = data.draw(st.integers(1, 4))
            lines += ["# " + data.draw(FIELDS) for _ in range(data.draw(st.integers(0, 2)))]
            for i in range(count):
                if data.draw(st.booleans()) and i + 1 < count:
                    lines.append("\t".join([f"{i + 1}-{i + 2}", data.draw(FIELDS)] + ["_"] * 8))
                head = data.draw(st.one_of(st.just("_"), st.integers(0, count).map(str)))
                cells = [data.draw(FIELDS) for _ in range(8)]
                lines.append("\t".join([str(i + 1), *cells[:5], head, *cells[5:]]))
                if data.draw(st.booleans()):
                    lines.append("\t".join([f"{i + 1}.1"] + ["_"] * 9))
            lines.append("")
        content = "\n".join(lines) + "\n"
        path = self.write(parse(content, "text", format="conllu"), "trees.conllu" + end, "conllu")
        with (gzip.open if end else open)(path, "rb") as file:
            self.assertEqual(file.read().decode(), content)


class Models(Folder):
    """Models that are saved, loaded or pickled predict the same bits."""

    def same(self, model, X, answers):
        path = self.folder / "m.medley"
        model.save(path)
        parameters = {"classes": model.classes_} if hasattr(model, "classes_") else {}
        loaded = type(model).load(path, **parameters)
        for other in (loaded, pickle.loads(pickle.dumps(model))):
            self.assertEqual(other.model_.to_bytes(), model.model_.to_bytes())
            for name in answers:
                for one, two in zip(getattr(model, name)(X), getattr(other, name)(X)):
                    np.testing.assert_array_equal(one, two)
        return loaded

    @examples(25)
    @given(labelled(), st.lists(TEXTS, min_size=2, max_size=2, unique=True),
           st.sampled_from(["spicy", "spom"]), st.booleans())
    def test_classifiers(self, drawn, names, method, calibrate):
        X, y = drawn
        labels = np.array(names, dtype=object)[y]
        with quietly():
            model = MKLClassifier(["linear", "rbf(sigma2=5)"], method=method,
                                  calibrate=calibrate and len(X) >= 10, n_jobs=1).fit(X, labels)
        self.assertEqual(sorted(model.classes_), sorted(names))
        loaded = self.same(model, X, ["predict", "decision_function", "predict_proba"])
        self.assertEqual(set(loaded.predict(X)) - set(names), set())
        if not any("\0" in name for name in names):
            guessed = MKLClassifier.load(self.folder / "m.medley")
            self.assertEqual(list(map(str, guessed.classes_)) == sorted(names)
                             or guessed.classes_.dtype.kind in "if", True)

    @examples(15)
    @given(labelled(), st.sampled_from(["squared", "epsilon(0.1)"]))
    def test_regressors(self, drawn, loss):
        X, y = drawn
        with quietly():
            model = MKLRegressor(["linear", "rbf(sigma2=5)"], loss=loss, n_jobs=1).fit(X, y * 1.5)
        self.same(model, X, ["predict"])

    @examples(15)
    @given(st.lists(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), min_size=1,
                    max_size=4))
    @example([[("\ufeff", "a"), ("b", "c")]])
    def test_labelers_and_parsers(self, drawn):
        X = [[word for word, _ in sequence] for sequence in drawn]
        y = [[label for _, label in sequence] for sequence in drawn]
        if len({label for labels in y for label in labels}) > 1:
            model = SequenceLabeler(epochs=2, n_jobs=1).fit(X, y)
            self.same(model, X, ["predict", "predict_proba"])
        heads = [[i for i in range(len(words))] for words in X]
        parser = DependencyParser("arc-form-upos", hash_bits=8, epochs=1, n_jobs=1).fit(X, heads)
        self.same(parser, X, ["predict"])



