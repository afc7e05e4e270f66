"""Running attacks one after another within a budget; whatever was not run is named with its reason."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, NamedTuple

from sudare.attacks.base import Attack
from sudare.attacks.case import Case, Finding, NotRun
from sudare.errors import SudareError, UsageError
from sudare.progress import stage
from sudare.registry import name_of

STOPPED = "stopped before it was run"


@dataclass(frozen=True)
class Done:
    """An attack that was run, and what it found."""

    label: str
    attack: Attack
    finding: Finding
    seconds: float


class Outcome(NamedTuple):
    """What was run, what fits and was not run with the reason, and whether somebody stopped it."""

    done: list[Done]
    skipped: list[tuple[str, str]]
    stopped: bool = False


def run_all(chosen: Sequence[Attack], case: Case, *, by_name: bool) -> Outcome:
    """Every attack on the case; `case.work` is shared by weight, and what one leaves the next ones get.

    What was asked for by name must run. Whoever stops the work keeps what was found so far.
    """
    able, skipped = _able(chosen, case, by_name=by_name)
    done: list[Done] = []
    left, stopped = case.work, False
    for number, one in enumerate(able):
        stage(f"attack {label(one)}", number, len(able))
        share = left * one.weight / sum(other.weight for other in able[number:])
        try:
            done.append(_run(one, replace(case, work=share)))
        except (NotRun, SudareError) as reason:
            if by_name or (isinstance(reason, SudareError) and case.pair.here):
                raise _as_error(reason, label(one)) from None
            skipped.append((label(one), str(reason)))
        except KeyboardInterrupt:
            if not done:
                raise
            skipped += [(label(rest), STOPPED) for rest in able[number:]]
            stopped = True
            break
        else:
            left = max(left - done[-1].finding.work, 0.0)
    if not done:
        raise UsageError("; ".join(f"{name}: {reason}" for name, reason in skipped))
    return Outcome(done, skipped, stopped)


def _able(
    chosen: Sequence[Attack], case: Case, *, by_name: bool
) -> tuple[list[Attack], list[tuple[str, str]]]:
    """The attacks that can run where the rows are, and the reasons of the others."""
    reasons = [(one, one.refusal(case.seen)) for one in chosen]
    refused = [(label(one), reason) for one, reason in reasons if reason is not None]
    if refused and (by_name or len(refused) == len(chosen)):
        names, why = ", ".join(name for name, _ in refused), refused[0][1]
        raise UsageError(f"{names}: {why}; open a sample with DuckDB")
    return [one for one, reason in reasons if reason is None], refused


def _run(one: Attack, case: Case) -> Done:
    begin = time.perf_counter()
    found = one.measure(case)
    return Done(label(one), one, found, time.perf_counter() - begin)


def _as_error(reason: Exception, name: str) -> SudareError:
    return reason if isinstance(reason, SudareError) else UsageError(f"{name}: {reason}")


def label(one: Attack) -> str:
    """The attack's name with the parameters that differ from the default.

    >>> from sudare.attacks.plugins.euclid import Euclid
    >>> label(Euclid()), label(Euclid(fallback=True))
    ('euclid', 'euclid(fallback)')
    """
    changed = [(f.name, getattr(one, f.name)) for f in fields(one) if _differs(one, f)]  # type: ignore[arg-type]
    words = [name if value is True else f"{name}={_shown(value)}" for name, value in changed]
    return name_of(one) + (f"({', '.join(words)})" if words else "")


def _differs(one: Attack, field: Any) -> bool:
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return bool(getattr(one, field.name) != default)


def _shown(value: Any) -> str:
    if not isinstance(value, (list, tuple)):
        return str(value)
    return "+".join(map(str, value)) if 0 < len(value) <= 3 else str(len(value) or "none")
