"""axe-core for a test run: taken from the npm registry into a temporary folder, never kept in the repository.

Where it cannot be had, the main rules are checked here instead: names of controls and pictures, one main region,
headings in order, labels, contrast, language, title, focusable scroll areas.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

OWN = """
() => {
  const faults = [];
  const say = (rule, node) => faults.push(`${rule}: ${node.outerHTML.slice(0, 120)}`);
  const name = (n) => (n.getAttribute("aria-label") || n.textContent || n.getAttribute("title") || "").trim();
  if (!document.documentElement.lang) faults.push("html-has-lang");
  if (!document.title) faults.push("document-title");
  if (document.querySelectorAll("main").length !== 1) faults.push("landmark-one-main");
  for (const n of document.querySelectorAll("a[href], button")) if (!name(n)) say("name", n);
  for (const n of document.querySelectorAll("[role=img]")) if (!n.getAttribute("aria-label")) say("image-alt", n);
  for (const n of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    if (!n.labels.length && !n.getAttribute("aria-label")) say("label", n);
  let last = 0;
  for (const n of document.querySelectorAll("h1, h2, h3, h4")) {
    const level = Number(n.tagName[1]);
    if (last && level > last + 1) say("heading-order", n);
    last = level;
  }
  for (const n of document.querySelectorAll("th")) if (!n.textContent.trim()) say("empty-table-header", n);
  const parse = (c) => (c.match(/[\\d.]+/g) || []).map(Number);
  const linear = (v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const lum = ([r, g, b]) => [r, g, b].map((v) => linear(v / 255))
    .reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const back = (n) => { for (; n; n = n.parentElement) { const c = parse(getComputedStyle(n).backgroundColor);
    if (c.length === 3 || c[3] > 0.99) return c; } return [255, 255, 255]; };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const n = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !n.checkVisibility() || n.closest("svg, .hidden, :disabled")) continue;
    const style = getComputedStyle(n), size = parseFloat(style.fontSize);
    const [a, b] = [lum(parse(style.color)), lum(back(n))].sort((x, y) => y - x);
    const need = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if ((a + 0.05) / (b + 0.05) < need - 0.01) say(`contrast ${((a + 0.05) / (b + 0.05)).toFixed(2)}`, n);
  }
  return faults;
}
"""


def fetch(folder: Path) -> str | None:
    """The script of axe-core, or None where npm or its registry is out of reach."""
    if shutil.which("npm") is None:
        return None
    try:
        done = subprocess.run(
            ["npm", "pack", "axe-core", "--silent"], cwd=folder, capture_output=True, text=True, timeout=60
        )
    except subprocess.TimeoutExpired:
        return None
    packed = sorted(folder.glob("axe-core-*.tgz"))
    if done.returncode != 0 or not packed:
        return None
    with tarfile.open(packed[0]) as archive:
        member = archive.extractfile("package/axe.min.js")
        return None if member is None else member.read().decode()


def violations(page: Any, script: str | None) -> list[str]:
    """Serious faults of accessibility on the page as it is shown now."""
    found: list[str] = list(page.evaluate(OWN))
    if script is not None:
        page.evaluate(script)
        result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        for violation in result["violations"]:
            if violation["impact"] in ("serious", "critical"):
                where = violation["nodes"][0]["html"][:160]
                found.append(f"axe {violation['id']}: {where}")
    return found
