# SPDX-License-Identifier: BSD-3-Clause
"""Everything public has type hints and the sections of numpydoc, and these are true."""

import doctest
import importlib
import inspect
import re
import unittest
from pathlib import Path

import medley
import numpy as np
from medley import DependencyParser, MKLClassifier, MKLRegressor, SequenceLabeler
from support import rings, sentences, trees

ESTIMATORS = [MKLClassifier, MKLRegressor, SequenceLabeler, DependencyParser,
              medley.StructuredPredictor]
OLD_NAMES = {"path"}
SECTIONS = ("Parameters", "Attributes", "Returns", "Examples", "Notes")


def ours(thing):
    return getattr(thing, "__module__", "").startswith("medley")


def public_classes():
    return [getattr(medley, name) for name in medley.__all__
            if inspect.isclass(getattr(medley, name))]


def methods(kind):
    """(name, function) of what a class has of ours, constructors of its own included."""
    for name, member in inspect.getmembers(kind):
        member = inspect.unwrap(member) if callable(member) else member
        if not inspect.isfunction(member) and not inspect.ismethod(member):
            continue
        if ours(member) and (not name.startswith("_") or name == "__init__"):
            yield f"{kind.__name__}.{name}", member


def functions():
    for name in sorted(set(medley.__all__) - OLD_NAMES):
        if inspect.isfunction(getattr(medley, name)):
            yield name, getattr(medley, name)


def callables():
    yield from functions()
    for kind in public_classes():
        yield from methods(kind)


def section(thing, title):
    """The lines of a section of a docstring, None where there is none."""
    doc = inspect.getdoc(thing) or ""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=\n\n\w+\n---|\Z)", doc, flags=re.M | re.S)
    return None if found is None else found.group(1)


def entries(thing, title):
    """Names that a section describes."""
    lines = re.findall(r"^(?! )([\w*, ]+?)(?: : .+)?$", section(thing, title) or "", flags=re.M)
    return [name.strip("* ") for line in lines for name in line.split(",")]


def described(thing, title):
    """{entry: text} of a section."""
    pieces = re.split(r"^(?=\S)", section(thing, title) or "", flags=re.M)
    return {piece.splitlines()[0]: piece.splitlines()[1:] for piece in pieces if piece.strip()}


class Hints(unittest.TestCase):
    def test_every_public_function_is_annotated(self):
        for name, function in callables():
            with self.subTest(function=name):
                signature = inspect.signature(function)
                bare = [p.name for p in signature.parameters.values()
                        if p.annotation is p.empty and p.name not in ("self", "cls")]
                self.assertEqual(bare, [])
                self.assertIsNot(signature.return_annotation, signature.empty)


class Sections(unittest.TestCase):
    def test_every_parameter_is_described_in_the_order_of_the_signature(self):
        count = 0
        for name, function in callables():
            if name.endswith(".__init__"):
                continue
            with self.subTest(function=name):
                names = list(inspect.signature(function).parameters)
                names = names[1:] if names[:1] in (["self"], ["cls"]) else names
                self.assertEqual(entries(function, "Parameters"), names)
                count += 1
        self.assertGreater(count, 60)

    def test_every_parameter_of_an_estimator_is_described(self):
        for kind in ESTIMATORS:
            with self.subTest(estimator=kind.__name__):
                names = list(inspect.signature(kind).parameters)
                self.assertEqual(entries(kind, "Parameters"), names)

    def test_what_returns_something_says_what(self):
        for name, function in callables():
            returns = inspect.signature(function).return_annotation
            if name.endswith(".__init__") or returns in (None, "None"):
                continue
            with self.subTest(function=name):
                self.assertTrue(section(function, "Returns"))

    def test_every_entry_has_a_text(self):
        for name, thing in [*callables(), *((kind.__name__, kind) for kind in public_classes())]:
            for title in ("Parameters", "Attributes", "Returns"):
                for entry, text in described(thing, title).items():
                    with self.subTest(thing=name, entry=entry):
                        self.assertTrue("".join(text).strip())

    def test_docstrings_begin_with_a_sentence_of_one_line(self):
        for name, thing in [*functions(), *((kind.__name__, kind) for kind in public_classes())]:
            with self.subTest(thing=name):
                lines = inspect.getdoc(thing).splitlines()
                self.assertTrue(lines[0].endswith((".", "...")), lines[0])
                self.assertTrue(len(lines) == 1 or lines[1] == "", lines[:2])

    def test_estimators_and_functions_have_examples(self):
        for kind in ESTIMATORS:
            self.assertIn(">>>", section(kind, "Examples") or "", kind.__name__)
        for name, function in functions():
            if not name.startswith("list_"):
                self.assertIn(">>>", section(function, "Examples") or "", name)

    def test_examples_hold(self):
        files = sorted(Path(medley.__file__).parent.glob("*.py"))
        names = [file.stem for file in files if ">>> " in file.read_text(encoding="utf-8")]
        with_examples = [medley if name == "__init__" else importlib.import_module(f"medley.{name}")
                         for name in names]
        self.assertGreater(len(with_examples), 10)
        attempted = 0
        for module in with_examples:
            with self.subTest(module=module.__name__):
                result = doctest.testmod(module)
                self.assertEqual(result.failed, 0)
                attempted += result.attempted
        self.assertGreater(attempted, 60)


class Attributes(unittest.TestCase):
    def fitted(self):
        X, y = rings(60)
        words, labels = sentences(20)
        texts, arcs = trees(10)
        yield MKLClassifier("rbf(auto)").fit(X, y)
        yield MKLRegressor("rbf(auto)").fit(X, X[:, 0])
        yield SequenceLabeler(epochs=2).fit(words, labels)
        yield DependencyParser("arc-form-upos", hash_bits=10, epochs=2).fit(texts, arcs)

    def test_every_attribute_of_a_fitted_estimator_is_described_and_there(self):
        frames = {"feature_names_in_"}  # where X was a data frame
        for model in self.fitted():
            with self.subTest(estimator=type(model).__name__):
                given = set(model.get_params())
                learnt = {name for name in vars(model)
                          if name.endswith("_") and not name.startswith("_")} - given
                self.assertEqual(learnt, set(entries(model, "Attributes")) - frames)

    def test_every_attribute_of_results_is_described_and_there(self):
        X, y = rings(60)
        tuning = medley.tune(X, y, {"C": [1, 10]}, cv=2)
        trace = medley.regularization_path(X, y, count=2)
        report = tuning.best_estimator_.report()
        for result in (tuning, tuning.best, trace, report, medley.Distances(np.eye(2))):
            with self.subTest(result=type(result).__name__):
                named = entries(result, "Attributes")
                public = {name for name in vars(result) if not name.startswith("_")}
                self.assertLessEqual(public, set(named))
                for name in named:
                    self.assertTrue(hasattr(result, name), name)
        for kind in (medley.Block, medley.Progress, medley.Listed, medley.Option):
            self.assertEqual(entries(kind, "Attributes"), list(kind._fields), kind.__name__)


if __name__ == "__main__":
    unittest.main()
