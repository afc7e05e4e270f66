"""`sudare check`: the gate for CI. Exit code 1 when a limit of the policy is broken."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sudare.cli.common import Format, emit, with_source

if TYPE_CHECKING:
    from sudare.data.dataset import Dataset
    from sudare.policy.limits import Policy
else:
    Dataset = object


class CheckFormat(StrEnum):
    """How the result is printed."""

    table = "table"
    json = "json"
    csv = "csv"
    md = "md"
    junit = "junit"


def register(app: typer.Typer) -> None:
    app.command("check")(with_source(check))


def check(
    ds: Dataset,
    policy: Annotated[
        str | None, typer.Option("--policy", help="A sudare.toml with [policy] (default: ./sudare.toml).")
    ] = None,
    preset: Annotated[str | None, typer.Option("--preset", help="ema-0070 or k5 instead of a file.")] = None,
    attack: Annotated[
        str | None,
        typer.Option("--attack", help="What `sudare attack --format json` printed (a file), or a rate."),
    ] = None,
    format: Annotated[
        CheckFormat, typer.Option("--format", "-f", help="How it is printed.")
    ] = CheckFormat.table,
) -> None:
    """Check a table against the policy of sudare.toml."""
    from sudare.data.published import Published
    from sudare.errors import PolicyError
    from sudare.policy.check import check as measure

    Published.of(ds)  # a card that belongs to another release says nothing of this one
    result = measure(ds, _policy(policy, preset), attack=_attack(attack))
    if format is CheckFormat.junit:
        typer.echo(result.junit(), nl=False)
    else:
        emit(result, Format(format.value))
    if not result.passed:
        raise PolicyError(f"the release breaks its policy: {', '.join(result.failures)}")


def _policy(policy: str | None, preset: str | None) -> Policy:
    from pathlib import Path

    from sudare.errors import UsageError
    from sudare.policy.limits import Policy

    if policy is not None and preset is not None:
        raise UsageError("give --policy or --preset, not both (a [policy] may name a preset)")
    if preset is not None:
        return Policy.of({"preset": preset}, where="--preset")
    if policy is None and not Path("sudare.toml").is_file():
        raise UsageError("no policy: no sudare.toml here; name one with --policy, or use --preset k5")
    return Policy.of(Path(policy or "sudare.toml"))


def _attack(given: str | None) -> Any:
    import json
    from pathlib import Path

    from sudare.errors import UsageError

    if given is None:
        return None
    try:
        return float(given)
    except ValueError:
        pass
    try:
        return json.loads(Path(given).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, ValueError, RecursionError):
        raise UsageError(f"--attack {given}: no JSON of `sudare attack --format json`, no number") from None
