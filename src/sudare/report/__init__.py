"""Results become tables, charts and one self-contained HTML file."""

from sudare.callable_package import as_verb

as_verb(__name__, "sudare.report.build:report")
