# SPDX-License-Identifier: BSD-3-Clause
"""Reports of small models, learnt while the site is built, and the page that leads to them."""

import os
import subprocess
import tempfile
from pathlib import Path

# name, headline, what is to be seen, the commands; the last one writes NAME.html
REPORTS = [
    ("views", "Six tables about the same objects",
     "Three of six views know nothing of the label, and the weights of the kernels say which. Accuracy, confusions and "
     "examples are those of rows that were not learnt from.",
     """medley generate blobs --views 6 --classes 8 --rows 2400 --seed 3 --output my.csv
six=$(for v in 1 2 3 4 5 6; do echo "--view v$v=my-view$v.csv"; done)
medley train --model views.medley --folds 0/6 --quiet $six
medley report views.medley --folds 1-5/6 $six --title 'Six views' --output views.html"""),
    ("path", "Which kernels come in when",
     "A hundred kernels on random sets of columns, from the penalty that leaves out all of them to a weak one, "
     "with the accuracy on other rows.",
     """medley generate ringnorm --rows 300 --output ring.csv
medley generate ringnorm --rows 1000 --seed 2 --output ring-new.csv
medley path --views random:100 --kernel 'rbf(auto)' --normalize trace --loss logistic \\
    --dev ring-new.csv --report path.html ring.csv"""),
    ("handwriting", "Handwritten words",
     "A sequence of letters, read from pixels: what the kernels look at, words that were misread, and which letters "
     "are taken for which.",
     """medley generate handwriting --rows 150 --output words.data.gz --to letter
medley generate handwriting --rows 60 --seed 2 --output words-new.data.gz --to letter
medley train --model handwriting.medley --views 'center/blur(0.5)/orient' --epochs 5 --quiet words.data.gz
medley report handwriting.medley words-new.data.gz --title 'Handwriting' --output handwriting.html"""),
    ("trees", "Dependency trees",
     "A parser of generated sentences: weights of feature templates, and the trees that were found beside the right "
     "ones.",
     """medley generate treebank --rows 200 --output bank.conllu
medley generate treebank --rows 60 --seed 2 --output bank-new.conllu
medley train --model trees.medley --epochs 3 --hash-bits 14 --quiet bank.conllu
medley report trees.medley bank-new.conllu --title 'A parser' --output trees.html"""),
]

HEAD = """Gallery of reports
==================

``medley report`` and the option ``--report`` write single HTML files that need no network. These were made when this
site was built, by the commands beside them; a click opens the whole report.
"""

ITEM = """
{headline}
{line}

{text}

.. raw:: html

   <a class="report" href="{name}.html" aria-label="The report: {headline}"><iframe src="{name}.html" loading="lazy"
   title="{headline}" tabindex="-1"></iframe></a>
   <p><a href="{name}.html">Open the report</a></p>

.. code-block:: sh

{commands}
"""


def write(source, medley):
    """gallery.rst, and the reports in source/extra/gallery."""
    folder = source / "extra" / "gallery"
    folder.mkdir(parents=True)
    page = [HEAD]
    for name, headline, text, commands in REPORTS:
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "medley").symlink_to(medley)
            done = subprocess.run(["bash", "-ec", commands], cwd=scratch, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True,
                                  env={**os.environ, "PATH": f"{scratch}:{os.environ['PATH']}"})
            if done.returncode:
                raise SystemExit(f"the report {name} of the gallery: {done.stdout}")
            (folder / f"{name}.html").write_bytes((Path(scratch) / f"{name}.html").read_bytes())
        page.append(ITEM.format(name=f"gallery/{name}", headline=headline, line="-" * len(headline), text=text,
                                commands="\n".join("   " + line for line in commands.splitlines())))
    (source / "gallery.rst").write_text("".join(page), encoding="utf-8")
