# SPDX-License-Identifier: BSD-3-Clause
"""Follows the links between the files of a site: to files, and to anchors in them."""

from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append((tag, value))


def broken(html):
    """'PAGE: LINK' for each link that leads nowhere, or makes a viewer load something from elsewhere."""
    pages = {path: Page(path) for path in html.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for tag, link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "mailto") or parts.netloc:
                if tag != "a":  # scripts, styles, pictures: the site is to be whole without a network
                    found.append(f"{path.relative_to(html)}: {tag} loads {link}")
                continue
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                found.append(f"{path.relative_to(html)}: {link}")
    return sorted(set(found))
