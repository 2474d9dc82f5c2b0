# SPDX-License-Identifier: BSD-3-Clause
"""Runs the command for one method after another and remembers what it can do: a method that it does
not have, or that gives no certificate, is named once and left out."""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import common  # noqa: E402

Method = namedtuple("Method", "name options")


def spicy(loss, penalty="group-lasso"):
    return ["--method", "spicy", "--loss", loss, "--penalty", penalty]


HINGE = Method("spicy, hinge", spicy("hinge"))
LOGISTIC = Method("spicy, logistic", spicy("logistic"))
SPICY = (HINGE, LOGISTIC)
ELASTIC = tuple(Method(f"elastic {t}, {loss}", spicy(loss, f"elastic(t={t})"))
                for t in ("0.5", "0.1") for loss in ("hinge", "logistic"))


def others(names, loss="hinge"):
    """With the same penalty: one C means the same to all of them."""
    ending = "" if loss == "hinge" else f", {loss}"
    return tuple(Method(name + ending, ["--method", name, "--loss", loss, "--penalty",
                                        "group-lasso"]) for name in names)


WRAPPERS = ("simplemkl", "hessianmkl", "levelmkl", "silp")
PEERS = others((*WRAPPERS, "gauss-seidel"))
LOGISTIC_PEERS = others(WRAPPERS, "logistic")
# As published, with the sum of norms squared: its C follows from the solution (the paper's eq. 6).
SIMPLEX = Method("simplemkl, simplex", ["--method", "simplemkl", "--loss", "hinge", "--penalty",
                                        "mkl"])
BASELINES = others(("average", "best"))

STYLE = {method.name: (common.COLOURS[colour], dash) for methods, colours, dash in (
    (SPICY, (0, 1), ""), (ELASTIC[:2], (0, 1), "7 4"), (ELASTIC[2:], (0, 1), "2 3"),
    (PEERS, range(2, 7), ""), (LOGISTIC_PEERS, range(2, 6), "6 2 1 2"), ((SIMPLEX,), (2,), "4 2"),
    (BASELINES, (7, 7), "4 2")) for method, colour in zip(methods, colours)}

PATIENCE = 10  # the limit of our own method, in limits of the others
GRACE = 3  # an interrupted command may take so many times its limit until it ends by itself


def spent(run):
    return run["seconds"] + (run["seconds_kernels"] or 0)


def is_peer(method):
    return method.options[1] != "spicy"


class Journal:
    """Every run that was measured, a line each: what was stopped can go on."""

    def __init__(self, path, options):
        self.path, self.known, self.lock = path, {}, threading.Lock()
        at_a_time = ("one run at a time" if options.jobs == 1
                     else f"{options.jobs} runs of one thread at a time")
        self.machine = f"{common.processor()}, {at_a_time}, {common.revision()}"
        path.parent.mkdir(parents=True, exist_ok=True)
        if options.go_on and path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            self.known = {entry["run"]: entry for entry in map(json.loads, lines)}
        else:
            path.write_text("", encoding="utf-8")

    def find(self, run):
        return self.known[run]["measured"] if run in self.known else None

    def add(self, run, measured):
        entry = {"run": run, "machine": self.machine, "measured": measured}
        with self.lock, open(self.path, "a", encoding="utf-8") as file:
            self.known[run] = entry
            file.write(json.dumps(entry) + "\n")

    def machines(self):
        return " and ".join(sorted({entry["machine"] for entry in self.known.values()}))


class Lab:
    def __init__(self, options, scratch, journal):
        self.medley, self.scratch = common.find_medley(), Path(scratch)
        self.journal, self.jobs = Journal(journal, options), options.jobs
        self.common = ["--spicy-C", options.C, "--gap", options.gap, "--threads", options.threads,
                       "--max-iter", "1000000"]
        self.left_out = {}
        listed = subprocess.run([self.medley, "list", "methods"], stdout=subprocess.PIPE, text=True,
                                check=True).stdout
        self.methods = {line.split()[0] for line in listed.splitlines() if line.startswith("  ")}

    def can(self, method):
        name = method.options[1]
        if name not in self.methods:
            self.leave_out(method, "the command does not have it")
        return method.name not in self.left_out

    def leave_out(self, method, why):
        if method.name not in self.left_out:
            self.left_out[method.name] = why
            print(f"skipped: method {method.name}: {why}", flush=True)

    def each(self, function, tasks):
        """Results of the function for each task, so many at a time as there are jobs."""
        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(lambda task: function(*task), tasks))

    def train(self, method, options, data, limit):
        """What one run measured, or None where the method cannot. Later options overrule those
        that all runs share. A run over the limit is interrupted: 'stopped' is true then, and
        everything else is how far it came."""
        arguments = merge(self.common, method.options, options)
        name = " ".join([Path(data).name, f"{limit:g} s", *arguments]).replace(f"{self.scratch}/", "")
        measured = self.journal.find(name)
        if measured is None:
            measured = self.measure(method, arguments, data, limit)
            if measured is not None:
                self.journal.add(name, measured)
        return measured

    def measure(self, method, arguments, data, limit):
        model = self.scratch / f"model-{threading.get_ident()}.medley"
        command = [self.medley, "train", "--model", str(model), *arguments, "--quiet", "--json", data]
        try:
            result = run(command, limit)
        except common.Failed as failure:
            if not is_peer(method):
                raise
            self.leave_out(method, str(failure).splitlines()[-1].strip())
            return None
        if "objective" in result and result.get("gap") is None:
            self.leave_out(method, "it gives no duality gap")
            return None
        return record(result)

    def repeat(self, method, variants, data, limit, budget):
        """Runs the variants (lists of options) until all are measured, one was stopped, or so many
        seconds are spent."""
        runs = []
        for options in variants if self.can(method) else ():
            patience = 1 if is_peer(method) else PATIENCE
            measured = self.train(method, options, data, patience * limit)
            if measured is None:
                return []
            runs.append(measured)
            if measured["stopped"] or sum(spent(run) for run in runs) > budget:
                break
        return runs


def write_whole(path, text):
    """For other threads the file is there with all its text, or not."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="ascii", delete=False) as file:
        file.write(text)
    os.replace(file.name, path)


REPEATABLE = ("--kernel", "--kernels", "--scale")


def merge(*lists):
    """Options in pairs; the last of a name counts, but for those that may be repeated."""
    pairs = [pair for options in lists for pair in zip(options[::2], options[1::2])]
    last = {name: i for i, (name, _) in enumerate(pairs)}
    return [word for i, (name, value) in enumerate(pairs)
            if name in REPEATABLE or last[name] == i for word in (name, value)]


def run(command, limit):
    """Like common.run, but at the limit it asks the command to finish, as Ctrl-C does."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    stopped = False
    try:
        try:
            out, err = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            stopped = True
            child.send_signal(signal.SIGINT)
            out, err = child.communicate(timeout=GRACE * limit)
    except subprocess.TimeoutExpired:
        child.kill()
        out, err = child.communicate()
    except BaseException:
        child.kill()
        child.wait()
        raise
    if out.startswith(b"{"):
        result = json.loads(out)
        return dict(result, stopped=stopped and not result.get("converged"))
    if stopped:  # not even one iteration
        return {"stopped": True, "seconds": {"kernels": None, "train": float(limit)}}
    raise common.Failed(f"{' '.join(command)}\n  {err.decode(errors='replace').strip()}")


def record(result):
    seconds = result["seconds"]
    keep = ("objective", "dual", "gap", "iterations", "newton_steps", "passes", "examples",
            "stopped", "peak_rss_mb")
    return dict({key: result.get(key) for key in keep}, kernels=len(result.get("blocks", ())),
                active=result.get("active_blocks"),
                norm=sum(block["norm"] for block in result.get("blocks", ())), accuracy=result.get("holdout_accuracy"),
                seconds=seconds["train"], seconds_kernels=seconds["kernels"],
                epochs=result.get("epochs", []))


def brief(runs):
    """The same without the course of each run: what table.json keeps."""
    return [{key: value for key, value in run.items() if key != "epochs"} for run in runs]


def column(runs, key):
    return [run[key] for run in runs if run.get(key) is not None]


def finished(runs):
    """Did the last run reach the gap? Those before it did."""
    return bool(runs) and not runs[-1]["stopped"]


def quartiles(values):
    """Median, first and third quartile."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    first, median, third = statistics.quantiles(values, n=4, method="inclusive")
    return median, first, third
