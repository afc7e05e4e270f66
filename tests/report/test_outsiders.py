"""What outsiders see: no count below 10 people, and none that subtraction would give."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sudare.loop.evidence import DataCard, Evidence
from sudare.report.build import document_of, write
from sudare.report.numbers import Capped, written
from sudare.report.outsiders import FLOOR, coarse, count, for_outsiders, share
from sudare.results import Result


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


def limited(evidence: Evidence, limit: str, required: str, passed: bool) -> Evidence:
    row = {"limit": limit, "column": None, "required": required, "passed": passed, "meaning": "a limit"}
    return replace(evidence, policy=Result(({**row, "measured": 0.5},)))


@pytest.mark.parametrize(("k", "told"), [(12, "at least 12"), (14, "at least 12"), (11, "10"), (17, "20")])
def test_the_smallest_class_is_told_on_its_side_of_the_limit(evidence: Evidence, k: int, told: str) -> None:
    rows = ({"measure": "k", "variant": "missing is a value", "attributes": (), "value": k, "meaning": "k"},)
    given = limited(replace(evidence, disclosure_after=Result(rows)), "k", ">= 12", k >= 12)
    figures = document_of(given, "external").verdict.figures
    assert next(f.value for f in figures if f.label.startswith("Smallest class")) == told


@pytest.mark.parametrize(
    ("rate", "passed", "told"), [(0.302, False, "above 30%"), (0.3, True, "30%"), (0.298, True, "30%")]
)
def test_the_strongest_attack_is_told_on_its_side_of_the_limit(
    evidence: Evidence, rate: float, passed: bool, told: str
) -> None:
    assert evidence.attacks is not None
    assert evidence.release is not None
    rows = ({**evidence.attacks.rows[0], "rate": rate},)
    card = replace(evidence.release, data=replace(evidence.release.data, users=400, rows=400))
    given = replace(evidence, attacks=replace(evidence.attacks, rows=rows), release=card)
    figures = document_of(limited(given, "attack_success", "<= 0.3", passed), "external").verdict.figures
    assert figures[0].value == told


@given(st.integers(20, 5000), st.integers(10, 15))
def test_the_largest_risk_is_told_on_its_side_of_the_limit_of_the_ema(people: int, k: int) -> None:
    shown = measure_of("prosecutor", "largest", 1 / k, people)
    text = written(shown)
    above = text.startswith("above") or (not text.startswith("at most") and float(text) > 0.09)
    assert above is (k < 12)


def measure_of(measure: str, variant: str, value: float, people: int = 1000) -> Any:
    row = {"measure": measure, "variant": variant, "attributes": (), "value": value, "meaning": ""}
    card = DataCard("t", people, people, (), {}, "duckdb")
    shown = for_outsiders(Evidence(original=card, disclosure=Result((row,)))).disclosure
    assert shown is not None
    return shown.rows[0]["value"]


def test_l_and_t_do_not_tell_the_counts_of_a_small_class() -> None:
    classes = [(size, commonest) for size in range(1, 31) for commonest in range(1, size + 1)]
    told = {
        (size, commonest): (
            written(measure_of("l", "frequency", size / commonest)),
            written(measure_of("t", "equal", abs(commonest / size - 0.3))),
        )
        for size, commonest in classes
    }
    alike = Counter(told.values())
    assert [small for small in classes if small[0] < FLOOR and alike[told[small]] < 2] == []


def test_reasons_why_something_was_not_measured_stay_inside(evidence: Evidence) -> None:
    given = replace(evidence, attacks=None, skipped={"attacks": "k=4 is larger than the number of users (3)"})
    for kind in ("md", "json", "html"):
        assert "(3)" not in write(given, path=None, audience="external", format=kind).text
    assert "(3)" in write(given, path=None, format="md").text.replace("\\", "")


def test_what_is_not_certain_is_not_called_certain(evidence: Evidence) -> None:
    shown = for_outsiders(evidence)
    assert evidence.risk is not None
    assert shown.risk is not None
    for exact, told in zip(evidence.risk.rows, shown.risk.rows, strict=True):
        assert exact["risk"] == 1 or float(told["risk"]) < 1


def test_the_page_says_that_it_is_rounded(evidence: Evidence) -> None:
    assert "rounded so that no count below 10" in write(evidence, path=None, audience="external").text
    assert "rounded so that no count below 10" not in write(evidence, path=None).text
