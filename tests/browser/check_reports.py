#!/usr/bin/env python3
"""Looks at reports in a browser: check_reports.py MEDLEY BROWSER, in an empty folder.

Prints a line "ok - NAME" or "not ok - NAME" for each check and returns 1 if one failed. Reports of
every kind of model must load without complaints and without asking the network, show the numbers
that other commands tell, fit a phone, be legible by day, by night and on paper, and stay inert
whatever is in the data.
"""
import json
import math
import os
import subprocess
import sys

from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

MEDLEY, BROWSER = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = open(os.path.join(HERE, "page.js"), encoding="utf-8").read()
failures = 0


def check(name, holds, seen=""):
    global failures
    if holds:
        print("ok -", name)
    else:
        failures += 1
        print("not ok -", name)
        print("    seen:", str(seen)[:600])
    sys.stdout.flush()
    return holds


def medley(*words):
    result = subprocess.run([MEDLEY, *words], capture_output=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"medley {' '.join(words)}: {result.stderr.decode('utf-8', 'replace')}")
    return result.stdout


def told(*words):
    return json.loads(medley(*words, "--json"))


def write(path, text):
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


# ---- the browser ----


class Page:
    def __init__(self):
        options = Options()
        options.binary_location = BROWSER
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--no-first-run", "--disable-background-networking",
                     "--disable-component-update", "--allow-file-access-from-files"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service("chromedriver"), options=options)

    def command(self, name, **words):
        return self.driver.execute_cdp_cmd(name, words)

    def look(self, width=1200, scheme="light", media="screen"):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=800,
                     deviceScaleFactor=1, mobile=width < 600)
        self.command("Emulation.setEmulatedMedia", media=media,
                     features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path):
        """Loads a file; returns what the browser complained of and what it asked for."""
        self.driver.get_log("performance")
        url = "file://" + os.path.abspath(path)
        self.driver.get(url)
        asked = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        return self.driver.get_log("browser"), [u for u in asked if u != url]

    def ask(self, question, *words):
        return self.driver.execute_script(SCRIPT, question, *words)

    def has_alert(self):
        try:
            self.driver.switch_to.alert.dismiss()
        except NoAlertPresentException:
            return False
        return True


# ---- data and models ----


def numbers_csv(path, rows, seed):
    state = seed

    def uniform():
        nonlocal state
        state = state * 16807 % 2147483647
        return state / 2147483647

    lines = ["x,z,y"]
    for _ in range(rows):
        x, z = 6 * uniform(), uniform()
        lines.append(f"{x:.4f},{z:.4f},{math.sin(x) + 0.1 * uniform():.4f}")
    write(path, "\n".join(lines) + "\n")


QUICK = ("--quiet", "--eta0", "1", "--epochs", "5")

HOSTILE = ["<script>window.hit=1;alert(1)</script>", "\"><img/src=x/onerror=window.hit=1>", "]]>",
           "&lt;b&gt;", "javascript:window.hit=1", "'onmouseover='window.hit=1", "</style><i>",
           "\u05d0\u05d1\u05d2"]


def make_reports():
    medley("generate", "waveform", "--rows", "150", "--output", "wave.csv")
    medley("generate", "waveform", "--rows", "80", "--seed", "2", "--output", "wave-test.csv")
    medley("train", "--model", "wave.medley", *QUICK, "wave.csv")
    medley("report", "wave.medley", "wave-test.csv")

    medley("generate", "handwriting", "--rows", "120", "--to", "letter", "--output", "words.data")
    medley("train", "--model", "words.medley", *QUICK, "--folds", "0-4", "words.data")
    medley("report", "words.medley", "words.data", "--folds", "5-9")

    for kind, ending in (("tagged", "txt"), ("treebank", "conllu")):
        medley("generate", kind, "--rows", "60", "--output", f"{kind}.{ending}")
        medley("generate", kind, "--rows", "30", "--seed", "2", "--output", f"{kind}-test.{ending}")
    medley("train", "--model", "tagged.medley", "--quiet", "--template", "chunk", "--epochs", "2",
           "tagged.txt")
    medley("report", "tagged.medley", "tagged-test.txt")
    medley("train", "--model", "trees.medley", "--quiet", "--template", "arc-form-upos",
           "--hash-bits", "12", "--epochs", "1", "treebank.conllu")
    medley("report", "trees.medley", "treebank-test.conllu")

    write("years.csv", "x,y\n" + "".join(f"{i},{1900 + i / 300:.4f}\n" for i in range(90)))
    medley("train", "--model", "years.medley", "--quiet", "--task", "regression", "--kernel", "rbf",
           "--report", "years.html", "--holdout", "0.3", "years.csv")
    write("wide.conllu", "".join("".join(
        f"{w}\t{word}\t_\tNOUN\tNN\t_\t{w - 1}\tdep\t_\t_\n" for w, word in enumerate(
            ("WWWW", "MAMMUT", "日本語学校", "WIKIMEDIA", "mmmmmm"), 1)) + "\n" for _ in range(5)))
    medley("train", "--model", "wide.medley", "--quiet", "--template", "arc-form-upos",
           "--hash-bits", "10", "--epochs", "1", "wide.conllu")
    medley("report", "wide.medley", "wide.conllu")

    numbers_csv("numbers.csv", 90, 5)
    medley("train", "--model", "numbers.medley", "--quiet", "--task", "regression", "--kernel",
           "rbf(sigma={0.5,1,2})", "--holdout", "0.3", "--report", "numbers.html", "numbers.csv")

    medley("generate", "ringnorm", "--rows", "120", "--output", "ring.csv")
    medley("path", "--quiet", "--views", "all+each", "--kernel", "rbf", "--count", "8", "--holdout",
           "0.3", "--output", "path.json", "--report", "path.html", "ring.csv")
    medley("tune", "--quiet", "--cv", "3", "--kernel", "rbf", "--C", "0.1,1,10", "--output",
           "tune.csv", "--report", "tune.html", "ring.csv")


def make_hostile():
    names = HOSTILE[:7]
    quoted = ['"' + n.replace('"', '""') + '"' for n in names]
    rows = [",".join(quoted[:3] + ["label"])]
    for i in range(60):
        rows.append(f"{i % 7},{i % 5},{i * i % 11},{quoted[i % 7]}")
    data = "<img src=x onerror=window.hit=1>.csv"
    write(data, "\n".join(rows) + "\n")
    medley("train", "--model", "hostile.medley", *QUICK, "--views", "all+each", "--kernel", "rbf",
           data)
    medley("report", "hostile.medley", data, "--title", HOSTILE[0])
    lines = []
    for i in range(40):
        lines.append(f"{HOSTILE[i % 8]} {HOSTILE[(i + 3) % 8]} {HOSTILE[i * i % 5]}")
        if i % 4 == 3:
            lines.append("")
    write("<svg onload=window.hit=1>.txt", "\n".join(lines) + "\n")
    medley("train", "--model", "words2.medley", "--quiet", "--template", "chunk", "--epochs", "1",
           "<svg onload=window.hit=1>.txt")
    medley("report", "words2.medley", "<svg onload=window.hit=1>.txt")
    lines = []
    for i in range(20):
        for w in range(1, 5):
            word, relation = HOSTILE[(i + w) % 8], HOSTILE[(i + 2 * w) % 7]
            lines.append(f"{w}\t{word}\t{word}\tNOUN\tNN\t_\t{w - 1}\t{relation}\t_\t_")
        lines.append("")
    write("hostile.conllu", "\n".join(lines) + "\n")
    medley("train", "--model", "trees2.medley", "--quiet", "--template", "arc-form-upos",
           "--hash-bits", "10", "--epochs", "1", "hostile.conllu")
    medley("report", "trees2.medley", "hostile.conllu")


# ---- checks ----


def check_page(page, name):
    page.look()
    complaints, asked = page.open(f"{name}.html")
    check(f"{name}: loads without complaints", complaints == [], complaints)
    check(f"{name}: asks for nothing else", asked == [], asked)
    check(f"{name}: nothing in it can run", page.ask("active") == [], page.ask("active"))
    check(f"{name}: texts of drawings are inside of them", page.ask("outside") == [],
          page.ask("outside"))
    check(f"{name}: ticks differ and lie apart", page.ask("ticks") == [], page.ask("ticks"))
    check(f"{name}: words of trees lie apart", page.ask("crowded") == [], page.ask("crowded"))
    check(f"{name}: named for all readers", page.ask("unlabelled") == [], page.ask("unlabelled"))
    themes = {}
    for scheme in ("light", "dark"):
        page.look(scheme=scheme)
        themes[scheme] = page.ask("theme")
        ratio, where = page.ask("contrast")
        check(f"{name}: contrast of text, {scheme}", ratio >= 4.5, (ratio, where))
    check(f"{name}: day and night differ", themes["light"][0] != themes["dark"][0], themes)
    page.look(scheme="dark", media="print")
    check(f"{name}: dark text on white paper", page.ask("theme")[0] == "rgb(255, 255, 255)"
          and page.ask("contrast")[0] >= 4.5, (page.ask("theme"), page.ask("contrast")))
    page.look(width=360)
    wide = page.ask("overflow")
    check(f"{name}: no scrolling sideways on a phone", wide <= 0, wide)
    check(f"{name}: no head of a table is broken on a phone", page.ask("broken") == [],
          page.ask("broken"))
    page.look()


def check_bars(page, name, model):
    """Bars of weights against what inspect tells."""
    page.open(f"{name}.html")
    weights = sorted((b["weight"] for b in told("inspect", model)["blocks"]), reverse=True)
    drawn = [w for w in weights if w > 0][:30]
    marks = page.ask("marks", "#weight-bars .bar")
    check(f"{name}: weights are those of inspect", len(marks) == len(drawn) > 0 and all(
        abs(m[0] - w) < 1e-12 for m, w in zip(marks, drawn)), (marks, weights))
    check(f"{name}: bars are as long as their weights", all(
        abs(m[1] - m[2] * m[0] / weights[0]) < 1 for m in marks), marks)


def check_confusion(page):
    page.open("wave.html")
    told_by_eval = told("eval", "--model", "wave.medley", "wave-test.csv")
    check("confusions are those of eval",
          page.ask("matrix", "#confusion-matrix") == told_by_eval["confusion"],
          (page.ask("matrix", "#confusion-matrix"), told_by_eval["confusion"]))
    check("a small matrix has letters as large as the text",
          page.ask("smallest", "#confusion-matrix td") >= 16,
          page.ask("smallest", "#confusion-matrix td"))
    shown = page.ask("names", ".tiles .big")[0].replace("\u00a0", " ")
    check("the accuracy is that of eval", shown == f"{100 * told_by_eval['accuracy']:.2f} %", shown)
    page.open("words.html")
    told_by_eval = told("eval", "--model", "words.medley", "--folds", "5-9", "words.data")
    check("confusions of letters are those of eval",
          page.ask("matrix", "#confusion-matrix") == told_by_eval["confusion"])
    letters = page.ask("names", ".card .letter")
    check("letters are drawn", len(letters) > 20, letters)
    wrong = page.ask("names", ".card .letter.bad")
    check("wrong ones bear a sign", wrong and all("\u2717" in w for w in wrong), wrong)


def check_structures(page):
    page.open("tagged.html")
    told_by_eval = told("eval", "--model", "tagged.medley", "tagged-test.txt")
    shown = page.ask("names", ".tiles .big")[0].replace("\u00a0", " ")
    check("F1 is that of eval", shown == f"{100 * told_by_eval['chunk']['f1']:.2f} %", shown)
    check("chunks are drawn with their types", "NP" in page.ask("names", ".chunk .type"))
    page.open("trees.html")
    told_by_eval = told("eval", "--model", "trees.medley", "treebank-test.conllu")
    shown = page.ask("names", ".tiles .big")[0].replace("\u00a0", " ")
    check("LAS is that of eval", shown == f"{100 * told_by_eval['las']:.2f} %", shown)
    words = len(page.ask("names", ".tree .form"))
    arcs = len(page.ask("names", ".tree path.arc:not(.false)"))
    check("every word of a tree has an arc", words > 0 and words == arcs, (words, arcs))
    page.open("numbers.html")
    check("predictions are drawn", len(page.ask("names", ".cloud")) == 1)


def check_path(page):
    page.open("path.html")
    points = json.load(open("path.json", encoding="utf-8"))["path"]
    shown = [row[2] for row in page.ask("matrix", "#path details:first-of-type")]
    check("active blocks along the path", shown == [p["active"] for p in points],
          (shown, [p["active"] for p in points]))
    page.open("tune.html")
    rows = [line.split(",") for line in open("tune.csv", encoding="utf-8").read().splitlines()]
    column = rows[0].index("accuracy")
    means = sorted((float(row[column]) for row in rows[1:]), reverse=True)
    marks = page.ask("marks", "#trial-dots .dot")
    check("means of the tuning, best first", len(marks) == len(means) and all(
        abs(m[0] - t) < 1e-6 for m, t in zip(marks, means)), (marks, means))
    check("dots stand in their order", all(a[1] >= b[1] - 1 for a, b in zip(marks, marks[1:])),
          marks)


def check_hostile(page, name, texts):
    page.look()
    complaints, asked = page.open(f"{name}.html")
    check(f"{name}: the browser has nothing to block", complaints == [] and asked == [],
          (complaints, asked))
    check(f"{name}: no alert", not page.has_alert())
    check(f"{name}: nothing has run", page.driver.execute_script("return window.hit") is None)
    check(f"{name}: no script, no event, no address", page.ask("active") == [], page.ask("active"))
    shown = page.ask("text")
    missing = [t for t in texts if t not in shown]
    check(f"{name}: everything is shown as it is", missing == [], missing)
    page.look(width=360)
    check(f"{name}: fits a phone", page.ask("overflow") <= 0, page.ask("overflow"))


def cell_of(page):
    """A page as the Python package puts it into the cell of a notebook; None: it cannot be loaded."""
    program = "import medley, sys; print(medley.Report(sys.argv[1])._repr_html_())"
    library = os.path.join(os.path.dirname(os.path.abspath(MEDLEY)), "libmedley.so")
    paths = {"PYTHONPATH": os.path.join(HERE, "..", "..", "python"), "MEDLEY_LIBRARY": library}
    done = subprocess.run([sys.executable, "-c", program, page], capture_output=True, text=True,
                          env={**os.environ, **paths, "PYTHONDONTWRITEBYTECODE": "1"}, check=False)
    return done.stdout if done.returncode == 0 else None


def check_cell(page):
    hostile = ("<!DOCTYPE html><p>a report</p><script>top.hit = 1</script>"
               "<img src='data:x' onerror='top.hit = 1'>")
    cell = cell_of(hostile)
    if cell is None:
        print("skip - a report in a notebook: the Python package needs NumPy and SciPy")
        return
    for name, text, hit in (("cell", cell, None), ("open", cell.replace('sandbox=""', ""), 1)):
        write(f"{name}.html", "<!DOCTYPE html><title>a notebook</title>" + text)
        page.open(f"{name}.html")
        found = page.driver.execute_script("return window.hit || null")
        what = "nothing runs" if hit is None else "without its frame's attribute it would"
        check(f"a report in a notebook: {what}", found == hit, found)
    page.open("cell.html")
    page.driver.switch_to.frame(0)
    shown = page.driver.find_element("tag name", "p").text
    check("a report in a notebook: it is shown", shown == "a report", shown)
    page.driver.switch_to.default_content()


def main():
    make_reports()
    make_hostile()
    page = Page()
    try:
        for name in ("wave", "words", "tagged", "trees", "wide", "numbers", "years", "path", "tune"):
            check_page(page, name)
        for name in ("wave", "words", "tagged", "trees"):
            check_bars(page, name, f"{name}.medley")
        check_confusion(page)
        check_structures(page)
        check_path(page)
        check_hostile(page, "hostile", HOSTILE[:7] + ["<img src=x onerror=window.hit=1>.csv"])
        check_hostile(page, "words2", HOSTILE + ["<svg onload=window.hit=1>.txt"])
        check_hostile(page, "trees2", HOSTILE[:7])
        check_cell(page)
    finally:
        page.driver.quit()
    return 1 if failures else 0


sys.exit(main())
