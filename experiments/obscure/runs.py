# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the command for these experiments: the data sets and their kernels, training and testing,
and the command lines as the table shows them."""

import os
import shlex
import sys
from collections import namedtuple
from pathlib import Path

EXPERIMENTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EXPERIMENTS))
sys.path.append(str(EXPERIMENTS / "spicy"))  # panels.py
import common  # noqa: E402
import panels  # noqa: E402

FOLDS = 5
FIRST, SECOND = 3, 30  # epochs of the two stages
MFEAT_COLUMNS = {"fac": 216, "fou": 76, "kar": 64, "mor": 6, "pix": 240, "zer": 47}
MFEAT_KERNELS = ["--scale", "standard", "--kernel", "rbf(auto)"]
MNIST_KERNELS = ["--views", "grid:2x2", "--scale", "minmax", "--kernel", "linear(norm=diag)",
                 "--kernel", "poly(degree=3,norm=diag)", "--kernel", "rbf(sigma2=2.8)"]
MNIST_VALUED = 8  # of the 12 kernels: the linear ones are kept as weights, not as values
MNIST_MEMORY = "4G"  # of runs whose kernel values are to be kept
OTHERS = ("average", "best", "svm", "lp-beta", "spom", "om2")

FILES = [f"mfeat/mfeat-{view}.csv.gz" for view in MFEAT_COLUMNS] + [
    f"mnist/{part}-{what}.gz" for part in ("train", "t10k")
    for what in ("images-idx3-ubyte", "labels-idx1-ubyte")]

# train, test: options that name the rows to learn from and those to measure on
Data = namedtuple("Data", "name train test")


def check_files():
    common.find_data(*FILES)


def data_folder():
    return str(Path(common.find_data(FILES[0])[0]).parent.parent)


def mfeat_views():
    return [word for view in MFEAT_COLUMNS
            for word in ("--view", f"{view}={data_folder()}/mfeat/mfeat-{view}.csv.gz")]


def mfeat(fold, inverted=False):
    """Four folds to learn from and one to measure on; inverted: the other way round."""
    others = ",".join(str(k) for k in range(FOLDS) if k != fold) + f"/{FOLDS}"
    few, many = ["--folds", f"{fold}/{FOLDS}"], ["--folds", others]
    train, test = (few, many) if inverted else (many, few)
    return Data("mfeat", [*mfeat_views(), *MFEAT_KERNELS, *train], [*mfeat_views(), *test])


def mnist_images(part):
    return f"{data_folder()}/mnist/{part}-images-idx3-ubyte.gz"


def mnist(rows, memory=MNIST_MEMORY, seed=1):
    return Data("MNIST", [*MNIST_KERNELS, "--memory", memory, "--sample", str(rows), "--seed",
                          str(seed), mnist_images("train")], [mnist_images("t10k")])


def obscure(p, C, first=None, second=None):
    epochs = [] if first is None else ["--epochs1", str(first), "--epochs2", str(second)]
    return ["--method", "obscure", "--p", f"{p}", "--C", f"{C}", *epochs]


def pegasos(p, C, epochs):
    return ["--method", "pegasos", "--p", f"{p}", "--C", f"{C}", "--epochs", str(epochs)]


class Runs:
    """One command, one scratch folder."""

    def __init__(self, options, scratch):
        self.medley, self.options = common.find_medley(), options
        self.model = os.path.join(scratch, "model.medley")
        self.methods, self.left_out = common.listed_methods(self.medley), {}

    def has(self, method):
        if method not in self.methods:
            self.leave_out(method, "the command does not have it")
        return method in self.methods

    def leave_out(self, what, why):
        if what not in self.left_out:
            self.left_out[what] = why
            print(f"skipped: {what}: {why}", flush=True)

    def train(self, words, limit=None):
        return common.run([self.medley, "train", "--model", self.model, "--threads",
                           self.options.threads, "--quiet", "--json", *words], limit)

    def accuracy(self, words):
        return common.run([self.medley, "eval", "--model", self.model, "--threads",
                           self.options.threads, "--json", *words])["accuracy"]

    def measure(self, data, words, limit=None):
        """Trains and tests: what training said, with the accuracy on the test rows."""
        result = self.train([*words, *data.train], limit)
        result["accuracy"] = self.accuracy(data.test)
        return result

    def other(self, data, method):
        """The same of a method that is not what this is about: None where it cannot."""
        if not self.has(method):
            return None
        try:
            return self.measure(data, ["--method", method], self.options.limit)
        except common.Failed as failure:
            why = str(failure).splitlines()[-1].strip()
            if why.startswith("out of time"):
                why = f"more than {self.options.limit:g} s"
            self.leave_out(f"{method}, {data.name}", why)
            return None


def shown(words, command="train"):
    """A command line as the table shows it: V and K stand for what its head says."""
    text = " ".join(map(shlex.quote, ["medley", command, "--model", "m.medley", *words]))
    for name, part in (("$V", mfeat_views()), ('"${K[@]}"', MNIST_KERNELS)):
        text = text.replace(" ".join(map(shlex.quote, part)), name)
    return text.replace(data_folder() + "/", "D/")


def abbreviations():
    names = " ".join(MFEAT_COLUMNS)
    kernels = " ".join(map(shlex.quote, MNIST_KERNELS))
    return (f"    V=$(for v in {names}; do echo --view $v=D/mfeat/mfeat-$v.csv.gz; done)\n"
            f"    K=({kernels})")


def write_picture(path, rows, style, title):
    """Panels, with a title for readers who do not see them."""
    panels.write_panels(path, rows, style)
    if path.exists():
        text = path.read_text(encoding="utf-8")
        head, body = text.split(">\n", 1)
        path.write_text(f'{head} role="img" aria-label="{title}">\n<title>{title}</title>\n{body}',
                        encoding="utf-8")
