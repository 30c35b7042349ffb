"""Markdown: headings with the anchors that they get, and links."""

import re


def anchors(page):
    """The anchors of a page's headings, as forges make them."""
    text = re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.M)]


def links(page):
    """The relative links of a page: file and anchor."""
    for target in re.findall(r"\]\(([^)\s]+)\)", page):
        if "://" not in target and not target.startswith("mailto:"):
            file, _, anchor = target.partition("#")
            yield file, anchor
