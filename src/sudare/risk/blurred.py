"""The risk when the attacker's knowledge is blurred: rounded, within a width, or wrong at times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sudare.data.dataset import Dataset
from sudare.engine import risk as engine
from sudare.engine.risk_blur import ranged_risk, wrong_risk
from sudare.engine.risk_lattice import Coded, profiles_of_codes
from sudare.engine.risk_rows import coded_values
from sudare.errors import UsageError
from sudare.risk import formulas
from sudare.risk.channels import Channel, Recode, Wrong, parse
from sudare.risk.knowledge import Subset


def blurred_rows(
    ds: Dataset, sets: Sequence[Subset], channel: Mapping[str, str], model: str, attacker: str, missing: str
) -> list[dict[str, Any]]:
    """A row per set of attributes, with a column that says what the attacker sees; R_K is never above R."""
    engine.check(ds)
    channels = {name: parse(text) for name, text in channel.items()}
    if model != "exact":
        raise UsageError("channel: blurred knowledge is measured exactly; drop model=")
    return [_row(ds, subset, channels, attacker, missing) for subset in sets]


def _row(
    ds: Dataset, subset: Subset, channels: Mapping[str, Channel], attacker: str, missing: str
) -> dict[str, Any]:
    from sudare.risk.measure import row_of

    data, values = coded_values(ds, subset, missing=missing)
    mine = {name: channels[name] for name in subset if name in channels}
    coarse = _recoded(data, values, mine)
    profile = profiles_of_codes(coarse, [subset], attacker != "uniform")[subset]
    ranged = {name: found for name, found in mine.items() if not isinstance(found, Recode)}
    return row_of(
        subset,
        records=profile.records,
        users=data.users,
        values=profile.values,
        alpha=None if ranged else formulas.alpha(profile),
        risk=_ranged(data, values, subset, ranged, attacker)
        if ranged
        else formulas.ATTACKERS[attacker](profile),
        attacker=attacker,
        model="exact",
        bounded=not ranged,
        channel="; ".join(f"{name} {found.name}" for name, found in mine.items()) or "as it is",
    )


def _recoded(data: Coded, values: Mapping[str, list[Any]], channels: Mapping[str, Channel]) -> Coded:
    """The data with the coarser values in place of the true ones."""
    codes, widths = dict(data.codes), dict(data.widths)
    for name, channel in channels.items():
        if isinstance(channel, Recode):
            place, _, widths[name] = channel.spread(values[name])
            codes[name] = place[codes[name]].astype(np.int32)
    return replace(data, codes=codes, widths=widths)


def _ranged(
    data: Coded,
    values: Mapping[str, list[Any]],
    subset: Subset,
    channels: Mapping[str, Channel],
    attacker: str,
) -> float:
    name, channel = next(iter(channels.items()))
    if len(subset) > 1 or attacker != "uniform":
        raise UsageError(
            f"channel '{channel.name}': measured for one attribute and the uniform attacker; "
            "use round:... or a unit like hour for sets and other attackers"
        )
    if isinstance(channel, Wrong):
        return wrong_risk(data, name, channel.q)
    return ranged_risk(data, name, *channel.spread(values[name]))
