"""The policy and its check, in Python and on the command line."""

from __future__ import annotations

import contextlib
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sudare.cli.main import run
from sudare.data import Dataset, Roles
from sudare.disclosure.measure import disclosure
from sudare.errors import UsageError
from sudare.policy.check import check
from sudare.policy.limits import PRESETS, Policy

ROLES = Roles.of(quasi=["zip"], sensitive="disease")


def table(size: int, *, alone: bool = False) -> pa.Table:
    """Classes of `size` people with two diseases each; one person alone on request."""
    zips = [str(n % 3) for n in range(3 * size)]
    diseases = ["flu" if n // 3 % 2 else "cold" for n in range(3 * size)]
    return pa.table({"zip": [*zips, *(["9"] * alone)], "disease": [*diseases, *(["flu"] * alone)]})


def dataset(size: int, **options: Any) -> Dataset:
    return Dataset.from_arrow(table(size, **options), ROLES)


def test_the_ema_preset_asks_for_classes_of_twelve() -> None:
    assert Policy.of("ema-0070").smallest_class == 12
    assert check(dataset(12), "ema-0070").passed
    assert not check(dataset(11), "ema-0070").passed
    assert check(dataset(5), "k5").passed
    assert Policy.of({"max_risk": 0.2}).smallest_class == 5
    assert Policy.of({"max_risk": 5e-324}).smallest_class > 10**323, "larger than a float can say"


def test_every_limit_has_a_row() -> None:
    policy = {"k": 5, "max_risk": 0.2, "l": 2, "t": 0.3, "attack_success": 0.1, "cell_size": 5}
    found = check(dataset(6), policy, attack=0.05)
    assert [row["limit"] for row in found.rows] == ["max_risk", "k", "l", "t", "attack_success", "cell_size"]
    assert found.passed
    assert found.to_dict()["passed"] is True


def test_one_lonely_person_breaks_every_limit_of_classes() -> None:
    found = check(dataset(6, alone=True), {"k": 5, "max_risk": 0.2, "l": 2, "t": 0.3, "cell_size": 5})
    assert found.failures == ["max_risk", "k", "l", "t", "cell_size"]
    assert found.to_dict()["failures"] == found.failures


def test_an_attack_that_nobody_ran_breaks_its_limit() -> None:
    found = check(dataset(6), {"attack_success": 0.1})
    assert not found.passed
    assert "not measured" in found.rows[0]["meaning"]
    assert check(dataset(6), {"attack_success": 0.1}, attack={"rows": [{"rate": 0.02}, {"rate": 0.1}]}).passed
    assert not check(dataset(6), {"attack_success": 0.1}, attack={"rows": [{"rate": 0.2}]}).passed
    with pytest.raises(UsageError, match="no rates"):
        check(dataset(6), {"attack_success": 0.1}, attack={"rows": []})


def test_what_a_given_result_does_not_hold_is_broken() -> None:
    only_k = disclosure(dataset(6), measures=["k"])
    assert check(dataset(6), {"k": 5}, measured=only_k).passed
    assert check(dataset(6), {"k": 5, "l": 2, "t": 0.3}, measured=only_k).failures == ["l", "t"]
    only_l = disclosure(dataset(6), measures=["l"])
    assert check(dataset(6), {"max_risk": 0.5, "k": 5}, measured=only_l).failures == ["max_risk", "k"]


def test_a_missing_value_counts_as_the_policy_says() -> None:
    holes = pa.table({"zip": ["1"] * 4 + [None], "disease": ["a", "b", "a", "b", "a"]})
    ds = Dataset.from_arrow(holes, ROLES)
    assert check(ds, {"k": 5, "missing": "any"}).passed
    assert not check(ds, {"k": 5}).passed


def test_a_preset_can_be_tightened() -> None:
    assert Policy.of({"preset": "k5", "k": 7}).k == 7
    assert Policy.of({"preset": "ema-0070", "l": 3}).limits == {"max_risk": 0.09, "l": 3}


def test_all_faults_of_a_policy_are_named_at_once() -> None:
    with pytest.raises(UsageError) as fault:
        Policy.of({"kk": 5, "l": 1.5, "t": 2, "max_risk": 0, "k": True, "preset": "iso", "missing": "?"})
    for word in ("kk", "l:", "t:", "max_risk:", "k: give a number", "preset", "missing"):
        assert word in str(fault.value)
    with pytest.raises(UsageError, match="sets no limit"):
        check(dataset(5), {})
    with pytest.raises(UsageError, match="unknown preset"):
        Policy.of("k55")


def test_presets_are_valid() -> None:
    for name in PRESETS:
        assert Policy.of({"preset": name}).limits


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(table(6), tmp_path / "good.csv")
    pa.csv.write_csv(table(6, alone=True), tmp_path / "bad.csv")
    (tmp_path / "sudare.toml").write_text('[policy]\npreset = "k5"\nl = 2\n')
    return tmp_path


ARGUMENTS = ["--quasi", "zip", "--sensitive", "disease"]


def test_the_gate_opens_and_closes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "good.csv", *ARGUMENTS]) == 0
    assert run(["check", "bad.csv", *ARGUMENTS]) == 1
    assert "breaks its policy: k, l" in capsys.readouterr().err
    assert run(["check", "good.csv", *ARGUMENTS, "--preset", "ema-0070"]) == 1


def test_every_format_of_the_gate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "bad.csv", *ARGUMENTS, "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["command"], found["passed"], found["failures"]) == ("check", False, ["k", "l"])
    assert run(["check", "bad.csv", *ARGUMENTS, "--format", "junit"]) == 1
    suite = ET.fromstring(capsys.readouterr().out)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "2")
    assert [case.get("name") for case in suite] == ["k", "l disease"]
    assert run(["check", "good.csv", *ARGUMENTS, "--format", "md"]) == 0
    assert capsys.readouterr().out.startswith("| limit | column |")


def test_wrong_calls_of_the_gate_exit_with_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty.toml").write_text("[roles]\n")
    for more in (
        ["--policy", "empty.toml"],
        ["--policy", "absent.toml"],
        ["--preset", "k6"],
        ["--attack", "absent.json"],
    ):
        assert run(["check", "good.csv", *ARGUMENTS, *more]) == 2
    (folder / "sudare.toml").unlink()
    assert run(["check", "good.csv", *ARGUMENTS]) == 2
    assert "no sudare.toml here" in capsys.readouterr().err


def test_an_attack_report_feeds_the_gate(folder: Path) -> None:
    (folder / "p.toml").write_text("[policy]\nattack_success = 0.1\n")
    (folder / "attack.json").write_text('{"rows": [{"rate": 0.3}]}')
    base = ["check", "good.csv", *ARGUMENTS, "--policy", "p.toml", "--attack"]
    assert run([*base, "attack.json"]) == 1
    assert run([*base, "0.05"]) == 0


def test_names_are_escaped_in_xml() -> None:
    odd = '<script>"&'
    ds = Dataset.from_arrow(pa.table({"q": [1, 1], odd: ["a", "a"]}), Roles.of(quasi="q", sensitive=odd))
    assert ET.fromstring(check(ds, {"l": 2}).junit())[0].get("name") == f"l {odd}"


def test_disclosure_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "h.csv").write_text("flu;air;*\ncold;air;*\n")
    arguments = ["disclosure", "bad.csv", *ARGUMENTS, "--population", "1000", "--hierarchy", "disease=h.csv"]
    assert run([*arguments, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["k"], found["classes"], found["l"]) == (1, 4, {"disease": 1})
    assert {"measure", "variant", "attributes", "value", "meaning"} == set(found["rows"][0])
    assert run(["disclosure", "bad.csv", *ARGUMENTS, "--population", "good.csv", "-m", "k"]) == 0
    assert run(["disclosure", "bad.csv", *ARGUMENTS, "--hierarchy", "h.csv"]) == 2
    assert run(["disclosure", "bad.csv", *ARGUMENTS, "-m", "magic"]) == 2
    assert run(["disclosure", "bad.csv", *ARGUMENTS, "-m", "k", "--records", "records.csv"]) == 0
    assert (folder / "records.csv").read_text().count("\n") == 20


limits = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.lists(st.integers(), max_size=2)
)
names = st.sampled_from(["k", "l", "t", "max_risk", "attack_success", "cell_size", "missing", "preset", "x"])


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(names, limits, max_size=4))
def test_any_table_is_a_policy_or_is_refused_in_words(given_limits: dict[str, Any]) -> None:
    with contextlib.suppress(UsageError):
        assert Policy.of(given_limits).smallest_class >= 0


def test_a_row_says_what_is_required_and_of_what() -> None:
    found = check(dataset(6), {"k": 5, "max_risk": 0.2, "l": 2, "t": 0.3})
    rows = {row["limit"]: row for row in found.rows}
    assert {name: row["required"] for name, row in rows.items()} == {
        "max_risk": "<= 0.2",
        "k": ">= 5",
        "l": ">= 2",
        "t": "<= 0.3",
    }
    assert "(so k of 5 or more)" in rows["max_risk"]["meaning"]
    names = {case.get("name") for case in ET.fromstring(found.junit()).iter("testcase")}
    assert names == {"max_risk", "k", "l disease", "t disease"}


@pytest.mark.parametrize("content", ["", "[policy]\n", "policy = 3\n", "policy = []\n"])
def test_a_file_without_a_policy_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "sudare.toml").write_text(content)
    with pytest.raises(UsageError, match=r"no \[policy\]"):
        Policy.of(tmp_path / "sudare.toml")


def test_a_number_near_its_limit_is_printed_on_its_side() -> None:
    for rate, passed in ((0.0500001, False), (0.0499999, True), (0.05, True)):
        found = check(dataset(5), {"attack_success": 0.05}, attack=rate)
        assert found.passed is passed
        assert f" {rate} " in str(found)
        assert passed or f"measured {rate}" in found.junit()
