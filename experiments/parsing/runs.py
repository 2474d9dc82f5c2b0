# SPDX-License-Identifier: BSD-3-Clause
"""Training runs of the parser, each done once: what a run measured is kept under the words of its
command line, so that an experiment that was stopped goes on where it was."""

import hashlib
import json
import os
import shlex
import sys
from pathlib import Path

EXPERIMENTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EXPERIMENTS))
sys.path.append(str(EXPERIMENTS / "spicy"))  # panels.py
import common  # noqa: E402

FILES = [f"ud-english-ewt/en_ewt-ud-{part}.conllu.gz" for part in ("train", "dev", "test")]


class Run(dict):
    """What one run measured: 'words' of its command line, 'trained' (what train printed), 'dev' and
    'test' (what eval printed)."""

    def score(self, part, name):
        """In percent; None where the model has no relations."""
        value = self[part].get(name)
        return None if value is None else 100 * value

    def blocks(self):
        return self["trained"]["blocks"]

    def zero(self):
        """Templates without any weight."""
        return sum(block["norm"] == 0 for block in self.blocks())

    def active(self):
        return len(self.blocks()) - self.zero()

    def shares(self):
        """Template -> share of its norm in the sum of all."""
        total = sum(block["norm"] for block in self.blocks())
        return {block["name"]: block["norm"] / total if total else 0.0 for block in self.blocks()}


class Laboratory:
    def __init__(self, options, folder, scratch):
        self.medley, self.again = common.find_medley(), options.again
        self.train_file, *rest = common.find_data(*FILES)
        self.files = dict(zip(("dev", "test"), rest))
        self.threads = ["--threads", options.threads]
        self.sample = ["--sample", str(options.sample)] if options.sample else []
        self.labelled, self.template = not options.unlabelled, options.template
        self.folder, self.scratch, self.done = folder, Path(scratch), set()
        folder.mkdir(parents=True, exist_ok=True)

    def words(self, recipe, epochs, labelled, template=None):
        """Everything about a run but where its files are."""
        relations = [] if labelled and self.labelled else ["--unlabelled"]
        return ["--task", "tree", "--template", template or self.template, *recipe, "--epochs",
                str(epochs), *relations, *self.sample, *self.threads]

    def run(self, words, keep=False):
        """keep: the model stays, for runs that choose from its templates. A word that starts with
        '@' stands for the model of another run."""
        path, kept = self.file(words, ".json"), self.file(words, ".medley")
        is_valid = not self.again or path in self.done
        if is_valid and path.exists() and (kept.exists() or not keep):
            return Run(json.loads(path.read_text(encoding="utf-8")))
        print(shlex.join(words), flush=True)
        model = self.scratch / "model.medley"
        found = self.measure(words, model)
        if keep:
            move(model, kept)
        written = self.scratch / "run.json"
        written.write_text(json.dumps(found) + "\n", encoding="utf-8")
        move(written, path)
        self.done.add(path)
        return found

    def file(self, words, ending):
        """Where a run is kept."""
        key = hashlib.sha256(shlex.join(words).encode()).hexdigest()[:16]
        return self.folder / (key + ending)

    def choose_from(self, words, count):
        """Options that take the best templates of a run whose model was kept."""
        return ["--from", "@" + self.file(words, ".medley").name, "--keep", str(count)]

    def measure(self, words, model):
        given = [str(self.folder / word[1:]) if word.startswith("@") else word for word in words]
        trained = common.run([self.medley, "train", "--model", str(model), *given, "--quiet",
                              "--json", self.train_file])
        found = Run(words=words, trained=trained)
        for part, file in self.files.items():
            found[part] = common.run([self.medley, "eval", "--model", str(model), "--allow-unseen",
                                      *self.threads, "--quiet", "--json", file])
        print(f"  {trained['seconds']['train']:.1f} s, {found.active()} templates, UAS "
              f"{found.score('dev', 'uas'):.2f} (dev), {found.score('test', 'uas'):.2f} (test)",
              flush=True)
        return found


def move(source, target):
    """Whole or not at all, from another file system too."""
    if source.stat().st_dev != target.parent.stat().st_dev:
        partial = target.with_suffix(".part")
        partial.write_bytes(source.read_bytes())
        source.unlink()
        source = partial
    os.replace(source, target)
