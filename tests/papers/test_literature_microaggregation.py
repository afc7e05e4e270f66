"""MDAV's information loss on the field's three reference tables, as printed in the literature."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles
from sudare.engine.rows import Draft
from sudare.keys import Key
from sudare.methods.plugins.microaggregate import Microaggregate, information_loss, standardise

KEY = Key.demo(1)
PRINTED = [
    ("casc_census", 3, 5.692), ("casc_census", 5, 9.088), ("casc_census", 10, 14.156),
    ("tarragona", 3, 16.933), ("tarragona", 5, 22.462), ("tarragona", 10, 33.193),
    ("eia", 3, 0.592), ("eia", 5, 1.588), ("eia", 10, 3.270),
]  # fmt: skip


def table_of(data_dir, name):
    table = pq.read_table(data_dir / f"{name}.parquet")
    return table.drop_columns(["UTILITYID", "UTILNAME", "STATE", "YEAR", "MONTH"]) if name == "eia" else table


@pytest.mark.parametrize(("name", "k", "percent"), PRINTED)
def test_mdav_loses_what_the_literature_prints(data_dir, name, k, percent):
    from sudare.engine.kernels.mdav import mdav

    numbers = np.stack([c.to_numpy().astype(float) for c in table_of(data_dir, name).columns], axis=1)
    standard = standardise(numbers)
    groups = mdav(standard, k)
    assert np.bincount(groups).min() >= k
    assert round(100 * information_loss(standard, groups), 3) == pytest.approx(percent, abs=1.5e-3)


@pytest.mark.parametrize(("name", "k", "percent"), PRINTED)
def test_the_method_reports_the_same_loss_and_the_tree_stays_within_three_percent_of_it(
    data_dir, name, k, percent
):
    table = table_of(data_dir, name)
    draft = Draft.of(Dataset.from_arrow(table, Roles(sensitive=tuple(table.column_names)), name=name), KEY)
    exact = Microaggregate(k=k).apply(draft, KEY).details
    tree = Microaggregate(k=k, variant="tree").apply(draft, KEY).details
    assert 100 * exact["information_loss"] == pytest.approx(percent, rel=0.002)
    assert tree["information_loss"] < 1.03 * exact["information_loss"]
    assert tree["smallest"] >= k
