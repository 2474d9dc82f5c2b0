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
numpydoc_show_class_members = False  # members have their own entries
breathe_projects = {"medley": os.environ["DOXYGEN_XML"]}
breathe_default_project = "medley"
breathe_domain_by_extension = {"h": "c"}
c_id_attributes = ["MEDLEY_API", "MEDLEY_CHECKED"]

html_theme = "furo"
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_extra_path = ["reports"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = "tango", "monokai"
highlight_language = "none"  # blocks without a language are often tables
