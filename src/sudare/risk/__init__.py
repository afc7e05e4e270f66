"""What an attacker with background knowledge learns from an attribute, a set of attributes, a release (P1)."""

from sudare.callable_package import as_verb

as_verb(__name__, "sudare.risk.measure:risk")
