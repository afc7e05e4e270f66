import json

import pytest

from sudare.cli.main import run
from sudare.risk.measure import risk

BASE = ["risk", "example:purchases", "--user", "user"]


def rows(capsys, *options):
    assert run([*BASE, *options, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)["rows"]


def test_the_command_prints_what_the_call_returns(capsys):
    import sudare

    found = sudare.risk(sudare.open("example:purchases", user="user"), combine=2)
    assert rows(capsys, "--combine", "2") == found.to_dict()["rows"]


def test_the_worked_example(capsys):
    found = {row["attributes"][0]: round(row["risk"], 5) for row in rows(capsys)}
    assert found == {"time": 1.0, "number": 0.8, "date": 0.65, "goods": 0.55, "price": 0.48333}


def test_every_option_reaches_the_call(capsys):
    assert rows(capsys, "-a", "date,time", "--attacker", "bayes")[0]["attacker"] == "bayes"
    assert [r["attributes"] for r in rows(capsys, "-a", "date", "--combine", "date+goods")] == [
        ["date", "goods"],
        ["date"],
    ]
    assert rows(capsys, "--model", "low-cost")[0]["model"] == "low-cost"
    assert rows(capsys, "--model", "sample", "--sample-size", "99", "-a", "date")[0]["sample_size"] == 3
    assert rows(capsys, "-a", "date,goods", "--across", "all")[0]["model"] == "across"
    twice = rows(capsys, "-a", "date", "--across", "goods+goods")
    assert ["goods", "goods"] in [row["attributes"] for row in twice]
    assert rows(capsys, "-a", "time", "--channel", "time=hour")[0]["channel"] == "time hour"
    known = rows(capsys, "-a", "goods,date", "--known", "1..2", "--channel", "date=exact,date=month")
    assert [(row["attributes"][0], row["channel"], row["known"]) for row in known] == [
        ("date", "", 1),
        ("date", "", 2),
        ("date", "date month", 1),
        ("date", "date month", 2),
        ("goods", "", 1),
        ("goods", "", 2),
    ]
    assert rows(capsys, "--values", "date")[0]["value"] == "2010/12/3"
    models = rows(capsys, "-a", "date", "--models", "--sample-size", "2")
    assert [row["model"] for row in models] == ["exact", "sample", "low-cost"]
    assert models[1]["records_read"] == pytest.approx(20 / 3)
    assert rows(capsys, "--threshold", "0.9", "--combine", "2")[0]["attributes"] == ["time"]


def test_a_threshold_that_nothing_reaches_says_so(capsys):
    assert run([*BASE, "-a", "price", "--threshold", "0.9"]) == 0
    assert "No measured set" in capsys.readouterr().out


def test_a_release_and_its_truth(tmp_path, capsys):
    import pyarrow as pa
    import pyarrow.parquet as pq

    import sudare
    from sudare.data.truth import write_truth

    table = sudare.open("example:purchases").to_pyarrow()
    pq.write_table(table.drop_columns(["time"]), tmp_path / "release.parquet")
    (tmp_path / "release.parquet.sudare.json").write_text('{"roles": {"user": "user"}}')
    write_truth(pa.array(range(10)).to_numpy(), tmp_path / "truth.parquet")
    options = ["--release", str(tmp_path / "release.parquet"), "--truth", str(tmp_path / "truth.parquet")]
    found = {r["attributes"][0]: r for r in rows(capsys, *options)}
    assert found["date"]["risk"] == pytest.approx(0.65)
    assert found["time"]["risk_before"] == 1
    assert found["time"]["risk"] == pytest.approx(1 / 3)


def test_a_chart_is_written(tmp_path, capsys):
    assert run([*BASE, "--chart", str(tmp_path / "risk.svg"), "--threshold", "0.5"]) == 0
    assert (tmp_path / "risk.svg").read_text().startswith("<svg")


def test_a_chart_does_not_replace_the_table(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("user,goods\na,1\nb,2\n")
    assert run(["risk", str(table), "--user", "user", "--chart", str(table)]) == 2
    assert "is also the input" in capsys.readouterr().err
    assert table.read_text().startswith("user,goods")


@pytest.mark.parametrize(
    "wrong",
    [
        ["-a", "dat"],
        ["--models", "--attacker", "bayes"],
        ["--truth", "t.csv"],
        ["--channel", "time"],
        ["--attacker", "x"],
        ["--combine", "0"],
        ["--sample-size", "3"],
    ],
)
def test_a_wrong_call_is_two_lines_and_exit_code_2(capsys, wrong):
    assert run([*BASE, *wrong]) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert 1 <= len(error) <= 2
    assert error[0].startswith("error: ")


def test_the_result_prints_without_pandas(monkeypatch):
    import sys

    import sudare

    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "0.65" in str(risk(sudare.open("example:purchases", user="user")))
