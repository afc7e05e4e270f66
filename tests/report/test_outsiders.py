"""What outsiders see: no count below 10 people, and none that subtraction would give."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sudare.report.build import write
from sudare.report.evidence import Evidence
from sudare.report.numbers import Capped
from sudare.report.outsiders import FLOOR, coarse, count, for_outsiders, share


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_no_difference_of_shown_counts_pins_down_a_small_one(a: int, b: int) -> None:
    first, second = count(a), count(b)
    assert float(first) >= FLOOR
    assert float(first - second) % FLOOR == 0
    if abs(a - b) < FLOOR:
        assert abs(float(first) - float(second)) <= FLOOR


@given(st.integers(20, 10**6), st.data())
def test_no_shown_share_is_below_ten_people_at_either_end(total: int, data: st.DataObject) -> None:
    people = data.draw(st.integers(0, total))
    shown = share(people / total, total)
    assert shown is not None
    assert float(shown) * total >= FLOOR * 0.5
    if people < FLOOR:
        assert isinstance(shown, Capped)
        assert shown.side == "below"
    elif total - people < FLOOR:
        assert isinstance(shown, Capped)


@given(st.integers(20, 10**6), st.integers(1, 50))
def test_a_mean_does_not_tell_how_many_people_there_are(people: int, values: int) -> None:
    shown = coarse(values / people, people)
    near = range(max(people - 3 * FLOOR, 1), people + 3 * FLOOR + 1)
    assert sum(coarse(values / n, people) == shown for n in near) >= FLOOR


def numbers_in(node: Any, key: str = "") -> list[tuple[str, float]]:
    if isinstance(node, dict):
        return [found for name, value in node.items() for found in numbers_in(value, name)]
    if isinstance(node, list):
        return [found for value in node for found in numbers_in(value, key)]
    return [(key, node)] if isinstance(node, (int, float)) and not isinstance(node, bool) else []


COUNTS = {"rows", "records", "users", "values", "missing", "gave_up", "Records", "People", "clusters"}


def test_every_count_in_the_external_report_is_a_ten_or_a_bound(evidence: Evidence) -> None:
    content = json.loads(write(evidence, path=None, audience="external", format="json").text)
    shown = [(name, value) for name, value in numbers_in(content) if name in COUNTS]
    assert shown
    assert [pair for pair in shown if pair[1] % FLOOR or pair[1] < FLOOR] == []


def test_exact_counts_of_the_original_are_gone(evidence: Evidence) -> None:
    rows = int(evidence.original.rows)
    exact = replace(evidence, original=replace(evidence.original, rows=rows - rows % FLOOR + 3, users=43))
    text = write(exact, path=None, audience="external", format="md").text
    for number in (exact.original.rows, exact.original.users):
        assert not re.search(rf"(?<![\d.,]){number:,}(?![\d.,]*\d)", text)


def test_notes_details_and_single_people_stay_inside(evidence: Evidence) -> None:
    shown = for_outsiders(evidence)
    assert shown.weakest == ()
    assert shown.seconds == {}
    for result in (shown.risk, shown.attacks, shown.utility, shown.plan):
        assert result is not None
        assert result.notes == ()
    assert all(row["detail"] is None for row in shown.utility.rows)  # type: ignore[union-attr]
    assert shown.original.sha256 is None
    assert getattr(shown.risk, "dataset", None) is None


def test_the_smallest_class_and_its_risk_are_bounds(evidence: Evidence) -> None:
    shown = for_outsiders(evidence)
    assert shown.disclosure is not None
    for row in shown.disclosure.rows:
        if row["measure"] == "k" or (row["measure"], row["variant"]) == ("prosecutor", "largest"):
            assert isinstance(row["value"], Capped)
        assert not re.search(r"\d\d|\d%", str(row["meaning"]))


def test_metrics_that_count_rows_are_counts(evidence: Evidence) -> None:
    assert evidence.utility is not None
    few = {"U6": 3.0, "S1": 1.0}
    rows = tuple({**row, "value": few.get(row["metric"], row["value"])} for row in evidence.utility.rows)
    shown = for_outsiders(replace(evidence, utility=replace(evidence.utility, rows=rows)))
    found = {row["metric"]: row["value"] for row in shown.utility.rows}  # type: ignore[union-attr]
    assert isinstance(found["U6"], Capped)
    assert isinstance(found["S1"], Capped)


def test_pictures_are_drawn_from_what_is_shown(evidence: Evidence) -> None:
    shown = for_outsiders(evidence)
    assert shown.attacks is not None
    data = shown.attacks.chart().to_dict()
    exact = {row["rate"] for row in evidence.attacks.rows if 0 < row["rate"] < 1}  # type: ignore[union-attr]
    drawn = {value for _, value in numbers_in(data)}
    small = {rate for rate in exact if rate * evidence.release.data.users < FLOOR}  # type: ignore[union-attr]
    assert small.isdisjoint(drawn)
