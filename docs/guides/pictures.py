#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the pictures of the guides from generated data: pictures.py [NAME...]

Each function below learns with the commands that its guide shows and draws one SVG file beside this
script. $MEDLEY is the command (default: build/medley). Standard library only; half a minute."""

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEDLEY = str(Path(os.environ.get("MEDLEY") or HERE.parents[1] / "build" / "medley").resolve())

# Two colours that can be told apart on white and on black, by everybody.
STYLE = """text{font:12px system-ui,sans-serif;fill:#333}.small{font-size:11px;fill:#666}
.title{font-weight:600}.a{fill:#2f7ec4}.b{fill:#c8741a}.la{stroke:#2f7ec4}.lb{stroke:#c8741a}
.line{fill:none;stroke-width:2}.axis{stroke:#888;fill:none}.grid{stroke:#8884;fill:none}
.end{text-anchor:end}.mid{text-anchor:middle}
@media(prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#aaa}.a{fill:#5aa9e6}.b{fill:#e8a050}
.la{stroke:#5aa9e6}.lb{stroke:#e8a050}}"""


class Picture:
    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [f"<title>{escape(title)}</title>"]

    def text(self, x, y, words, style=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{style}">{escape(words)}</text>')

    def bar(self, x, y, width, height, style="a"):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.3):.1f}" '
                          f'height="{max(height, 0.3):.1f}" class="{style}"/>')

    def path(self, data, style):
        self.parts.append(f'<path d="{data}" class="{style}"/>')

    def line(self, points, style):
        self.path("M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in points), style)

    def dot(self, x, y, style):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="{style}"/>')

    def save(self, name):
        (HERE / name).write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" height="{self.height}" role="img"><style>{STYLE}</style>\n'
            + "\n".join(self.parts) + "\n</svg>\n", encoding="utf-8")
        print(f"{name}: {(HERE / name).stat().st_size} bytes")


def medley(*arguments):
    """What the command prints; an error ends everything."""
    done = subprocess.run([MEDLEY, *map(str, arguments)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"medley {' '.join(map(str, arguments))}: {done.stderr}")
    return done.stdout


def train(*arguments):
    return json.loads(medley("train", "--json", "--quiet", "--model", "m.medley", *arguments))


def accuracy(*arguments):
    return json.loads(medley("eval", "--json", "--model", "m.medley", *arguments))["accuracy"]


def log_scale(low, high, from_, to):
    return lambda v: from_ + (to - from_) * math.log(v / low) / math.log(high / low)


# ---- the pictures ----

def penalties():
    """Weights of the same kernels under four penalties, on two problems."""
    medley("generate", "ringnorm", "--rows", 300, "--output", "ring.csv")
    medley("generate", "ringnorm", "--rows", 3000, "--seed", 2, "--output", "ring-new.csv")
    medley("generate", "blobs", "--rows", 2000, "--views", 6, "--classes", 2, "--noise", 3,
           "--output", "b.csv")
    views = [word for v in range(1, 7) for word in ("--view", f"v{v}=b-view{v}.csv")]
    problems = [
        ("one kernel is enough: ringnorm, 63 Gaussians on all columns and on each",
         ["--views", "all+each", "--kernel", "rbf(sigma={1,2,4})", "--normalize", "trace",
          "--loss", "logistic", "ring.csv"], ["ring-new.csv"]),
        ("most count: blobs, a Gaussian on each of six views, the last one noise",
         [*views, "--kernel", "rbf(auto)", "--folds", "0/10"], [*views, "--folds", "1-9/10"])]
    picture = Picture(720, 300, "Kernel weights under four penalties")
    for row, (title, learn, test) in enumerate(problems):
        top = 24 + row * 146
        picture.text(10, top - 6, title, "title")
        for column, penalty in enumerate(["group-lasso", "elastic(t=0.5)", "block(q=1.5)",
                                          "block(q=2)"]):
            learnt = train(*learn, "--penalty", penalty)
            # in the order of the bank, not of size, so that pictures can be compared
            weights = {block["name"]: block["weight"] for block in learnt["blocks"]}
            names = sorted(weights, key=lambda n: (not n.endswith("@all"), n.split("@")[-1], n))
            left, wide, high = 10 + column * 178, 160, 80
            step = wide / len(names)
            thick = step - (2 if step > 6 else 0.6)
            for style in "ab":  # one path for all bars of a colour: a small file
                bars = [(index, weights[name] / max(weights.values()) * high)
                        for index, name in enumerate(names)
                        if name.endswith("@v6") == (style == "b") and weights[name] > 0]
                picture.path("".join(
                    f"M{left + index * step:.1f},{top + high + 6}v{-tall:.1f}h{thick:.1f}v{tall:.1f}z"
                    for index, tall in bars), style)
            picture.line([(left, top + high + 6.5), (left + wide, top + high + 6.5)], "axis")
            picture.text(left, top + high + 22, penalty)
            picture.text(left, top + high + 37, f"{learnt['active_blocks']} of {len(names)} used, "
                         f"{100 * accuracy(*test):.1f} % right", "small")
    picture.save("penalties.svg")


def widths():
    """Accuracy of single Gaussians by their width, of the automatic one, and of five together."""
    medley("generate", "waveform", "--rows", 400, "--output", "train.csv")
    medley("generate", "waveform", "--rows", 2000, "--seed", 2, "--output", "new.csv")
    tried = [0.3, 0.5, 1, 2, 3, 5, 10, 20, 30, 100]
    single = []
    for width in tried:
        train("--method", "spom", "--kernel", f"rbf(sigma={width})", "train.csv")
        single.append(accuracy("new.csv"))
    train("--method", "spom", "--kernel", "rbf(auto)", "train.csv")
    auto = accuracy("new.csv")
    train("--method", "spom", "--kernel", "rbf(sigma={0.3,1,3,10,30})", "train.csv")
    five = accuracy("new.csv")
    picture = Picture(620, 240, "Accuracy of Gaussian kernels by width")
    x, y = log_scale(0.3, 100, 50, 420), lambda v: 200 - (v - 0.3) / 0.6 * 180
    for share in (0.4, 0.6, 0.8):
        picture.line([(50, y(share)), (420, y(share))], "grid")
        picture.text(44, y(share) + 4, f"{100 * share:.0f} %", "small end")
    for width in (0.3, 1, 3, 10, 30, 100):
        picture.text(x(width), 216, f"{width:g}", "small mid")
    picture.text(235, 232, "width sigma of a single Gaussian", "small mid")
    picture.line([(x(w), y(a)) for w, a in zip(tried, single)], "line la")
    for width, share in zip(tried, single):
        picture.dot(x(width), y(share), "a")
    for share, words, at in ((five, "five widths together", y(five) - 6),
                             (auto, "rbf(auto)", y(auto) + 14)):
        picture.line([(50, y(share)), (420, y(share))], "line lb")
        picture.text(426, at, f"{words} {100 * share:.1f} %")
    picture.save("widths.svg")


def thousands():
    """Seconds of training and of kernels by the number of kernels."""
    medley("generate", "ringnorm", "--rows", 200, "--output", "ring.csv")
    counts = [100, 300, 1000, 3000, 10000]
    times = []
    for count in counts:
        best = None
        for _ in range(3):
            learnt = train("--views", f"random:{count}", "--kernel", "rbf(auto)", "--normalize",
                           "trace", "--loss", "logistic", "ring.csv")
            seconds = (learnt["seconds"]["kernels"], learnt["seconds"]["train"],
                       learnt["active_blocks"])
            best = min(best, seconds) if best else seconds
        times.append(best)
    picture = Picture(600, 250, "Seconds by the number of kernels")
    x, y = log_scale(100, 10000, 60, 420), log_scale(0.003, 10, 205, 20)
    for second in (0.01, 0.1, 1, 10):
        picture.line([(60, y(second)), (420, y(second))], "grid")
        picture.text(54, y(second) + 4, f"{second:g} s", "small end")
    for count, (_, _, used) in zip(counts, times):
        picture.text(x(count), 222, f"{count:,}", "small mid")
        picture.text(x(count), 236, f"{used} used", "small mid")
    for index, style, words in ((0, "a", "computing the kernels"), (1, "b", "learning, certified")):
        points = [(x(c), y(max(t[index], 0.003))) for c, t in zip(counts, times)]
        picture.line(points, "line l" + style)
        for point in points:
            picture.dot(*point, style)
        picture.text(428, points[-1][1] + 4, words)
    picture.save("thousands.svg")


def pieces():
    """Accuracy and seconds against rows: one pass, and the two stages."""
    medley("generate", "waveform", "--rows", 40000, "--output", "big.csv")
    medley("generate", "waveform", "--rows", 5000, "--seed", 2, "--output", "big-new.csv")
    counts = [1000, 2500, 5000, 10000, 20000, 40000]
    lines = {}
    for name, more in (("one pass", ["--epochs1", 1, "--epochs2", 0]), ("both stages", [])):
        for count in counts:
            learnt = train("--method", "obscure", "--scale", "standard", "--kernel",
                           "linear(norm=diag)", "--kernel", "rbf(auto)", "--memory", "500M",
                           "--sample", count, *more, "big.csv")
            lines.setdefault(name, []).append(
                (accuracy("big-new.csv"), learnt["seconds"]["kernels"] + learnt["seconds"]["train"]))
    picture = Picture(720, 250, "Accuracy and seconds against rows")
    x = log_scale(1000, 40000, 60, 300)
    for panel, (title, y, ticks, form) in enumerate((
            ("accuracy on 5,000 new rows", lambda v: 205 - (v - 0.80) / 0.08 * 170,
             (0.80, 0.82, 0.84, 0.86, 0.88), "{:.0%}"),
            ("seconds, kernels included", log_scale(0.003, 30, 205, 35), (0.01, 0.1, 1, 10),
             "{:g} s"))):
        shift = panel * 330
        picture.text(60 + shift, 20, title, "title")
        for tick in ticks:
            picture.line([(60 + shift, y(tick)), (300 + shift, y(tick))], "grid")
            picture.text(54 + shift, y(tick) + 4, form.format(tick), "small end")
        for count in (1000, 5000, 10000, 40000):
            picture.text(x(count) + shift, 222, f"{count:,}", "small mid")
        picture.text(180 + shift, 238, "rows", "small mid")
        for style, (name, points) in zip("ab", lines.items()):
            drawn = [(x(c) + shift, y(p[panel])) for c, p in zip(counts, points)]
            picture.line(drawn, "line l" + style)
            for point in drawn:
                picture.dot(*point, style)
            if panel:
                picture.text(drawn[-1][0] + 6, drawn[-1][1] + 4, name)
    picture.save("rows.svg")


def templates():
    """Weights of templates that sparse learning gives, beside the templates."""
    medley("generate", "tagged", "--rows", 1000, "--output", "train.txt", "--to", "columns")
    learnt = train("--template", "chunk", "--penalty", "mkl", "--C", 1, "train.txt")
    blocks = sorted(learnt["blocks"], key=lambda b: -b["weight"])
    picture = Picture(560, 24 + 16 * len(blocks), "Weights of templates")
    picture.text(10, 14, "weights of CRF++'s templates under the sparse penalty", "title")
    for index, block in enumerate(blocks):
        y = 24 + index * 16
        picture.text(200, y + 11, block["name"], "small end")
        picture.bar(208, y + 2, 290 * block["weight"] / blocks[0]["weight"], 12)
        picture.text(212 + 290 * block["weight"] / blocks[0]["weight"], y + 11,
                     f"{block['weight']:.3f}", "small")
    picture.save("templates.svg")


# What the parser is asked about: word, lemma, tags, features.
SENTENCE = """Julia Julia PROPN NNP Number=Sing
walked walk VERB VBD Tense=Past|VerbForm=Fin
across across ADP IN _
the the DET DT _
old old ADJ JJ Degree=Pos
bridge bridge NOUN NN Number=Sing
and and CCONJ CC _
called call VERB VBD Tense=Past|VerbForm=Fin
her her PRON PRP$ Poss=Yes|PronType=Prs
neighbour neighbour NOUN NN Number=Sing
. . PUNCT . _"""


def tree():
    """A sentence that a parser has read, with its arcs."""
    medley("generate", "treebank", "--rows", 1000, "--output", "train.conllu")
    train("--order", 2, "train.conllu")
    columns = [word.split() for word in SENTENCE.splitlines()]
    Path("new.conllu").write_text("".join(
        "\t".join([str(index), *word, "_", "_", "_", "_"]) + "\n"
        for index, word in enumerate(columns, 1)) + "\n", encoding="utf-8")
    words = [line.split("\t")
             for line in medley("predict", "--model", "m.medley", "new.conllu").splitlines() if line]
    step = 64
    longest = max(abs(int(word[0]) - int(word[6])) for word in words if word[6] != "0")
    base = 40 + 18 * longest
    picture = Picture(40 + step * len(words), base + 50, "A parsed sentence")
    for index, word in enumerate(words):
        x, head = 40 + index * step, int(word[6])
        picture.text(x, base + 18, word[1], "mid")
        picture.text(x, base + 34, word[3], "small mid")
        if head == 0:
            picture.line([(x, 14), (x, base)], "line lb")
            picture.text(x + 4, 24, word[7], "small")
            continue
        to = 40 + (head - 1) * step
        to += 5 if to < x else -5
        high = 16 + 24 * abs(index + 1 - head)
        picture.path(f"M{to},{base}C{to},{base - high} {x},{base - high} {x},{base}", "line la")
        picture.line([(x - 3, base - 6), (x, base), (x + 3, base - 6)], "line la")
        picture.text((x + to) / 2, base - 0.75 * high - 3, word[7], "small mid")
    picture.save("tree.svg")


def path():
    """Accuracy and the number of kernels from a strong to a weak penalty."""
    medley("generate", "ringnorm", "--rows", 300, "--output", "ring.csv")
    medley("generate", "ringnorm", "--rows", 1000, "--seed", 2, "--output", "ring-new.csv")
    walked = json.loads(medley("path", "--json", "--quiet", "--views", "random:100", "--kernel",
                               "rbf(auto)", "--normalize", "trace", "--loss", "logistic", "--dev",
                               "ring-new.csv", "ring.csv"))
    points = walked["path"]
    picture = Picture(560, 240, "The path of penalties")
    strong, weak = points[0]["lambda"], points[-1]["lambda"]
    x = log_scale(strong, weak, 60, 500)
    most = max(point["active"] for point in points)
    for style, key, y in (("a", "score", lambda v: 200 - (v - 0.5) / 0.5 * 170),
                          ("b", "active", lambda v: 200 - v / most * 170)):
        drawn = [(x(p["lambda"]), y(p[key])) for p in points if p[key] is not None]
        picture.line(drawn, "line l" + style)
        for point in drawn:
            picture.dot(*point, style)
    for share in (0.5, 0.75, 1):
        picture.text(54, 204 - (share - 0.5) / 0.5 * 170, f"{100 * share:.0f} %", "small end")
    for count in (0, most // 2, most):
        picture.text(506, 204 - count / most * 170, f"{count}", "small")
    picture.text(60, 18, "accuracy on new rows", "title a")
    picture.text(500, 18, "kernels used", "title end b")
    picture.text(280, 228, f"strength of the penalty, from {strong:.2g} down to {weak:.2g}",
                 "small mid")
    picture.save("path.svg")


def peers():
    """Training seconds and accuracy on letters, beside LIBSVM."""
    if not shutil.which("svm-train"):
        return print("peers.svg: not made, svm-train is not installed")
    for name, seed, rows in (("train", 1, 1000), ("test", 2, 500)):
        medley("generate", "handwriting", "--rows", rows, "--seed", seed, "--output",
               f"{name}.data", "--to", "letter")
        lines = medley("convert", "--to", "svmlight", "--from", "letter", f"{name}.data")
        Path(f"{name}.svm").write_text("".join(  # LIBSVM wants numbers as labels, and no qid
            f"{ord(line[0]) - 96} {line.split(' ', 2)[2]}\n" for line in lines.splitlines()))

    def seconds(command):
        best = math.inf
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
            best = min(best, time.perf_counter() - start)
        return best

    bars = [("LIBSVM", seconds(["svm-train", "-q", "-c", "3", "-g", "0.1", "-m", "2000",
                                "train.svm", "peer.model"]))]
    said = subprocess.run(["svm-predict", "test.svm", "peer.model", "out.txt"],
                          stdout=subprocess.PIPE, text=True).stdout
    right = [float(said.split("=")[1].split("%")[0])]
    one = ["--kernel", "rbf(gamma=0.1)", "--C", "3"]
    for name, kernels in (("Medley, the same Gaussian", one),
                          ("Medley, three kernels", [*one, "--kernel", "linear(norm=diag)",
                                                     "--kernel", "poly(degree=2,norm=diag)"])):
        bars.append((name, seconds([MEDLEY, "train", "--model", "m.medley", "--method", "spom",
                                    "--quiet", *kernels, "train.svm"])))
        right.append(100 * accuracy("test.svm"))
    picture = Picture(560, 110, "Training on letters, beside LIBSVM")
    picture.text(10, 16, "5,249 generated letters of 26 classes, seconds of training", "title")
    for index, ((name, value), share) in enumerate(zip(bars, right)):
        y, wide = 26 + index * 27, 260 * value / max(v for _, v in bars)
        picture.text(160, y + 14, name, "end")
        picture.bar(168, y + 2, wide, 17, "b" if index == 0 else "a")
        picture.text(174 + wide, y + 15, f"{value:.2f} s, {share:.1f} % right", "small")
    picture.save("peers.svg")


PICTURES = [penalties, widths, thousands, pieces, templates, tree, path, peers]

if __name__ == "__main__":
    wanted = sys.argv[1:] or [function.__name__ for function in PICTURES]
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for function in PICTURES:
            if function.__name__ in wanted:
                function()
