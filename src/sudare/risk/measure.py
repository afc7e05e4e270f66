"""sudare.risk: what an attacker who knows something about a person's record learns from a table (P1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sudare.constraints import AtLeast
from sudare.engine.counts import LARGE, counts_of
from sudare.engine.profile import Profile
from sudare.errors import UsageError, nearest
from sudare.parameters import checked
from sudare.risk import formulas
from sudare.risk.knowledge import Subset, subsets
from sudare.risk.result import RiskResult

if TYPE_CHECKING:
    import os

    from sudare.data.dataset import Dataset
    from sudare.keys import Key

Model = Literal["exact", "low-cost", "sample"]
Attacker = Literal["uniform", "proportional", "bayes"]
Missing = Literal["value", "drop"]


@checked
def risk(
    ds: Dataset,
    *,
    attributes: str | Sequence[str] | None = None,
    combine: Annotated[int, AtLeast(1)] | Sequence[str] = 1,
    model: Model = "exact",
    sample_size: Annotated[int, AtLeast(1)] | None = None,
    attacker: Attacker = "uniform",
    missing: Missing = "value",
    key: Key | bytes | str | os.PathLike[str] | None = None,
    across: bool | str | Sequence[str] = False,
    channel: Mapping[str, str | Sequence[str]] | None = None,
    known: Annotated[int, AtLeast(1)] | Iterable[int] | None = None,
    release: Any = None,
    truth: Iterable[Any] | None = None,
    strategy: Literal["auto", "plain", "kernel"] = "auto",
    memory: int | None = None,
) -> RiskResult:
    """The risk R(X) that a record known by its X identifies its owner, for every attribute or set of attributes.

    `model`: exact (the mean model), low-cost (|D_X|/m, nothing but counts is read) or sample (the records of
    `sample_size` values drawn without replacement). `attacker`: guesses among the owners of the known value
    uniformly, in proportion to their records, or the most likely one (bayes). `across`: two values known from
    different records of the same person, for the pairs named like "date+goods" (True: for all).
    `release`: a Release (or its table, with `truth`): the risk that is left when the attacker knows true records
    and matches them with the published ones.
    `channel`: what the attacker sees of an attribute's true value, e.g. {"time": "hour", "price": "within:1"}.
    `known`: the attacker knows so many different records of one person, each by these attributes (see KnownResult);
    then `channel` may name several resolutions, {"date": ["day", "month"]}, and works with `release`.
    `strategy`: how an exact risk is counted, by one query per set (plain) or one pass over the rows (kernel).

    >>> import sudare
    >>> shop = sudare.open("example:purchases", user="user")
    >>> [(row["attributes"], round(row["risk"], 2)) for row in sudare.risk(shop, attributes=["date", "goods"]).rows]
    [(['date'], 0.65), (['goods'], 0.55)]
    """
    if sample_size is not None and model != "sample":
        raise UsageError("sample_size: only the sampling model draws values; add model='sample'")
    if truth is not None and release is None:
        raise UsageError("truth: belongs to a release; give release= too")
    _check_together(
        model, release=release is not None, channel=bool(channel) and known is None, across=bool(across)
    )
    asked = subsets(ds, attributes, combine)
    names = list(dict.fromkeys(name for subset in asked for name in subset))
    for name in ds.require(list(channel or ())):
        if name not in names:
            raise UsageError(
                f"channel: '{name}' is not among the measured attributes; {nearest(name, names)}"
            )
    if known is not None:
        _check_known(model, attacker, across)
        from sudare.risk.known import known_result

        return known_result(ds, asked, known, channel, release, truth, missing, _seed(key))
    counts = counts_of(ds)
    sets = [s for s in asked if missing == "value" or counts.count_records(s, missing=missing)]
    profiles: dict[Subset, Profile] = {}
    more: tuple[str, ...] = ()
    if release is not None:
        from sudare.risk.after import after_rows

        rows, more = after_rows(ds, sets, release, truth, attacker, missing)
    elif channel:
        from sudare.risk.blurred import blurred_rows

        rows = blurred_rows(ds, sets, _single(channel), model, attacker, missing)
    elif model == "exact":
        counts.check_values(names)
        strong = attacker != "uniform"
        found = counts.profiles(
            sets, missing=missing, every_attacker=strong, strategy=strategy, memory=memory
        )
        profiles = dict(zip(sets, found))
        rows = [_exact_row(profile, attacker) for profile in found]
    else:
        rows = _approximate_rows(ds, sets, model, sample_size, attacker, missing, key)
    if across:
        from sudare.risk.across import across_rows

        rows += across_rows(ds, sets, across, attacker, missing)
    rows += [_empty_row(subset, attacker, model) for subset in asked if subset not in sets]
    notes = (*_notes(missing, sample_size, rows), *more)
    return RiskResult(rows=riskiest_first(rows), notes=notes, missing=missing, dataset=ds, profiles=profiles)


def riskiest_first(rows: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """By falling risk; of risks equal but for the last digits, the set with fewer attributes first."""
    return tuple(sorted(rows, key=lambda row: (-round(row["risk"], 12), len(row["attributes"]))))


def row_of(
    attributes: Subset, *, records: int, users: int | None, values: int, alpha: float | None, **rest: Any
) -> dict[str, Any]:
    """A row of the result, columns in their fixed order; without `bounded` the low-cost model does not apply."""
    bounded = rest.pop("bounded", True)
    return {
        "attributes": list(attributes),
        "records": records,
        "users": users,
        "values": values,
        "alpha": alpha,
        "risk": rest.pop("risk"),
        "low_cost": formulas.low_cost(values, records) if bounded else None,
        "low_cost_error": None if alpha is None else formulas.low_cost_error(alpha),
        **rest,
    }


def _empty_row(subset: Subset, attacker: str, model: str) -> dict[str, Any]:
    """Of an attribute that no record has a value in nobody knows anything."""
    rest = {"risk": 0.0, "bounded": False, "attacker": attacker, "model": model}
    return row_of(subset, records=0, users=0, values=0, alpha=None, **rest)


def _exact_row(profile: Profile, attacker: str) -> dict[str, Any]:
    return row_of(
        profile.attributes,
        records=profile.records,
        users=profile.users,
        values=profile.values,
        alpha=formulas.alpha(profile),
        risk=formulas.ATTACKERS[attacker](profile),
        attacker=attacker,
        model="exact",
    )


def _approximate_rows(
    ds: Dataset,
    sets: list[Subset],
    model: str,
    sample_size: int | None,
    attacker: str,
    missing: str,
    key: Key | bytes | str | os.PathLike[str] | None,
) -> list[dict[str, Any]]:
    if ds.rows < LARGE:  # of a larger table only what the model needs is read
        counts_of(ds).check()
    if model == "low-cost":
        return [_low_cost_row(ds, subset, attacker, missing) for subset in sets]
    from sudare.risk.sampled import sampled_row

    return [sampled_row(ds, subset, sample_size, attacker, missing, key) for subset in sets]


def _low_cost_row(ds: Dataset, subset: Subset, attacker: str, missing: str) -> dict[str, Any]:
    values, records, users = counts_of(ds).count_values(subset, missing=missing)
    return row_of(
        subset,
        records=records,
        users=users,
        values=values,
        alpha=None,
        risk=formulas.low_cost(values, records),
        attacker=attacker,
        model="low-cost",
    )


def _check_together(model: str, **asked: bool) -> None:
    """Refuse what would be left out of the answer without a word."""
    if asked["release"] and model != "exact":
        raise UsageError("release: what is left is measured exactly; drop model=")
    both = [name for name, wanted in asked.items() if wanted]
    if len(both) > 1:
        raise UsageError(f"{' and '.join(both)}: measured one at a time; drop all but one")


def _check_known(model: str, attacker: str, across: bool | str | Sequence[str]) -> None:
    if model != "exact" or attacker != "uniform" or across:
        raise UsageError("known: measured for the uniform attacker; drop model=, attacker= and across=")


def _seed(key: Key | bytes | str | os.PathLike[str] | None) -> int:
    """What a draw that nobody publishes depends on: the key if there is one, else always the same."""
    from sudare.keys import Key, generator

    return 1 if key is None else int(generator(Key.of(key), "known records").integers(2**62))


def _single(channel: Mapping[str, str | Sequence[str]]) -> dict[str, str]:
    for name, given in channel.items():
        if not isinstance(given, str) and len(given) != 1:
            raise UsageError(f"channel: '{name}' has several resolutions; give one, or add known=")
    return {name: given if isinstance(given, str) else given[0] for name, given in channel.items()}


def _notes(missing: str, sample_size: int | None, rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    notes = {
        "drop": "Missing values: records with a null or an empty text in the attribute are left out.",
        "value": "Missing values: a null and an empty text each count as a value of their own.",
    }
    cut = sum(row.get("sample_size", sample_size) < sample_size for row in rows) if sample_size else 0
    few = f"Sample: {cut} of {len(rows)} sets have fewer than {sample_size} values; all their records were read."
    return (notes[missing], *([few] if cut else []))
