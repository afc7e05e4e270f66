"""54: a fuzzed CSV, TOML or recipe, and fuzzed arguments, never give a traceback or a half-written file."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sudare
from sudare.cli.main import run
from sudare.errors import SudareError, SudareWarning

EXAMPLES = int(os.environ.get("SUDARE_FUZZ", "400")) // 4
pytestmark = [
    pytest.mark.fault(54, "fuzzed files, recipes and arguments never give a traceback"),
    pytest.mark.filterwarnings("ignore::sudare.errors.SudareWarning"),
]
fuzz = settings(
    max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=EXAMPLES < 1000
)
cell = st.one_of(
    st.text(max_size=6),
    st.integers(-(10**20), 10**20).map(str),
    st.floats().map(str),
    st.sampled_from(
        ["", "NA", "null", '"', '""', "a,b", "a\nb", "\r", "=1+1", "007", "2020-01-01", "1e309", " "]
    ),
)
table = st.lists(st.lists(cell, min_size=1, max_size=4), min_size=1, max_size=6)
scalar = st.one_of(st.none(), st.booleans(), st.integers(-5, 10**6), st.floats(), st.text(max_size=5))
value = st.one_of(scalar, st.lists(scalar, max_size=3))


def call(*arguments: str, folder: Path) -> tuple[int, str]:
    """The command in this process; whatever it prints to standard error comes back."""
    err = io.StringIO()
    here = Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(err):
            code = run(list(arguments))
    finally:
        os.chdir(here)
    return code, err.getvalue()


def check(outcome: tuple[int, str], folder: Path) -> None:
    code, err = outcome
    assert code in (0, 1, 2, 3)
    assert "unexpectedly" not in err, err
    assert not [p for p in folder.iterdir() if "sudare-part" in p.name]


@fuzz
@given(
    st.one_of(
        st.binary(max_size=200),
        table.map(lambda rows: "\n".join(map(",".join, rows)).encode("utf-8", "ignore")),
    )
)
def test_a_fuzzed_csv(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "t.csv").write_bytes(content)
        check(call("risk", "t.csv", folder=folder), folder)


@fuzz
@given(
    st.one_of(
        st.binary(max_size=80),
        st.text(max_size=80).map(str.encode),
        st.sampled_from([b"[roles]\nuser=3", b"[roles]\nx=1"]),
    )
)
def test_a_fuzzed_configuration(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sudare.toml").write_bytes(content)
        check(call("risk", "example:purchases", "--roles", "sudare.toml", folder=folder), folder)


@fuzz
@given(st.data())
def test_a_fuzzed_recipe(data: Any) -> None:
    import dataclasses

    from sudare import registry
    from sudare.methods.recipe import Recipe

    name, cls = data.draw(st.sampled_from(sorted(registry.all_of("method").items())))
    fields = [f.name for f in dataclasses.fields(cls) if f.init]
    columns = st.sampled_from(["sex", "age", "address", "job", "disease", "none"])
    chosen = st.one_of(value, columns, st.lists(columns, max_size=2), st.integers(1, 5))
    given_ = data.draw(st.dictionaries(st.sampled_from(fields or ["x"]), chosen, max_size=4))
    ds = sudare.open(
        "example:patients", identifier="name", quasi=["sex", "age", "address", "job"], sensitive="disease"
    )
    with contextlib.suppress(SudareError, SudareWarning):
        recipe = Recipe.from_steps([{"method": name, **given_}])
        release = sudare.anonymize(ds, recipe, key=bytes(range(32)))
        assert release.data.rows == len(release.truth)


@fuzz
@given(st.data())
def test_fuzzed_arguments(data: Any) -> None:
    name = data.draw(
        st.sampled_from(["risk", "disclosure", "plan", "estimate", "utility", "attack", "anonymize"])
    )
    options = {
        "risk": ["attributes", "combine", "model", "sample_size", "attacker", "missing", "key"],
        "disclosure": [],
        "plan": ["value", "k", "clusters"],
        "estimate": ["by", "method"],
        "utility": ["metrics"],
        "attack": ["attacks", "ties", "truth"],
        "anonymize": ["key"],
    }[name]
    words = st.sampled_from(["date", "goods", "exact", "sample", "bayes", "value", "drop", "em", "expected"])
    given_ = data.draw(
        st.dictionaries(st.sampled_from(options or ["nothing"]), st.one_of(value, words), max_size=3)
    )
    ds = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive=["price"])
    extra = (ds,) if name in ("utility", "attack") else (None,) if name == "anonymize" else ()
    try:
        getattr(sudare, name)(ds, *extra, **given_)
    except (SudareError, SudareWarning):
        pass
    except TypeError as error:  # Python's own word for an unknown or missing argument
        assert "argument" in str(error)
