#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the documents' site: build.py [--build FOLDER] [--output FOLDER] [--quick]

What is written elsewhere is only gathered: the Markdown files of the repository with their folders,
so that relative links hold here as they do there; the command reference (make_pages of the build
folder), the Python package's docstrings, the comments of the public headers (Doxygen), reports of
models that are learnt here (gallery.py), and the guides' pictures, drawn anew. Sphinx makes pages of
it; warnings are errors, and every link to a file or an anchor of the site is followed. --quick leaves
the pictures as they are in the repository. The site is OUTPUT/html (default: build-docs/html)."""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import gallery
import links

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGES = ["*.md", "docs/**/*.md", "examples/README.md", "experiments/README.md", "experiments/*/table.md"]


def run(*command, **others):
    """Runs a command; what it said is shown if it fails, and ends everything."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **others)
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(map(str, command))}")
    return done.stdout


def copy(path, source):
    target = source / path.relative_to(ROOT)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, target)  # with its time, so that Sphinx reads only what has changed


def gather(source):
    """The Markdown files, and the files that they link to, at the same places below source."""
    for pattern in PAGES:
        for page in ROOT.glob(pattern):
            copy(page, source)
            for link in re.findall(r"\]\(([^)#:\s]+)|\bsrc(?:set)?=\"([^\":]+)\"",
                                   page.read_text(encoding="utf-8")):
                target = (page.parent / (link[0] or link[1])).resolve()
                if target.is_file() and target.is_relative_to(ROOT) and target.suffix != ".md":
                    copy(target, source)
                    if link[1]:  # of HTML inside of Markdown, which Sphinx does not look into
                        copy(target, source / "extra")
    for name in ("index.rst", "conf.py", "scorer.js"):
        shutil.copy2(HERE / name, source)
    shutil.copytree(HERE / "theme", source / "theme")


def draw_pictures(source, build):
    """Into the copy: the script draws beside itself."""
    folder = source / "docs" / "guides"
    script = shutil.copy2(ROOT / "docs" / "guides" / "pictures.py", folder)
    names = re.search(r"^PICTURES = \[(.*)\]", Path(script).read_text(), re.M)[1].split(", ")
    if not shutil.which("svm-train"):
        names.remove("peers")  # the picture of the repository stays
    run(sys.executable, script, *names, env={**os.environ, "MEDLEY": str(build / "medley")})
    Path(script).unlink()


# ---- reference pages -----------------------------------------------------------------------------

# Names of the package by subject; one that is in no group is in the last.
GROUPS = {
    "Estimators": ["MKLClassifier", "MKLRegressor", "SequenceLabeler", "DependencyParser",
                   "StructuredPredictor"],
    "Choosing": ["tune", "Tuning", "Trial", "regularization_path", "Path", "path"],
    "Data and kernels": ["Views", "Distances", "read", "generate"],
    "Results": ["Block", "Report", "Progress", "Batch", "Structure", "Ranks"],
    "Errors": ["MedleyError", "UsageError", "InputError", "FileError", "NotSupportedError",
               "OutOfMemoryError"],
}


def write(path, *lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def title(text, line="="):
    return f"{text}\n{line * len(text)}\n"


def write_python_pages(folder):
    """A page for each public name, and one that leads to them."""
    import medley  # MEDLEY_LIBRARY tells it which library

    grouped = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, "Lists": [name for name in medley.__all__ if name not in grouped]}
    index = [title("Python package"), ".. automodule:: medley\n   :no-members:\n",
             "How to install it: :doc:`/docs/guides/wheel`; how to use it: :doc:`/docs/guides/python`.\n"]
    for group, names in groups.items():
        index += [title(group, "-"), ".. list-table::\n"]
        for name in names:
            thing = getattr(medley, name)
            kind = "autoclass" if isinstance(thing, type) else "autofunction"
            options = "\n   :members:\n   :inherited-members: Exception, dict, tuple" if kind == "autoclass" else ""
            write(folder / f"{name}.rst", title(name), ".. currentmodule:: medley\n",
                  f".. {kind}:: {name}{options}")
            index.append(f"   * - :doc:`{name}`\n     - {thing.__doc__.strip().splitlines()[0]}")
        index += ["", ".. toctree::\n   :hidden:\n", *(f"   {name}" for name in names), ""]
    write(folder / "index.rst", *index)


def write_c_pages(folder, work):
    """A page for each public header, from what Doxygen finds in it."""
    run("doxygen", HERE / "Doxyfile", cwd=ROOT, env={**os.environ, "WORK": str(work)})
    index = [title("C library"), "One page for each header; ``#include <medley/medley.h>`` has all of them."
             " Conventions of the whole interface: :doc:`error`. Programs: :doc:`/examples/README`.\n",
             ".. list-table::\n"]
    headers = sorted((ROOT / "include" / "medley").glob("*.h"))
    headers = [header for header in headers if header.stem != "medley"]
    for header in headers:
        about = re.search(r"@file\n \* (.*?)(?:\.\s|\n \*/|\n \*\n)", header.read_text(), re.S)[1]
        about = re.sub(r"\s*\n \* ", " ", about)
        write(folder / f"{header.stem}.rst", title(f"medley/{header.name}"),
              f".. doxygenfile:: {header.name}\n   :project: medley")
        index.append(f"   * - :doc:`medley/{header.name} <{header.stem}>`\n     - {about}.")
    write(folder / "index.rst", *index, "", ".. toctree::\n   :hidden:\n",
          *(f"   {header.stem}" for header in headers))


def finish(html):
    """Links to figures open them, where Sphinx would have them saved; those of HTML inside of Markdown
    lead to pages."""
    for page in html.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        better = re.sub(r' download="" (href="[^"]*\.svg")', r" \1", text)
        better = re.sub(r'href="([^":]+)\.md(#[^"]*)?"', r'href="\1.html\2"', better)
        if better != text:
            page.write_text(better, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--output", type=Path, default=ROOT / "build-docs")
    parser.add_argument("--quick", action="store_true", help="leave the guides' pictures as they are")
    arguments = parser.parse_args()
    build, output = arguments.build.resolve(), arguments.output.resolve()
    os.environ.update(MEDLEY_LIBRARY=str(build / "libmedley.so"), OPENBLAS_NUM_THREADS="1",
                      PYTHONPATH=str(ROOT / "python"), PYTHONDONTWRITEBYTECODE="1",
                      DOXYGEN_XML=str(output / "xml"))
    sys.path.insert(0, str(ROOT / "python"))
    source, html = output / "source", output / "html"
    shutil.rmtree(source, ignore_errors=True)
    shutil.rmtree(html, ignore_errors=True)
    source.mkdir(parents=True)
    gather(source)
    if not arguments.quick:
        draw_pictures(source, build)
    (source / "command").mkdir()
    run(build / "make_pages", source / "command")
    write_python_pages(source / "python")
    write_c_pages(source / "c", output)
    gallery.write(source, build / "medley")
    run(sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "auto", "-b", "html",
        "-d", output / "doctrees", source, html)
    finish(html)
    broken = links.broken(html)
    if broken:
        sys.exit("links that lead nowhere:\n" + "\n".join(broken))
    pages = sum(1 for _ in html.rglob("*.html"))
    print(f"{pages} pages, no warnings, all links lead somewhere: {html}/index.html")


if __name__ == "__main__":
    main()
