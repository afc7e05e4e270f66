"""What the attacker is supposed to know: the sets of attributes whose risk is measured."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from sudare.data.dataset import Dataset
from sudare.errors import UsageError

Subset = tuple[str, ...]


def subsets(
    ds: Dataset, attributes: str | Sequence[str] | None, combine: int | Sequence[str]
) -> list[Subset]:
    """Every set of attributes to measure: single ones, all sets of up to `combine`, or those named like "date+goods".

    Names with a plus stand for a set, in `attributes` as in `combine`; a column whose own name holds a plus wins.
    """
    given = [attributes] if isinstance(attributes, str) else attributes
    named = (
        [(name,) for name in default_attributes(ds)] if given is None else [split(ds, text) for text in given]
    )
    place = {name: number for number, name in enumerate(ds.columns)}
    single = sorted({name for subset in named if len(subset) == 1 for name in subset}, key=place.__getitem__)
    sets = [subset for subset in named if len(subset) > 1]
    if isinstance(combine, int):
        found = [*_up_to(combine, single), *sets]
    else:
        extra = [combine] if isinstance(combine, str) else list(combine)
        found = [*((name,) for name in single), *sets, *(split(ds, text) for text in extra)]
    if not found:
        raise UsageError(f"{ds.name}: no attribute to measure; name one with attributes=")
    return list(dict.fromkeys(found))


def split(ds: Dataset, text: str | Sequence[str]) -> Subset:
    """The columns of "date+goods", checked; order and repetition do not matter.

    The user column itself is no knowledge but the answer.
    """
    if isinstance(text, str):
        names = [text] if text in ds.columns else [part.strip() for part in text.split("+")]
    else:
        names = list(text)
    ds.require(names)
    if ds.roles.user in names:
        raise UsageError(f"{ds.name}: '{ds.roles.user}' is the user column; name other attributes")
    return tuple(sorted(set(names), key=ds.columns.index))


def default_attributes(ds: Dataset) -> list[str]:
    """Every column that may be published but the user."""
    return [name for name in ds.columns if ds.roles.role_of(name) not in ("user", "identifier", "record")]


def _up_to(size: int, names: list[str]) -> list[Subset]:
    return [subset for n in range(1, min(size, len(names)) + 1) for subset in combinations(names, n)]
