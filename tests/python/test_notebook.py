# SPDX-License-Identifier: BSD-3-Clause
"""At home in a notebook: pictures, HTML, bars, and the notebook of examples/ itself."""

import contextlib
import html.parser
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
import unittest
from unittest import mock

import medley
import numpy as np
from medley import MKLClassifier, MKLRegressor, SequenceLabeler
from sklearn import config_context
from support import ROOT, InFolder, rings, sentences

NUMBER = re.compile(r"\d+(?:\.\d+)?")
NOTEBOOK = ROOT / "examples" / "many-kernels.ipynb"


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"{' and '.join(missing)} cannot be imported; "
                                    "scripts/deps python installs what there is")


def cells_of(notebook):
    return json.loads(notebook.read_text(encoding="utf-8"))["cells"]


def printed(cell):
    """What a cell has printed."""
    return "".join("".join(output["text"]) for output in cell.get("outputs", [])
                   if output["output_type"] == "stream")


def without(module):
    """As if it were not installed."""
    return mock.patch.dict(sys.modules, {module: None})


class Elements(html.parser.HTMLParser):
    """What is in a page: names of elements with their attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


@needs("matplotlib")
class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import matplotlib

        matplotlib.use("Agg")

    def tearDown(self):
        import matplotlib.pyplot

        matplotlib.pyplot.close("all")

    def test_weights_are_bars_the_largest_on_top(self):
        X, y = rings(80)
        model = MKLClassifier(views="all+each").fit(X, y)
        ax = model.plot_weights(top=3)
        widths = [bar.get_width() for bar in ax.patches]
        largest = np.sort(model.weights_[model.weights_ > 0])[::-1][:3]
        np.testing.assert_array_equal(widths, largest)
        names = [label.get_text() for label in ax.get_yticklabels()]
        self.assertEqual(names[0], model.blocks_[int(np.argmax(model.weights_))])
        self.assertTrue(ax.yaxis_inverted())
        ax.figure.savefig(io.BytesIO())

    def test_pictures_are_drawn_where_one_says(self):
        import matplotlib.pyplot as plt

        X, y = rings(60)
        _, (left, right) = plt.subplots(1, 2)
        self.assertIs(MKLClassifier("rbf(auto)").fit(X, y).plot_weights(ax=left), left)
        self.assertIs(medley.regularization_path(X, y, count=3).plot(ax=right), right)
        self.assertEqual(len(plt.get_fignums()), 1)
        with self.assertRaisesRegex(medley.UsageError, "top"):
            MKLClassifier("rbf(auto)").fit(X, y).plot_weights(top=0)

    def test_a_path_is_a_line_for_each_block_and_one_for_the_score(self):
        X, y = rings(80)
        model = MKLClassifier(views="all+each")
        trace = medley.regularization_path(X, y, estimator=model, count=4, eval_set=rings(40, 1))
        ax = trace.plot(top=2)
        self.assertEqual(len(ax.lines), len(trace.blocks))
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), trace.weights[:, 0])
        self.assertEqual(ax.get_xscale(), "log")
        self.assertTrue(ax.xaxis_inverted())
        beside = ax.figure.axes[1]
        np.testing.assert_array_equal(beside.lines[0].get_ydata(), trace.score)
        self.assertEqual(beside.get_ylabel(), "accuracy")
        self.assertEqual(len(ax.get_legend().get_texts()), 2)
        plain = medley.regularization_path(X, y, estimator=model, count=2).plot()
        self.assertEqual(len(plain.figure.axes), 1)

    def test_a_model_without_any_kernel_can_be_drawn(self):
        X, y = rings(60)
        trace = medley.regularization_path(X, y, count=2, lambdas=[1e6, 1e5], keep_models=True)
        self.assertFalse(trace.weights.any())
        trace.plot()
        trace.estimators[0].plot_weights()
        self.assertIn("0 of", trace.estimators[0]._repr_html_())


class Optional(unittest.TestCase):
    def test_what_is_not_installed_is_named_with_a_remedy(self):
        X, y = rings(60)
        model = MKLClassifier("rbf(auto)").fit(X, y)
        trace = medley.regularization_path(X, y, count=2)
        for module, work, sentence in (
            ("pandas", model.weights_frame, r"weights_frame needs pandas.*medley\[pandas\]"),
            ("pandas", trace.to_frame, "Path.to_frame needs pandas.*python3-pandas"),
            ("matplotlib.pyplot", model.plot_weights, r"needs matplotlib.*medley\[plot\]"),
            ("matplotlib.pyplot", trace.plot, "needs matplotlib.*python3-matplotlib"),
            ("tqdm.auto", lambda: MKLClassifier(verbose="tqdm").fit(X, y),
             r'verbose="tqdm" needs tqdm.*medley\[notebook\]'),
        ):
            with self.subTest(module=module), without(module):
                with self.assertRaisesRegex(ImportError, sentence):
                    work()


class Bars(unittest.TestCase):
    @needs("tqdm")
    def test_a_bar_shows_each_stage(self):
        X, y = rings(80)
        drawn = io.StringIO()
        with contextlib.redirect_stderr(drawn):
            model = MKLClassifier(["linear", "rbf(auto)"], method="spom", epochs=4, verbose="tqdm")
            model.fit(X, y)
        self.assertRegex(drawn.getvalue(), r"training: 100%.*4/4")
        self.assertIn("objective=", drawn.getvalue())
        drawn = io.StringIO()
        with contextlib.redirect_stderr(drawn):  # a method that does not say how long it takes
            MKLClassifier("rbf(auto)", method="spicy", verbose="tqdm").fit(X, y)
        self.assertRegex(drawn.getvalue(), r"training: \d+it")

    def test_other_words_are_refused(self):
        X, y = rings(40)
        with self.assertRaisesRegex(medley.UsageError, 'verbose=\'bars\'; give 0, 1, 2, "tqdm"'):
            MKLClassifier(verbose="bars").fit(X, y)


class Html(InFolder):
    def test_a_report_is_a_frame_in_which_nothing_runs(self):
        X, y = rings(60)
        model = MKLClassifier("rbf(auto)").fit(X, np.array(['<script>alert("x")</script>', "b"])[y])
        report = model.report(X=X, y=np.array(['<script>alert("x")</script>', "b"])[y],
                              title='A "title" & more')
        elements = Elements(report._repr_html_()).found
        self.assertEqual([tag for tag, _ in elements], ["iframe"])
        frame = elements[0][1]
        self.assertEqual(frame["sandbox"], "")  # no scripts, no forms, no way out
        self.assertEqual(frame["srcdoc"], report.html)
        self.assertEqual(frame["title"], 'A "title" & more')
        self.assertNotIn("script", [tag for tag, _ in Elements(report.html).found])
        report.save(self.folder / "one.html")
        other = model.report(self.folder / "two.html", title='A "title" & more')
        self.assertEqual((self.folder / "one.html").read_text(encoding="utf-8"), report.html)
        self.assertEqual((self.folder / "two.html").read_text(encoding="utf-8"), other.html)
        self.assertIn("Report('A", repr(report))

    def test_a_fitted_model_shows_its_blocks(self):
        X, y = rings(60)
        words, labels = sentences(20)
        for model, data, target in ((MKLClassifier(), X, y), (MKLRegressor(), X, X[:, 0]),
                                    (SequenceLabeler(epochs=2), words, labels)):
            with self.subTest(model=type(model).__name__):
                before = model._repr_html_()
                self.assertIn(type(model).__name__, before)
                model.fit(data, target)
                page = model._repr_html_()
                strongest = model.blocks_[int(np.argmax(model.weights_))]
                self.assertIn(html.escape(strongest), page)
                self.assertNotIn("script", [tag for tag, _ in Elements(page).found])
                self.assertEqual(model._repr_mimebundle_()["text/html"], page)
                with config_context(display="text"):
                    self.assertNotIn("text/html", model._repr_mimebundle_())

    def test_names_of_blocks_cannot_bring_elements_along(self):
        X, y = rings(60)
        model = MKLClassifier("rbf(auto)").fit({"<img src=x>": X[:, :2], "b": X[:, 2:]}, y)
        self.assertNotIn("img", [tag for tag, _ in Elements(model._repr_html_()).found])


class Notebook(InFolder):
    def with_kernel(self, program, *arguments):
        """Runs a program that starts the kernel "here": the Python of these tests."""
        spec = self.folder / "kernels" / "here"
        spec.mkdir(parents=True)
        start = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (spec / "kernel.json").write_text(json.dumps({"argv": start, "display_name": "here"}))
        told = subprocess.run([sys.executable, "-c", program, *arguments], cwd=self.folder,
                              env={**os.environ, "JUPYTER_PATH": str(self.folder)},
                              capture_output=True, text=True, check=False)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.complaints = told.stderr
        return told.stdout

    @needs("jupyter_client", "ipykernel")
    def test_interrupting_the_kernel_keeps_the_model_so_far(self):
        fit = ("import medley\n"
               "X, y = medley.generate('waveform', rows=600, seed=1)\n"
               "told = []\n"
               "def say(progress):\n"
               "    if progress.stage == 'training' and progress.done > 2 and not told:\n"
               "        told.append(print('training', flush=True))\n"
               "model = medley.MKLClassifier(epochs=1000000, verbose=say)\n"
               "model.fit(X, y)\n")
        program = (
            "from jupyter_client.manager import start_new_kernel\n"
            "manager, client = start_new_kernel(kernel_name='here')\n"
            f"client.execute({fit!r}, stop_on_error=False)\n"  # the next cell is to run all the same
            "while True:\n"
            "    message = client.get_iopub_msg(timeout=60)\n"
            "    if 'training' in message['content'].get('text', ''):\n"
            "        break\n"
            "manager.interrupt_kernel()\n"
            "print(client.get_shell_msg(timeout=60)['content']['ename'])\n"
            "used = 'print(model.n_iter_ < 1000000, model.score(X, y) > 0.5)'\n"
            "client.execute_interactive(used, timeout=60)\n"
            "client.stop_channels()\n"
            "manager.shutdown_kernel(now=True)\n"
        )
        told = self.with_kernel(program)
        self.assertEqual(told.split(), ["KeyboardInterrupt", "True", "True"], self.complaints)

    def test_it_has_outputs_and_pictures(self):
        code = [cell for cell in cells_of(NOTEBOOK) if cell["cell_type"] == "code"]
        self.assertGreater(len(code), 6)
        outputs = [output for cell in code for output in cell["outputs"]]
        kinds = {kind for output in outputs for kind in output.get("data", {})}
        self.assertIn("image/png", kinds)
        self.assertIn("text/html", kinds)
        self.assertNotIn("error", {output["output_type"] for output in outputs})
        self.assertLess(NOTEBOOK.stat().st_size, 600_000)

    @needs("nbformat", "nbclient", "ipykernel", "pandas", "matplotlib")
    def test_it_runs_and_says_what_it_said(self):
        program = ("import sys, nbclient, nbformat\n"
                   "notebook = nbformat.read(sys.argv[1], as_version=4)\n"
                   "nbclient.NotebookClient(notebook, timeout=600, kernel_name='here').execute()\n"
                   "nbformat.write(notebook, 'run.ipynb')\n")
        self.with_kernel(program, str(NOTEBOOK))
        for cell, kept in zip(cells_of(self.folder / "run.ipynb"), cells_of(NOTEBOOK)):
            self.assertEqual(len(cell.get("outputs", [])), len(kept.get("outputs", [])))
            now, before = printed(cell), printed(kept)
            self.assertEqual(NUMBER.sub("", now), NUMBER.sub("", before))
            for new, old in zip(NUMBER.findall(now), NUMBER.findall(before)):
                # other processors round otherwise: models differ a little
                self.assertLessEqual(abs(float(new) - float(old)), 0.02 + 0.1 * abs(float(old)))


if __name__ == "__main__":
    unittest.main()
