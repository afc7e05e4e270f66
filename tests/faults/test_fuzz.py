"""54: a fuzzed CSV, TOML or recipe, and fuzzed arguments, never give a traceback or a half-written file."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sudare
import sudare.cost
from sudare import registry
from sudare.cli.main import run
from sudare.data import proposal
from sudare.errors import SudareError, SudareWarning
from sudare.methods import RandomizedAddition, Shuffle

EXAMPLES = int(os.environ.get("SUDARE_FUZZ", "400")) // 5
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


words = st.sampled_from(
    "sex age address job disease name none date goods price exact sample bayes value drop em expected month".split()
)
plain = st.one_of(st.booleans(), st.integers(-5, 10**6), st.floats(), st.text(max_size=5), words)
nested = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["sex", "age", "intervals", "dates", "file", "k"]), inner, max_size=3
        ),
    ),
    max_leaves=6,
)


def section(*names: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names), nested, max_size=4)


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return proposal.text(value) if isinstance(value, str) else repr(value)


def lines(values: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {toml(value)}\n" for key, value in values.items())


noise = st.one_of(
    st.binary(max_size=80),
    st.text(max_size=80).map(str.encode),
    st.sampled_from([b"[roles]\nuser=3", b"[roles]\nx=1", b"data = 3", b"[[roles]]"]),
)
shaped = st.fixed_dictionaries(
    {},
    optional={
        "roles": section("user", "identifier", "quasi", "sensitive", "other", "x"),
        "data": section("file", "x"),
        "policy": section("k", "max_risk", "attack_success", "cell_size", "preset", "x"),
        "release": section("purpose", "recipient", "x"),
    },
).map(lambda parts: "".join(f"[{name}]\n{lines(values)}" for name, values in parts.items()).encode())


@fuzz
@given(st.one_of(noise, shaped), st.sampled_from(["risk", "check", "own"]))
def test_a_fuzzed_configuration(content: bytes, use: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sudare.toml").write_bytes(content)
        arguments = {
            "risk": ("risk", "example:purchases", "--roles", "sudare.toml"),
            "check": ("check", "example:patients", "--quasi", "sex", "--policy", "sudare.toml"),
            "own": ("risk", "example:purchases"),
        }
        check(call(*arguments[use], folder=folder), folder)


@fuzz
@given(st.data())
def test_a_fuzzed_recipe(data: Any) -> None:
    """As a file, and the release that comes of it with a fuzzed sidecar."""
    name, cls = data.draw(st.sampled_from(sorted(registry.all_of("method").items())))
    fields = [f.name for f in dataclasses.fields(cls) if f.init]
    given_ = data.draw(st.dictionaries(st.sampled_from(fields or ["x"]), nested, max_size=4))
    roles = ("--identifier", "name", "--quasi", "sex,age,address,job", "--sensitive", "disease")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "r.toml").write_text(f"[[step]]\nmethod = {toml(name)}\n{lines(given_)}", "utf-8")
        made = call(
            "anonymize", "example:patients", *roles, "-r", "r.toml", "-o", "o.csv", "--demo", folder=folder
        )
        check(made, folder)
        assert (folder / "o.csv").exists() == (made[0] == 0)
        sidecar = folder / "o.csv.sudare.json"
        if sidecar.exists():
            card = json.loads(sidecar.read_text())
            card[data.draw(st.sampled_from(sorted(card)))] = data.draw(nested)
            sidecar.write_text(json.dumps(card))
            check(call("disclosure", "o.csv", folder=folder), folder)
            check(call("estimate", "o.csv", "--by", "sex", folder=folder), folder)


@fuzz
@given(st.data())
def test_fuzzed_parameters(data: Any) -> None:
    """Of methods, attacks and metrics, in Python."""
    kind = data.draw(st.sampled_from(["method", "attack", "metric"]))
    cls = data.draw(st.sampled_from([cls for _, cls in sorted(registry.all_of(kind).items())]))
    fields = [f.name for f in dataclasses.fields(cls) if f.init]
    given_ = data.draw(st.dictionaries(st.sampled_from(fields or ["x"]), anything, max_size=4))
    with refusing():
        use(kind, cls(**given_))


def use(kind: str, made: Any) -> None:
    if kind == "method":
        found = sudare.anonymize(PATIENTS, made, key=KEY)
        assert found.data.rows == len(found.truth)
    elif kind == "attack":
        sudare.attack(PATIENTS, RELEASE, attacks=[made])
    else:
        sudare.utility(PATIENTS, RELEASE, metrics=[made])


EXTREME = (0, -1, 2**31, 2**63, 2**70, -(2**70), 1e308, 5e-324, np.int64(2), np.float32(0.5), np.array(2), ())
NEEDED: dict[str, Any] = {"k": 2, "p": 5, "l": 2, "column": "age", "to": 5, "share": 0.1}


@pytest.mark.parametrize("kind", ["method", "attack", "metric"])
def test_extreme_numbers(kind: registry.Kind) -> None:
    """Every parameter of every method, attack and metric, one at a time."""
    for cls in registry.all_of(kind).values():
        fields = [f for f in dataclasses.fields(cls) if f.init]
        needed = {
            f.name: NEEDED[f.name] for f in fields if f.name in NEEDED and f.default is dataclasses.MISSING
        }
        for field in fields:
            for value in EXTREME:
                with refusing():
                    use(kind, cls(**{**needed, field.name: value}))


def test_extreme_numbers_in_calls() -> None:
    for name in VERBS:
        for option in inspect.signature(getattr(sudare, name)).parameters.values():
            for value in EXTREME if option.default is not option.empty else ():
                with refusing():
                    getattr(sudare, name)(*FIRST[name], **{option.name: value})


VERBS = "risk disclosure plan attack utility estimate posterior workload check compare".split()
KEY = bytes(range(32))
PURCHASES = sudare.open("example:purchases", user="user", quasi=["date", "goods"], sensitive=["price"])
PATIENTS = sudare.open(
    "example:patients", identifier="name", quasi=["sex", "age", "address", "job"], sensitive="disease"
)
RELEASE = sudare.anonymize(PATIENTS, RandomizedAddition(l=2, column="disease"), key=KEY)
anything = st.one_of(
    nested,
    st.sampled_from(
        [None, (), object(), b"x", 2**70, range(3), {1}, np.int64(3), np.array([1, 2]), Path("x")]
    ),
)
# what each function is given first: the right thing, or anything
FIRST: dict[str, tuple[Any, ...]] = {
    "open": ("example:purchases",),
    "risk": (PURCHASES,),
    "disclosure": (PATIENTS,),
    "plan": (PURCHASES, "goods"),
    "anonymize": (PATIENTS, "mondrian"),
    "attack": (PATIENTS, RELEASE),
    "utility": (PATIENTS, RELEASE),
    "estimate": (RELEASE,),
    "report": (PATIENTS,),
    "check": (PATIENTS, {"k": 2}),
    "compare": (PATIENTS, [Shuffle()]),
    "posterior": (RELEASE,),
    "workload": (PATIENTS, {"sets": RELEASE}),
    "pr_distinct": (3, 5, 4),
    "expected_distinct": (5, 4),
    "variance_distinct": (5, 4),
    "expected_dummies": (10, 50, 7),
    "expected_dummies_exact": ([2, 1], [3]),
    "dummies": ([["a"], ["b"]], [[0, 1]]),
    "best_clusters": (10, 50, 7),
    "best_k": (10, 50, 7),
    "normaliser": (10, 50, 7),
    "score": (10, 50, 7, [1, 2]),
}


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """A refusal is an error of ours; Python itself refuses names that are no arguments."""
    try:
        yield
    except (SudareError, SudareWarning):
        pass
    except TypeError as error:
        if not re.search(r"unexpected keyword argument|missing .*required|multiple values", str(error)):
            raise


@fuzz
@given(st.data())
def test_fuzzed_arguments(data: Any) -> None:
    name = data.draw(st.sampled_from(sorted(FIRST)))
    function = getattr(sudare, name, None) or getattr(sudare.cost, name)
    first = [given_ if data.draw(st.integers(0, 3)) else data.draw(anything) for given_ in FIRST[name]]
    options = [p.name for p in inspect.signature(function).parameters.values() if p.default is not p.empty]
    given_ = data.draw(st.dictionaries(st.sampled_from(options or ["x"]), anything, max_size=3))
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place), refusing():
        try:
            function(*first, **given_)
        finally:
            assert not [p for p in Path(place).iterdir() if "sudare-part" in p.name]


def test_every_public_function_is_fuzzed() -> None:
    verbs = {name for name in sudare.__all__ if name.islower() and callable(getattr(sudare, name))}
    rooms = {"attacks", "cost", "methods"}
    assert verbs - rooms | set(sudare.cost.__all__) == set(FIRST)
