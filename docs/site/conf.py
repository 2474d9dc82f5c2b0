# SPDX-License-Identifier: BSD-3-Clause
"""How Sphinx builds the site; build.py puts this file beside what it gathers."""

import os

import medley

project = "Medley"
author = "the Medley authors"
release = version = medley.__version__
html_title = f"Medley {release}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "breathe"]
myst_heading_anchors = 4  # links to headings are written as on public code hosts
smartquotes = False  # -- stands before options

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections have them
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # members have their own entries
breathe_projects = {"medley": os.environ["DOXYGEN_XML"]}
breathe_default_project = "medley"
breathe_domain_by_extension = {"h": "c"}
c_id_attributes = ["MEDLEY_API", "MEDLEY_CHECKED"]

html_theme = "theme"  # the folder
html_theme_path = ["."]
html_extra_path = ["extra"]
html_copy_source = False
html_search_scorer = os.path.join(os.path.dirname(__file__), "scorer.js")  # Sphinx wants the whole path
highlight_language = "none"  # blocks without a language are often tables
