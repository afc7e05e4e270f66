"""The rows of a DisclosureResult: one number each, with the sentence that says what it means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sudare.disclosure.reidentification import Reidentification
from sudare.disclosure.result import DisclosureResult
from sudare.disclosure.suda import attribute_rows

Rows = Iterator[dict[str, Any]]
WHOLE: tuple[str, ...] = ()  # all quasi-identifiers together, named once in the notes


def rows_of(found: DisclosureResult) -> tuple[dict[str, Any], ...]:
    """All measures of a result in a fixed order."""
    parts = (
        _class_rows,
        _risk_rows,
        _presence_rows,
        _population_rows,
        _sensitive_rows,
        _suda_rows,
        _attribute_rows,
    )
    return tuple(row for part in parts for row in part(found))


def _row(
    measure: str, variant: str, attributes: Sequence[str], value: float | None, meaning: str
) -> dict[str, Any]:
    return {
        "measure": measure,
        "variant": variant,
        "attributes": list(attributes),
        "value": value,
        "meaning": meaning,
    }


def _class_rows(found: DisclosureResult) -> Rows:
    if found.sizes is None:
        return
    yield _row("k", "missing is a value", WHOLE, found.k, "people in the smallest class")
    yield _row("k", "missing is any value", WHOLE, found.k_wildcard, "fewest people a record can hide among")
    yield _row("classes", "", WHOLE, found.classes, "different combinations of the quasi-identifiers")
    alone = int(found.sizes.records[found.sizes.persons == 1].sum()) / max(found.records, 1)
    meaning = f"classes of one person ({alone:.1%} of records)"
    yield _row("uniques", "in the table", WHOLE, found.uniques, meaning)


def _risk_rows(found: DisclosureResult) -> Rows:
    if found.prosecutor is not None:
        yield from _one_attacker("prosecutor", found.prosecutor)
    if found.journalist_models:
        yield from _journalist_range(found.journalist_models)
    elif found.journalist is not None:
        yield from _one_attacker("journalist", found.journalist)
    if found.prosecutor is not None:
        yield _row("marketer", "mean", WHOLE, found.marketer, "share of records an attacker of all finds")


def _one_attacker(name: str, risk: Reidentification) -> Rows:
    yield _row(name, "largest", WHOLE, risk.largest, "chance to find the person least hidden")
    yield _row(name, "mean", WHOLE, risk.mean, "chance to find a person, over records")
    yield _row(
        name, f"above {risk.threshold:g}", WHOLE, risk.at_risk, "share of records with a larger chance"
    )


def _journalist_range(models: Mapping[str, Reidentification]) -> Rows:
    """The lowest and the highest model of every number."""
    threshold = next(iter(models.values())).threshold
    meanings = {
        "largest": ("largest", "maximum re-identification risk, not knowing who is in the table"),
        "mean": ("mean", "expected share of records re-identified"),
        "at_risk": (f"above {threshold:g}", "share of records with a larger risk"),
    }
    for name, (variant, meaning) in meanings.items():
        by_value = sorted(models, key=lambda model: float(getattr(models[model], name)))
        for end, model in (("lowest model", by_value[0]), ("highest model", by_value[-1])):
            value = getattr(models[model], name)
            yield _row("journalist", f"{variant}, {end}", WHOLE, value, f"{meaning} ({model})")


def _presence_rows(found: DisclosureResult) -> Rows:
    if found.presence is None:
        return
    low, high = found.presence.delta_low, found.presence.delta_high
    yield _row("k-map", "", WHOLE, found.presence.k_map, "fewest people of the population in a class")
    yield _row("delta-presence", "lowest", WHOLE, low, "smallest chance that a person is in the table")
    yield _row("delta-presence", "largest", WHOLE, high, "largest chance that a person is in the table")


def _population_rows(found: DisclosureResult) -> Rows:
    for model, uniques in found.population.items():
        meaning = (
            "estimated people unique in the population" if uniques is not None else "the model does not fit"
        )
        yield _row("population uniques", model, WHOLE, uniques, meaning)


def _sensitive_rows(found: DisclosureResult) -> Rows:
    for column, l in found.diversity.items():
        yield _row("l", "distinct", [column], l.distinct, "fewest different values in a class")
        yield _row("l", "entropy", [column], l.entropy, "exp(entropy) of the least diverse class")
        yield _row("l", "frequency", [column], l.frequency, "1 / share of the commonest value of a class")
        yield _row(
            "l", f"recursive c={l.c:g}", [column], l.recursive, "largest l with r1 < c (r_l + ... + r_m)"
        )
    for column, t in found.closeness.items():
        for variant in ("equal", "ordered", "hierarchical"):
            if (distance := getattr(t, variant)) is not None:
                yield _row("t", variant, [column], distance, "largest distance of a class from the table")
    for column, like in found.likeness.items():
        lacking = f"; {like.lacking} classes lack a value" if like.lacking else ""
        yield _row(
            "delta",
            "occurring values",
            [column],
            like.delta,
            f"largest |log(class share / table share)|{lacking}",
        )
        yield _row("beta", "basic", [column], like.beta, "largest relative gain of a value's share")
        yield _row(
            "beta",
            "enhanced",
            [column],
            like.enhanced,
            "the same, infinite where it passes -log(table share)",
        )


def _suda_rows(found: DisclosureResult) -> Rows:
    if found.suda is None:
        return
    risky = int((found.suda.score > 0).sum())
    yield _row("special uniques", "records", WHOLE, risky, "records with a minimal sample unique")
    for size, count in enumerate(found.suda.by_size.tolist(), start=1):
        if count:
            yield _row("special uniques", f"of size {size}", WHOLE, count, "minimal sample uniques")
    yield _row(
        "suda",
        "largest",
        WHOLE,
        float(found.suda.score.max(initial=0)),
        "largest SUDA score of a record",
    )
    yield _row(
        "dis-suda",
        "largest",
        WHOLE,
        float(found.suda.dis.max(initial=0)),
        "largest chance of a correct match",
    )
    for attribute, percent in attribute_rows(found.suda, found.quasi):
        yield _row("suda", "contribution %", [attribute], percent, "part of the total score that involves it")


def _attribute_rows(found: DisclosureResult) -> Rows:
    for power in found.attributes:
        yield _row("distinction", "", power.attributes, power.distinction, "different values / records")
        yield _row(
            "separation", "", power.attributes, power.separation, "share of pairs of records that differ"
        )
