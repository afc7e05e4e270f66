"""What an attack is given and what it gives back: a Case, and a Finding."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sudare.attacks.scoring import Ties, wilson
from sudare.data.dataset import Dataset
from sudare.data.published import Published
from sudare.engine.pair import Pair
from sudare.engine.sample import drawn_rows
from sudare.errors import SudareWarning
from sudare.keys import Key

if TYPE_CHECKING:
    from sudare.data.release import Release
    from sudare.methods.recipe import Recipe

Ints = NDArray[np.int64]


class NotRun(Exception):
    """An attack that fits was not run; the message is the reason, for `.skipped`."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What an attack found: a rate over what was attacked, beside what chance or an outsider would get.

    `attacked` are the rows or people tried (the attack's `target` says which), out of `of`. `rate_real` is the rate of
    the real ones where there are dummies, `control` the rate for people who are not in the release. `details` are
    further numbers by name, `work` what it cost in units of `sudare.budget`.
    """

    rate: float | None
    baseline: float | None
    low: float | None
    high: float | None
    attacked: int
    of: int = 0
    gave_up: int = 0
    control: float | None = None
    rate_real: float | None = None
    tied: int = 0
    from_ties: float = 0.0
    target: str | None = None
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    work: float = 0.0

    @classmethod
    def of_share(cls, right: float, attacked: int, *, baseline: float | None = None, **more: Any) -> Finding:
        """A share of `attacked` independent tries, with Wilson's interval.

        >>> found = Finding.of_share(3, 4)
        >>> found.rate, round(found.low, 2), round(found.high, 2)
        (0.75, 0.3, 0.95)
        """
        rate = right / attacked
        low, high = wilson(rate, attacked)
        return cls(rate=rate, baseline=baseline, low=low, high=high, attacked=attacked, **more)


@dataclass(frozen=True, eq=False, kw_only=True)
class Case:
    """A table, what was published of it, and how much an attack may spend on them.

    An attacker reads `seen`, never `pair` or `truth`: these are for the score. `work` is the attack's share of the
    budget in units of `sudare.budget`; whoever draws, draws as much as it pays for.
    """

    original: Dataset
    releases: tuple[Published, ...]
    pair: Pair
    ties: Ties = "expected"
    work: float = 0.0
    control: Dataset | None = None

    @property
    def seen(self) -> Pair:
        """Original and release as an attacker has them in hand."""
        return self.pair.without_truth()

    @property
    def published(self) -> Published:
        """The release; the first one where there are several."""
        return self.releases[0]

    @property
    def truth(self) -> Ints | None:
        """The original row of every release row (-1 = a dummy), None if nobody knows. For scoring only."""
        return self.pair.truth

    @cached_property
    def recipe(self) -> Recipe | None:
        """How the release was made, as its card says; None of a foreign one."""
        from sudare.methods.recipe import Recipe

        if self.published.release is not None:
            return self.published.release.recipe
        listed = self.published.data.published.get("recipe")
        return Recipe.from_steps(listed) if listed else None

    def draw(self, of: int, most: int, purpose: str = "rows") -> Ints:
        """At most `most` of the numbers below `of`, ascending: the same on every machine, larger draws hold smaller."""
        return drawn_rows(of, most, purpose)

    def part(self, rows: Ints) -> Dataset:
        """Some rows of the original, in this process, with its roles."""
        table = self.original.to_pyarrow().take(rows)
        return Dataset.from_arrow(table, self.pair.roles, name="part of the original")

    def rerun(self, part: Dataset) -> Release:
        """The recipe on a part of the original under a demonstration key that nobody else's draws depend on."""
        from sudare.methods.recipe import anonymize

        if self.recipe is None:
            raise NotRun("needs the recipe, to run it again on a part of the table")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SudareWarning)
            return anonymize(part, self.recipe, key=Key.demo(0))
