"""Charts as static SVG that is safe inside a page: no script, no style, no link, ids of its own."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

SVG = "http://www.w3.org/2000/svg"
ALLOWED = {
    "svg",
    "g",
    "path",
    "line",
    "rect",
    "circle",
    "text",
    "tspan",
    "defs",
    "clipPath",
    "linearGradient",
    "stop",
}
DROPPED = {
    "style",
    "href",
    "{http://www.w3.org/1999/xlink}href",
    "role",
    "aria-roledescription",
    "aria-label",
}

# The same chart is drawn once, whoever asks for it: the page, the internal report, the external one.
MOST_DRAWN = 64
_drawn: dict[str, str] = {}


def picture(chart: Any, name: str) -> str:
    """An Altair chart as SVG text for inlining; `name` makes its ids unique in the page."""
    from sudare.charts import svg

    specification = chart.to_json()
    if specification not in _drawn:
        if len(_drawn) >= MOST_DRAWN:
            _drawn.clear()
        _drawn[specification] = svg(chart)
    return inline(_drawn[specification], name)


def inline(source: str, name: str) -> str:
    """Keep what draws, drop what could run or load.

    >>> inline('<svg xmlns="http://www.w3.org/2000/svg" width="5"><script>x</script><path id="a"/></svg>', "c")
    '<svg width="5" aria-hidden="true" focusable="false" class="chart"><path id="c-a" /></svg>'
    """
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(source)
    _clean(root, name)
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    root.set("class", "chart")
    text = ElementTree.tostring(root, encoding="unicode")
    return re.sub(r' xmlns(:\w+)?="[^"]*"', "", text)


def _clean(element: ElementTree.Element, name: str) -> None:
    for attribute, value in list(element.attrib.items()):
        if attribute in DROPPED or attribute.startswith(("on", "aria-", "{")):
            del element.attrib[attribute]
        elif attribute == "id":
            element.set("id", f"{name}-{value}")
        elif "url(#" in value:
            element.set(attribute, value.replace("url(#", f"url(#{name}-"))
    for child in list(element):
        if child.tag.removeprefix(f"{{{SVG}}}") not in ALLOWED:
            element.remove(child)
        else:
            _clean(child, name)
