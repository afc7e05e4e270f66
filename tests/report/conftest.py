"""One small release with all its evidence, gathered once."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import sudare
from sudare.examples.builtin import histories
from sudare.keys import Key
from sudare.loop import measure as loop
from sudare.loop.evidence import Evidence
from sudare.methods.recipe import Recipe

CANARY = "Canarina Zyxwvut"
STEPS = [
    {"method": "suppress", "columns": ["time"]},
    {"method": "dummy-records", "value": "goods", "k": 3, "effort": "low"},
]
CONTEXT = {"purpose": "monthly sales", "recipient": "university", "review": "2027-05-01"}


def with_canary(table: pa.Table) -> pa.Table:
    """A person whose every text cell is a name that occurs nowhere else."""
    row = {f.name: [CANARY if pa.types.is_string(f.type) else 987654.25] for f in table.schema}
    canary = pa.table({name: pa.array(cell) for name, cell in row.items()}).cast(
        pa.schema([(f.name, f.type) for f in table.schema]), safe=False
    )
    return pa.concat_tables([table, canary])


def opened(users: int = 40) -> Any:
    table = with_canary(histories(users, records_per_user=12.0, goods=120))
    return sudare.open(
        table,
        user="user",
        identifier="invoice",
        quasi=["date", "time", "goods"],
        sensitive=["price", "number"],
    )


@pytest.fixture(scope="session")
def made() -> tuple[Any, Any, Evidence]:
    """Original, release, evidence."""
    ds = opened()
    release, evidence = loop.run(
        ds,
        Recipe.from_steps(STEPS),
        key=Key.demo(3),
        value="goods",
        ks=range(2, 5),
        context=CONTEXT,
        policy={"attack_success": 0.6, "k": 2},
    )
    return ds, release, evidence


@pytest.fixture(scope="session")
def evidence(made: tuple[Any, Any, Evidence]) -> Evidence:
    return made[2]
