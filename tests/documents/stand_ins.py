# SPDX-License-Identifier: BSD-3-Clause
"""Small files under the names that the documents use: generated, so that every command finds what
it reads. MAKERS maps a name (a regular expression) to the function that makes it in a folder."""

import array
import gzip
import random
import re
import shutil
import struct
import subprocess
import threading
from pathlib import Path

TEMPLATE = """# words and parts of speech around
U00:%x[-1,0]
U01:%x[0,0]
U02:%x[1,0]
U03:%x[-1,0]/%x[0,0]
U10:%x[-1,1]
U11:%x[0,1]
U12:%x[1,1]
U13:%t[0,0,"^\\u"]
B
"""


def npy(path, kind, shape, values):
    """A NumPy array: kind 'f' or 'd'."""
    header = "{'descr': '<%s', 'fortran_order': False, 'shape': (%s,), }" % (
        {"f": "f4", "d": "f8"}[kind], ", ".join(map(str, shape)))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                           + array.array(kind, values).tobytes())


class StandIns:
    """Makes each file once, in a folder of its own, and copies it to where it is wanted."""

    def __init__(self, medley, folder):
        self.medley, self.folder = medley, Path(folder)
        (self.folder / "files").mkdir(parents=True)
        self.lock = threading.Lock()

    def run(self, *arguments):
        done = subprocess.run([self.medley, *map(str, arguments), "--quiet"],
                              cwd=self.folder / "files", stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise RuntimeError(f"no stand-in: medley {' '.join(map(str, arguments))}: {done.stdout}")

    def generate(self, name, path, rows, seed=1, *more):
        self.run("generate", name, "--rows", rows, "--seed", seed, "--output", path, *more)

    # ---- makers: path is where the file goes ----

    def rows(self, path):
        self.generate("waveform", path, 90, sum(path.name.encode()) % 7 + 1)

    def two_labels(self, path):
        self.generate("ringnorm", path, 90)

    def numbers(self, path):
        """Four columns and the number to be predicted from them."""
        draw = random.Random(1)
        lines = ["a,b,c,d,target"]
        for _ in range(100):
            x = [draw.uniform(-1, 1) for _ in range(4)]
            lines.append(",".join(f"{v:.4f}" for v in x + [x[0] * x[0] + x[1] + x[2] * x[3]]))
        path.write_text("\n".join(lines) + "\n")

    def views(self, path):
        """Six files with the same rows; which of them is told by the name's letters."""
        name = re.search(r"(fac|fou|kar|mor|pix|zer|[a-f])\.", path.name)[1]
        seed = 2 if path.name.startswith("new") else 1
        source = self.folder / f"blobs-{seed}"
        source.mkdir(exist_ok=True)
        if not any(source.iterdir()):
            self.generate("blobs", source / "x.csv", 90, seed, "--views", 6)
        index = {"fac": 1, "fou": 2, "kar": 3, "mor": 4, "pix": 5, "zer": 6}.get(
            name, ord(name[0]) - ord("a") + 1)
        data = (source / f"x-view{index}.csv").read_bytes()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)

    def letters(self, path):
        self.generate("handwriting", path, 40, 1, "--to", "letter")

    def tagged(self, path):
        self.generate("tagged", path, 60, 2 if "test" in path.name else 1, "--to", "columns")

    def attributes(self, path):
        """CRFsuite's, made of tagged words."""
        plain = path.with_suffix(".words")
        self.generate("tagged", plain, 60, 2 if "test" in path.name else 1, "--to", "columns")
        lines = [line.split() for line in plain.read_text().splitlines()]
        path.write_text("".join(f"{line[2]}\tw={line[0]}\tpos={line[1]}\n" if line else "\n"
                                for line in lines))

    def treebank(self, path):
        self.generate("treebank", path, 40, 2 if "test" in path.name else 1, "--to", "conllu")

    def images(self, path):
        """Bars whose place tells the label, as idx files: images and, beside them, labels."""
        draw = random.Random(path.name)
        count = 120
        labels = [i % 10 for i in range(count)]
        pixels = bytearray()
        for label in labels:
            for row in range(28):
                bright = 200 if row // 3 == label else 0
                pixels += bytes(min(255, bright + draw.randrange(56)) for _ in range(28))
        pack = gzip.compress if path.suffix == ".gz" else bytes
        path.write_bytes(pack(struct.pack(">4I", 0x803, count, 28, 28) + bytes(pixels)))
        beside = path.with_name(path.name.replace("images-idx3", "labels-idx1"))
        beside.write_bytes(pack(struct.pack(">2I", 0x801, count) + bytes(labels)))

    def gram(self, path):
        """Kernels of 60 rows: a stack of two; new rows come as 20 of them."""
        source = self.folder / "gram.csv"
        self.generate("ringnorm", source, 60)
        self.run("kernel", "--kernel", "rbf(sigma={3,6})", "--output", path, source)
        if "new" in path.name:
            raw = path.read_bytes()[-2 * 60 * 60 * 4:]
            values = array.array("f")
            values.frombytes(raw)
            npy(path, "f", (2, 20, 60), [values[m * 3600 + i] for m in range(2)
                                         for i in range(20 * 60)])

    def gram_labels(self, path):
        source = self.folder / "labels.csv"
        self.generate("ringnorm", source, 60)
        lines = source.read_text().splitlines()
        rows = [line for line in lines if not re.search("[a-z]", line.replace("e", ""))]
        npy(path, "d", (len(rows),), [float(row.split(",")[-1]) for row in rows])

    def model(self, path):
        """For documents that speak of a model which they do not make."""
        how = {"digits.medley": "--view fou=fou.csv --view kar=kar.csv",
               "letters.medley": "--epochs 3 letter.data.gz",
               "words.medley": "--epochs 3 letter.data.gz",
               "all.medley": "--template my.template train.txt",
               "chunk.medley": "--template chunk train.txt"}.get(path.name, "train.csv")
        for name in re.findall(r"\w[\w.]*\.(?:csv|gz|txt|template)", how):
            self.make(name)
        self.run("train", "--model", path, *how.split())

    def template(self, path):
        path.write_text(TEMPLATE)

    def tiny(self, path):
        """The files that docs/formats/model.md shows byte by byte."""
        path.write_text({"tiny.csv": "x,y,label\n0,1,no\n1,0,yes\n", "tags.txt": "the D\ndog N\n",
                         "tags.template": "U:%x[0,0]\nB\n"}[path.name])

    MAKERS = [
        (r"(tiny\.csv|tags\.txt|tags\.template)", tiny),
        (r"(train|new|test|data|my|rows|sonar)\.csv(\.gz)?", rows),
        (r"new\.svmlight\.gz", rows),
        (r"(ring|two)\.csv(\.gz)?", two_labels),
        (r"(numbers|prices)\.csv", numbers),
        (r"(new-)?(fac|fou|kar|mor|pix|zer|[a-f])\.csv(\.gz)?", views),
        (r"letter\.data\.gz", letters),
        (r"(train|test|new|dev)\.txt(\.gz)?", tagged),
        (r"(train|test|new)\.crfsuite", attributes),
        (r"\w+\.template", template),
        (r"[\w-]+\.conllu(\.gz)?", treebank),
        (r"[\w-]+-images-idx3-ubyte(\.gz)?", images),
        (r"(sonar|model|wave|digits|letters|words|chunk|all)\.medley", model),
        (r"(K|K-new)\.npy", gram),
        (r"y\.npy", gram_labels),
    ]

    # The folder of public data that some documents call D.
    PUBLIC = {
        "ocr/letter.data.gz": letters,
        "conll2000/train.txt.gz": tagged, "conll2000/test.txt.gz": tagged,
        "ud-english-ewt/en_ewt-ud-train.conllu.gz": treebank,
        "ud-english-ewt/en_ewt-ud-test.conllu.gz": treebank,
        "ud-english-ewt/en_ewt-ud-dev.conllu.gz": treebank,
        "mnist/train-images-idx3-ubyte.gz": images, "mnist/t10k-images-idx3-ubyte.gz": images,
        "uci/sonar.csv.gz": two_labels, "uci/ionosphere.csv.gz": two_labels,
        "ida/splice.csv.gz": two_labels, "ida/waveform.csv.gz": rows,
        **dict.fromkeys(["mfeat/mfeat-%s.csv.gz" % view for view in (
            "fac", "fou", "kar", "mor", "pix", "zer")], views),
    }

    # ---- what the runner asks for ----

    def public(self):
        """The folder D, made at the first call."""
        with self.lock:
            folder = self.folder / "D"
            if not folder.exists():
                for name, maker in self.PUBLIC.items():
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    maker(self, folder / name)
            return folder

    def maker(self, name):
        return next((maker for pattern, maker in self.MAKERS if re.fullmatch(pattern, name)), None)

    def make(self, name):
        """The one copy of the file that is kept; whoever calls holds the lock."""
        path = self.folder / "files" / name
        if not path.exists():
            self.maker(name)(self, path)
        return path

    def give(self, name, folder):
        """Puts a file of this name into folder if there is a maker for it."""
        if not self.maker(name):
            return
        with self.lock:
            made = self.make(name)
        for file in {name, name.replace("images-idx3", "labels-idx1")}:
            shutil.copy(made.with_name(file), Path(folder) / file)
