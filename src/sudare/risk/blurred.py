"""The risk when the attacker's knowledge is blurred: rounded, within a width, or wrong at times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sudare.data.dataset import Dataset
from sudare.engine.coded import Coded, profiles_of_codes, ranged_risk
from sudare.engine.counts import Counts, counts_of
from sudare.engine.profile import Profile
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
    counts = counts_of(ds)
    for subset in sets:
        _check(counts, subset, [channels[name] for name in subset if name in channels], attacker)
    counts.check()
    return [_row(counts, subset, channels, attacker, missing) for subset in sets]


def _check(counts: Counts, subset: Subset, channels: Sequence[Channel], attacker: str) -> None:
    """Refuse what cannot be measured before anything is."""
    for channel in channels:
        if not isinstance(channel, Recode) and (len(subset) > 1 or attacker != "uniform"):
            raise UsageError(
                f"channel '{channel.name}': measured for one attribute and the uniform attacker; "
                "use round:... or a unit like hour for sets and other attackers"
            )
        if not isinstance(channel, Wrong) and not counts.values_leave:
            raise UsageError(
                f"channel '{channel.name}': needs everybody's values here, and only counts leave a database; "
                "export the columns to Parquet and open them with DuckDB"
            )


def _row(
    counts: Counts, subset: Subset, channels: Mapping[str, Channel], attacker: str, missing: str
) -> dict[str, Any]:
    from sudare.risk.measure import row_of

    mine = {name: channels[name] for name in subset if name in channels}
    ranged = [found for found in mine.values() if not isinstance(found, Recode)]
    profile, risk = _measured(counts, subset, mine, attacker, missing)
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
    counts: Counts, subset: Subset, channels: Mapping[str, Channel], attacker: str, missing: str
) -> tuple[Profile, float]:
    """The profile of what is seen of the attributes, and the risk; values are fetched where counts will not do."""
    strong, name = attacker != "uniform", subset[0]
    channel = next((channel for channel in channels.values() if not isinstance(channel, Recode)), None)
    if not channels or isinstance(channel, Wrong):
        (profile,) = counts.profiles([subset], missing=missing, every_attacker=strong)
    else:
        data, values = counts.coded_values(subset, missing=missing)
        profile = profiles_of_codes(_recoded(data, values, channels), [subset], strong)[subset]
    if isinstance(channel, Wrong):
        return profile, formulas.wrong_risk(profile, counts.lucky(name, missing=missing), channel.q)
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
