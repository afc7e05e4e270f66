"""What the recipient of a release learns: estimates with intervals, posterior beliefs, query workloads."""

from sudare.callable_package import as_verb

as_verb(__name__, "sudare.estimate.measure:estimate")
