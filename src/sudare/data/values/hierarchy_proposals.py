"""Hierarchies proposed from the data, for a `sudare.toml` that a person then edits."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sudare.data.values.hierarchies import as_text
from sudare.data.values.hierarchy_kinds import Spec


def propose(column: pa.Array | pa.ChunkedArray) -> Spec:
    """What to write under `[hierarchy.<column>]`.

    Intervals for numbers, periods for dates, prefixes for codes of one length, groups by the first word
    where words repeat, else publish or hide.

    >>> propose(pa.array(range(17, 91)))
    {'intervals': [5, 10, 20]}
    >>> propose(pa.array(["Married-civ", "Married-AF", "Single"]))
    {'categories': {'Married': ['Married-AF', 'Married-civ'], 'Single': ['Single']}}
    """
    values = pc.unique(column).drop_null()
    if (
        pa.types.is_integer(values.type)
        or pa.types.is_floating(values.type)
        or pa.types.is_decimal(values.type)
    ):
        return _propose_intervals(values)
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        return {"dates": ["month", "year"]}
    texts = sorted(as_text(values).to_pylist())
    if texts and all(re.fullmatch(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?", text) for text in texts):
        return {"dates": ["month", "year"]}
    if texts and all(re.fullmatch(r"\d{1,2}([/.])\d{1,2}\1\d{4}", text) for text in texts):
        return _propose_dates(texts)
    lengths = {len(text) for text in texts}
    if len(texts) > 20 and len(lengths) == 1 and all(re.search(r"\d", text) for text in texts):
        return {
            "prefixes": sorted({n for n in (max(lengths) - 2, max(lengths) // 2, 1) if n > 0}, reverse=True)
        }
    return _propose_groups(texts)


def _propose_dates(texts: Sequence[str]) -> Spec:
    """Day or month first, where the data decide it; where not, the user is asked when it is used."""
    mark = "/" if "/" in texts[0] else "."
    parts = [tuple(map(int, text.split(mark)[:2])) for text in texts if mark in text]
    first, second = (max(part[place] for part in parts) for place in (0, 1))
    spec: dict[str, object] = {"dates": ["month", "year"]}
    if len(parts) == len(texts) and (first > 12) != (second > 12):
        spec["format"] = mark.join(("%d", "%m", "%Y") if first > 12 else ("%m", "%d", "%Y"))
    return spec


def _propose_intervals(values: pa.Array) -> Spec:
    if len(values) < 3:
        return {"flat": True}
    known = values.filter(pc.is_finite(values)) if pa.types.is_floating(values.type) else values
    ends = pc.min_max(known).as_py()
    span = float(ends["max"] - ends["min"]) if len(known) > 1 else 0.0
    if not 0 < span < math.inf:
        return {"flat": True}
    magnitude = 10.0 ** math.floor(math.log10(span / 16))
    width = next(step * magnitude for step in (1, 2, 5, 10) if step * magnitude >= span / 16)
    if pa.types.is_integer(values.type):
        width = max(1.0, width)
    widths = [
        width * factor for factor in (1, 2, 4) if width * factor > 1 or not pa.types.is_integer(values.type)
    ]
    return {"intervals": [int(w) if w.is_integer() else w for w in widths]}


def _propose_groups(texts: Sequence[str]) -> Spec:
    first = {text: re.split(r"[-_ /.,:]", text, maxsplit=1)[0] or text for text in texts}
    counts = Counter(first.values())
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(first[text] if counts[first[text]] > 1 else text, []).append(text)
    if len(groups) == len(texts) or len(groups) == 1:
        return {"flat": True}
    return {"categories": groups}
