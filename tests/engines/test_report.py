"""A report is written wherever the tables live, and names what was not measured there."""

from __future__ import annotations

import pytest

import sudare
from sudare import methods

pytestmark = pytest.mark.spark
ROLES = {"user": "customer", "quasi": ["shop", "day"], "sensitive": ["price", "count"], "other": ["goods"]}
USES = {"sales": ["shop", "price"]}


@pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning")
def test_the_report_on_spark_says_what_it_says_here_and_names_the_rest(
    on_spark, on_duckdb, purchases, key, same, tmp_path
):
    reports = []
    for place in (on_spark, on_duckdb):
        ds = place(purchases.slice(0, 400), **ROLES)
        recipe = [methods.Noise(sd=0.2), methods.DeleteRecords(share=0.1)]
        release = sudare.anonymize(ds, recipe, key=key)
        path = tmp_path / f"{len(reports)}.html"
        policy, context = {"k": 2, "attack_success": 0.5}, {"uses": USES}
        reports.append(sudare.report(ds, release, path=path, policy=policy, context=context))
    there, here = (report.evidence for report in reports)
    for step in ("risk", "disclosure", "plan", "risk_after", "disclosure_after"):
        same([dict(r) for r in getattr(there, step).rows], [dict(r) for r in getattr(here, step).rows])
    same(list(there.weakest), list(here.weakest))
    same((there.release.dummies, there.release.deleted), (here.release.dummies, here.release.deleted))
    rates = {row["attack"]: row["rate"] for row in here.attacks.rows}
    found = {row["attack"]: row["rate"] for row in there.attacks.rows}
    same(found, {name: rates[name] for name in found})
    missing = set(rates) - set(found)
    assert {f"attack {name}" for name in missing} <= set(there.skipped)
    assert {"metric by_column", "metric pairwise-distance", "uses"} <= set(there.skipped)
    assert not {name for name in here.skipped if name.startswith(("attack", "metric", "uses"))}
    assert there.original.sha256 is None
    assert "Not measured: attack" in reports[0].text
    assert (tmp_path / "0.html").read_text().startswith("<!")


def test_a_report_for_outsiders_names_what_was_not_run(on_spark, purchases, key):
    ds = on_spark(purchases.slice(0, 400), **ROLES)
    release = sudare.anonymize(ds, methods.Noise(sd=0.2), key=key)
    report = sudare.report(ds, release, path=None, audience="external", format="md")
    assert "Not measured: attack identify-sort." in report.text
