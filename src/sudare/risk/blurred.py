"""The risk when the attacker's knowledge is blurred: rounded, within a width, or wrong at times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sudare.data.dataset import Dataset
from sudare.engine import risk as engine
from sudare.engine import risk_ibis
from sudare.engine.risk_blur import lucky, ranged_risk
from sudare.engine.risk_lattice import Coded, profiles_of_codes
from sudare.engine.risk_profile import Profile
from sudare.engine.risk_rows import coded_values
from sudare.errors import UsageError
from sudare.risk import formulas
from sudare.risk.channels import Channel, Recode, Within, Wrong, parse
from sudare.risk.knowledge import Subset


def blurred_rows(
    ds: Dataset, sets: Sequence[Subset], channel: Mapping[str, str], model: str, attacker: str, missing: str
) -> list[dict[str, Any]]:
    """A row per set of attributes, with a column that says what the attacker sees; R_K is never above R."""
    if model != "exact":
        raise UsageError("channel: blurred knowledge is measured exactly; drop model=")
    channels = {name: parse(text) for name, text in channel.items()}
    for subset in sets:
        _check(ds, subset, [channels[name] for name in subset if name in channels], attacker)
    engine.check(ds)
    return [_row(ds, subset, channels, attacker, missing) for subset in sets]


def _check(ds: Dataset, subset: Subset, channels: Sequence[Channel], attacker: str) -> None:
    """Refuse what cannot be measured before anything is."""
    for channel in channels:
        if not isinstance(channel, Recode) and (len(subset) > 1 or attacker != "uniform"):
            raise UsageError(
                f"channel '{channel.name}': measured for one attribute and the uniform attacker; "
                "use round:... or a unit like hour for sets and other attackers"
            )
        if not isinstance(channel, Wrong) and ds.engine not in ("duckdb", "pyspark"):
            raise UsageError(
                f"channel '{channel.name}': needs everybody's values here, and only counts leave a database; "
                "export the columns to Parquet and open them with DuckDB"
            )


def _row(
    ds: Dataset, subset: Subset, channels: Mapping[str, Channel], attacker: str, missing: str
) -> dict[str, Any]:
    from sudare.risk.measure import row_of

    mine = {name: channels[name] for name in subset if name in channels}
    ranged = [found for found in mine.values() if not isinstance(found, Recode)]
    profile, risk = _measured(ds, subset, mine, attacker, missing)
    return row_of(
        subset,
        records=profile.records,
        users=profile.users,
        values=profile.values,
        alpha=None if ranged else formulas.alpha(profile),
        risk=risk,
        attacker=attacker,
        model="exact",
        bounded=not ranged,
        channel="; ".join(f"{name} {found.name}" for name, found in mine.items()) or "as it is",
    )


def _measured(
    ds: Dataset, subset: Subset, channels: Mapping[str, Channel], attacker: str, missing: str
) -> tuple[Profile, float]:
    """The profile of what is seen of the attributes, and the risk."""
    strong = attacker != "uniform"
    wrong = next((channel for channel in channels.values() if isinstance(channel, Wrong)), None)
    if ds.view is None and len(channels) == (wrong is not None):  # where the table lives
        (profile,) = engine.profiles(ds, [subset], missing=missing, every_attacker=strong)
        if wrong is None:
            return profile, formulas.ATTACKERS[attacker](profile)
        return profile, formulas.wrong_risk(profile, risk_ibis.lucky(ds, *subset, missing=missing), wrong.q)
    data, values = coded_values(ds, subset, missing=missing)
    profile = profiles_of_codes(_recoded(data, values, channels), [subset], strong)[subset]
    for name, channel in channels.items():
        if isinstance(channel, Wrong):
            return profile, formulas.wrong_risk(profile, lucky(data, name), channel.q)
        if isinstance(channel, Within):
            return profile, ranged_risk(data, name, *channel.spread(values[name]))
    return profile, formulas.ATTACKERS[attacker](profile)


def _recoded(data: Coded, values: Mapping[str, list[Any]], channels: Mapping[str, Channel]) -> Coded:
    """The data with the coarser values in place of the true ones."""
    codes, widths = dict(data.codes), dict(data.widths)
    for name, channel in channels.items():
        if isinstance(channel, Recode):
            place, _, widths[name] = channel.spread(values[name])
            codes[name] = place[codes[name]].astype(np.int32)
    return replace(data, codes=codes, widths=widths)
