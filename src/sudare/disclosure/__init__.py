"""The measures of statistical disclosure control: how well the people of a table hide behind each other."""

from sudare.callable_package import as_verb

as_verb(__name__, "sudare.disclosure.measure:disclosure")
