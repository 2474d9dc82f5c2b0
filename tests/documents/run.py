#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs every command line that the documents show: run.py [DOCUMENT...]

Without arguments: README.md, CONTRIBUTING.md, docs/, examples/README.md, the experiments' tables, and
the examples in the help of every command.
The commands of a document run in its order, in one shell and one fresh folder, where the files that
it does not make itself are small stand-ins (stand_ins.py). $MEDLEY is the command, $MEDLEY_BUILD its
build folder. Prints "ok - DOCUMENT: ...", "not ok - DOCUMENT: ..." with what was seen, "skip - ...",
as the other scripts of tests/cli do; the exit code is 1 if anything failed."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from extract import extract
from stand_ins import StandIns

ROOT = Path(__file__).resolve().parents[2]
MEDLEY = Path(os.environ.get("MEDLEY") or ROOT / "build" / "medley").resolve()
BUILD = Path(os.environ.get("MEDLEY_BUILD") or MEDLEY.parent).resolve()
HELP = ROOT / "medley --help"  # no file: the examples in the help of all commands
LIMIT = 150  # seconds for one document's commands, on a machine that has other work to do

# Other programs: their commands run where they are installed.
OTHERS = re.compile(r"(?:^|[|;&(]\s*)(svm-train|svm-predict|svm-scale|crfsuite|wapiti|crf_learn|"
                    r"crf_test|shogun|mpirun)\b", re.M)
# Never run: they would change the machine, or need a network.
NEVER = re.compile(r"^(git|pip|python3 -m pip|sudo|cd|make (install|test)\b.*PREFIX)\b")

# Words in capitals stand for something: here it is.
PLACEHOLDERS = {"COMMAND": "train", "TRAIN": "D/conll2000/train.txt.gz", "C": "1", "N": "2",
                "N1": "1", "N2": "1", "P": "1.25", "DRAW": "1", "K1": "'rbf(auto)'",
                "K2": "'linear(norm=diag)'", "...": ""}

# Options that only cost time are made small.
SMALL = [(r"(treebank|handwriting|tagged) --rows \d{2,}", r"\1 --rows 40"),
         (r"--rows [1-9]\d{2,}", "--rows 120"), (r"--sample \d+", "--sample 60"),
         (r"--epochs([12]?) \d{2,}", r"--epochs\1 3"), (r"random:\d{3,}", "random:60"),
         (r",2\.\.10}", ",2..3}"), (r"--cv \d+", "--cv 2"), (r"(\.\.\d+):\d+", r"\1:2"),
         (r"(?<!\.)medley (train|tune)(?=(?!.*--template).*\.conllu)",
          r"medley \1 --hash-bits 10 --epochs 2")]

PRELUDE = """
# mpirun of Open MPI: tests may be run by root, on fewer processors than there are ranks
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
make() {  # the project's own Makefile is asked what it would do
    if [ -e Makefile ]; then command make "$@"; else command make -n -C "$ROOT" "$@"; fi
}
cc() { command "${CC:-cc}" "$@"; }
"""


def adapt(text):
    """The command as it is run: placeholders filled in, sizes made small."""
    if re.match(r"medley demo\b(?!.*--help)", text):  # it has a test of its own, and takes its time
        return only_help(text)
    for pattern, small in SMALL:
        text = re.sub(pattern, small, text)
    return re.sub(r"(?<![\w$./='\"-])([A-Z][A-Z0-9]*|\.\.\.)(?![\w./='\"-])",
                  lambda found: PLACEHOLDERS.get(found[1], found[1]), text)


def mention(text):
    """In running text a command may stand alone, or with options that are spoken of, but without what
    it cannot do without: then these options must be in its help."""
    command = text.split()[1]
    alone = re.fullmatch(r"medley \w+( --[\w-]+)*", text) and command != "list"
    lacking = command in ("train", "predict", "eval") and "--model" not in text
    return only_help(text) if "--help" not in text and (alone or lacking) else text


def only_help(text):
    """Instead of the command: are its options in its help?"""
    return " && ".join([f"medley {text.split()[1]} --help=all >help", *(
        f"grep -qw -e '{option}' help" for option in re.findall(r"--[\w-]+", text))])


def missing_tool(text):
    for tool in OTHERS.findall(text):
        if not shutil.which(tool):
            return tool + " is not installed"
    return "it is not for a test" if NEVER.match(text) else None


def made_by(text):
    """Names of the files that a command writes."""
    models = "" if re.search(r"medley (predict|eval|report|inspect)", text) else "--model |"
    return set(re.findall(rf"(?:--output |{models}>\s*|-o |--report )([\w.-]+)", text))


def normal(text):
    """Numbers may differ."""
    return re.sub(r"\d+(\.\d+)?(e[-+]?\d+)?", "0", text)


def help_of(command):
    words = [*command, "--help=all" if command else "--help"]
    return subprocess.run([str(MEDLEY), *words], stdout=subprocess.PIPE, text=True).stdout


def commands_of_medley():
    found = re.findall(r"^  (\w+)  ", help_of([]), re.M)
    if "train" not in found:
        sys.exit("medley --help lists no commands; is $MEDLEY built?")
    return found


def help_examples():
    """The examples of every command's help, as a document."""
    lines = []
    for command in commands_of_medley():
        for line in help_of([command]).partition("examples:")[2].splitlines():
            lines.append("    " + line.strip())
    return "\n" + "\n".join(lines) + "\n"


class Document:
    def __init__(self, path, stand_ins, environment, folder, options):
        self.path, self.stand_ins, self.environment = path, stand_ins, environment
        self.name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
        self.text = help_examples() if path == HELP else path.read_text(encoding="utf-8")
        self.folder, self.options = Path(folder), options
        self.problems, self.not_run, self.ran, self.times = [], {}, 0, []
        self.late = False
        if re.search(r"--device cuda|device=\"cuda", self.text):  # a card that is none
            self.environment = {**environment, "MEDLEY_PLUGINS": str(BUILD / "tests" / "fake_card")}

    def blame(self, piece, what, seen=""):
        shown = "\n".join("    | " + line for line in seen.strip().splitlines()[-12:])
        self.problems.append(f"{self.name}:{piece.line}: {what}\n    {piece.text.strip()}"
                             + ("\n" + shown if shown else ""))

    def leave(self, reason):
        self.not_run[reason] = self.not_run.get(reason, 0) + 1

    def prepare(self, pieces):
        """Stand-ins for every file that is named and that the document does not make."""
        if any("D/" in piece.text for piece in pieces):
            (self.folder / "D").symlink_to(self.stand_ins.public())
        (self.folder / "build").symlink_to(BUILD)
        (self.folder / "experiments").symlink_to(ROOT / "experiments")
        if self.path.parent == ROOT / "examples":
            for file in self.path.parent.iterdir():
                if file.suffix in (".c", "") and file.is_file():
                    shutil.copy(file, self.folder)
        for piece in pieces:
            if piece.kind == "c":
                (self.folder / "my.c").write_text(piece.text)
        made = set()
        for piece in pieces:
            made |= made_by(piece.text)
            for name in re.findall(r"(?<![\w./-])[\w-]+\.[\w.-]*\w|[\w-]+ubyte\b", piece.text):
                if name not in made and not (self.folder / name).exists():
                    self.stand_ins.give(name, self.folder)

    def run_commands(self, commands):
        """All in one shell, so that variables live on; each has files for what it says."""
        script = [PRELUDE]
        for number, (_, text) in enumerate(commands):
            (self.folder / f".{number}.sh").write_text(
                text + '\n__status="${PIPESTATUS[*]}"\n')
            script.append(f'exec >.{number}.out 2>.{number}.err </dev/null\n'
                          f'__status=syntax; __inside=0; __start=$EPOCHREALTIME\n'
                          f'trap "__inside=\\$?" ERR\n'
                          f'eval "$(cat .{number}.sh)"; trap - ERR\n'
                          f'echo "$__status $__inside" >.{number}.status\n'
                          f'echo "$__start $EPOCHREALTIME" >.{number}.times\n')
        shell = subprocess.Popen(["bash", "-c", "".join(script)], cwd=self.folder,
                                 env=self.environment, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            shell.wait(LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(shell.pid, signal.SIGKILL)  # the shell and what it waits for
            shell.wait()
        for number, (piece, text) in enumerate(commands):
            self.judge(piece, text, number)

    def read(self, number, suffix):
        path = self.folder / f".{number}.{suffix}"
        return path.read_text(errors="replace") if path.exists() else ""

    def judge(self, piece, text, number):
        start, end = map(float, self.read(number, "times").split() or (0, 0))
        self.times.append((end - start, text))
        codes = self.read(number, "status").split()
        said = self.read(number, "out") + self.read(number, "err")
        if not codes:
            if not self.late:  # one is enough: nothing behind it was run
                self.blame(piece, f"not finished within {LIMIT} s of the document", said)
            self.late = True
            return
        # one for each part of a pipe, and the last failure inside of a loop; a pipe that is closed
        # by its reader (head) ends its writer by a signal
        if codes[-1] != "0" or codes[-2] != "0" or any(code not in ("0", "141") for code in codes):
            return self.blame(piece, f"exit code {' '.join(codes[:-1])}" + (
                "" if text == piece.text else f", run as: {text}"), said)
        self.ran += 1
        for line in piece.output:
            word = line.split()[0]
            if normal(word) not in normal(said):
                return self.blame(piece, f"the output has no '{word}', which is shown", said)

    def compile(self, piece, number):
        source = self.folder / f"block{number}.c"
        source.write_text(piece.text)
        flags = self.environment.get("MEDLEY_FLAGS")
        if not flags:
            return self.leave("pkg-config or a compiler is missing")
        done = subprocess.run(
            f"{os.environ.get('CC', 'cc')} -std=c11 -Wall -Wextra -Werror {source} "
            f"-o {source}.x {flags}", shell=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            return self.blame(piece, "does not compile", done.stdout)
        self.ran += 1

    def run_python(self, piece, number):
        python = self.environment.get("MEDLEY_PYTHON")
        if not python:
            return self.leave("there is no Python with NumPy, SciPy and scikit-learn")
        for name in ("MKLpy", "pandas", "matplotlib"):
            if re.search(rf"^(import|from) {name}\b", piece.text, re.M) and subprocess.run(
                    [python, "-c", f"import {name}"], stderr=subprocess.DEVNULL).returncode:
                return self.leave(f"{name} is not installed")
        source = self.folder / f"block{number}.py"
        source.write_text(piece.text)
        done = subprocess.run([python, source.name], cwd=self.folder, timeout=LIMIT,
                              env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            return self.blame(piece, f"exit code {done.returncode}", done.stdout)
        self.ran += 1

    def check_words(self, piece):
        """Options that are spoken of exist, links lead somewhere."""
        if piece.kind == "link" and not (self.path.parent / piece.text).exists():
            self.blame(piece, "this link leads nowhere")
        for option in re.findall(r"(?:^|\s)--([\w-]+)", piece.text):
            if piece.kind == "option" and self.options and option not in self.options:
                self.blame(piece, f"no command has an option --{option}")

    def run(self):
        pieces = extract(self.text)
        try:
            self.prepare(pieces)
        except RuntimeError as problem:
            self.problems.append(f"{self.name}: {problem}")
            return self
        commands = []
        for number, piece in enumerate(pieces):
            if piece.kind in ("command", "mention"):
                text = adapt(mention(piece.text) if piece.kind == "mention" else piece.text)
                reason = missing_tool(text)
                if reason:
                    self.leave(reason)
                else:
                    commands.append((piece, text))
        self.run_commands(commands)
        for number, piece in enumerate(pieces):
            if piece.kind == "c":
                self.compile(piece, number)
            elif piece.kind == "python":
                self.run_python(piece, number)
            else:
                self.check_words(piece)
        return self

    def report(self):
        left = "".join(f", {count} not run: {reason}" for reason, count in self.not_run.items())
        if self.problems:
            print(f"not ok - {self.name}: {len(self.problems)} wrong, {self.ran} run{left}")
            for problem in self.problems:
                print("    " + problem.replace("\n", "\n    "))
        elif self.ran:
            print(f"ok - {self.name}: {self.ran} commands run{left}")
        elif self.not_run:
            print(f"skip - {self.name}: {left[2:]}")
        if os.environ.get("DOCUMENT_TIMES"):  # for those who want to make this faster
            for seconds, text in sorted(self.times, reverse=True)[:int(
                    os.environ["DOCUMENT_TIMES"])]:
                print(f"    {seconds:6.2f} s  {text}")
        return not self.problems


def documents():
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "examples" / "README.md",
             ROOT / "experiments" / "README.md", *sorted(ROOT.glob("docs/**/*.md")),
             *sorted(ROOT.glob("experiments/*/table.md"))]
    return [HELP] + [path for path in found if path.exists()]


def staged(folder, environment):
    """Installs the library beside, for what is compiled: flags for the compiler, or ''."""
    done = subprocess.run(["cmake", "--install", str(BUILD), "--prefix", f"{folder}/usr"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = list(Path(folder).glob("usr/**/medley.pc"))
    if done.returncode or not found or not shutil.which("pkg-config"):
        return ""
    environment["PKG_CONFIG_PATH"] = str(found[0].parent)
    environment["LD_LIBRARY_PATH"] = str(found[0].parent.parent)
    return subprocess.run(["pkg-config", "--cflags", "--libs", "medley"], env=environment,
                          stdout=subprocess.PIPE, text=True).stdout.strip()


def python_for(folder, environment):
    """A Python that can use the package, which then finds our library."""
    shared = next(Path(folder).glob("usr/**/libmedley.so"), None)
    if not shared:
        return ""
    environment.update(MEDLEY_LIBRARY=str(shared), PYTHONPATH=str(ROOT / "python"))
    for python in (os.environ.get("PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and not subprocess.run(
                [python, "-c", "import numpy, scipy, sklearn"], env=environment,
                stderr=subprocess.DEVNULL).returncode:
            return python
    return ""


def main():
    paths = [Path(name).resolve() for name in sys.argv[1:]] or documents()
    with tempfile.TemporaryDirectory() as scratch:
        shelf = Path(scratch) / "shelf"
        (shelf / "bin").mkdir(parents=True)
        # one thread each: documents run beside each other, and tests beside them
        command = shelf / "bin" / "medley"
        command.write_text(f"""#!/bin/sh
case $1 in train|tune|path|predict|eval|report) exec '{MEDLEY}' "$@" --threads 1 ;; esac
exec '{MEDLEY}' "$@"
""")
        command.chmod(0o755)
        environment = {**os.environ, "ROOT": str(ROOT), "MEDLEY": str(MEDLEY),
                       "PATH": f"{shelf}/bin:" + os.environ.get("PATH", "")}
        environment["MEDLEY_FLAGS"] = staged(scratch, environment)
        if environment["MEDLEY_FLAGS"] and any("```python" in path.read_text(encoding="utf-8")
                                               for path in paths if path != HELP):
            environment["MEDLEY_PYTHON"] = python_for(scratch, environment)
        stand_ins = StandIns(str(MEDLEY), shelf)
        options = {option for command in commands_of_medley()
                   for option in re.findall(r"^  (?:-\w,|   ) --([\w-]+)", help_of([command]), re.M)}

        def run_one(indexed):
            folder = Path(scratch) / str(indexed[0])
            folder.mkdir()
            ours = "experiments" not in indexed[1].parts  # whose scripts have options of their own
            return Document(indexed[1], stand_ins, environment, folder, ours and options).run()

        with ThreadPoolExecutor(2) as pool:
            fine = [document.report() for document in pool.map(run_one, enumerate(paths))]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
