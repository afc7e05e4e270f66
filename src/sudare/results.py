"""What every result can do: a frame, a dictionary, a chart, a table on the terminal and in a notebook."""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from sudare.errors import UsageError
from sudare.version import __version__

if TYPE_CHECKING:
    import altair
    import pandas

Row = Mapping[str, Any]
# what means something in Markdown; a link ends in ], and a backslash counts before punctuation only
MARKUP = re.compile(
    r"[`*\]|#]|\\(?=[!-/:-@\[-`{-~])|(?<!\w)_|_(?!\w)|~(?=~)|:(?=//)|(?<=www)\.|(?<=\w)@(?=\w)"
)
JOINERS = "\u200c\u200d"  # parts of words and of emoji


@dataclass(frozen=True, repr=False)
class Result:
    """Rows of numbers with the notes that a reader needs to understand them."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    command: ClassVar[str] = ""

    def to_frame(self) -> pandas.DataFrame:
        """The rows as a pandas frame."""
        import pandas

        return pandas.DataFrame([dict(row) for row in self.rows], columns=self.columns)

    def to_dict(self) -> dict[str, Any]:
        """The same as `--format json` prints."""
        body = {"command": self.command, "version": __version__, "rows": [dict(row) for row in self.rows]}
        return plain({**body, **self.extra(), "notes": list(self.notes)})

    def extra(self) -> dict[str, Any]:
        """What a result says beyond its rows; subclasses override."""
        return {}

    def chart(self) -> altair.Chart:
        """The picture of the result; subclasses override."""
        raise UsageError(f"a result of '{self.command}' has no chart; use .to_frame()")

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def __str__(self) -> str:
        lines = text_table(self.columns, [[row.get(c) for c in self.columns] for row in self.rows])
        return "\n".join([lines, *map(visible, self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(show(row.get(c)))}</td>" for c in self.columns) + "</tr>"
            for row in self.rows
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


class Exact(float):
    """A number that is shown with all its digits, because fewer would put it on the other side of a limit."""

    @classmethod
    def beside(cls, value: float, limit: float) -> float:
        """The number, exact if it would read as its limit and is not.

        >>> show(Exact.beside(0.0500001, 0.05)), show(Exact.beside(0.31234567, 0.05))
        ('0.0500001', '0.31235')
        """
        return cls(value) if value != limit and show(float(value)) == show(float(limit)) else value


def show(value: Any) -> str:
    """A value for people: five significant digits, thousands separated, lists joined by +.

    >>> show(0.18599), show(38087), show(None), show(["date", "goods"])
    ('0.18599', '38,087', '', 'date + goods')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Exact):
        return repr(float(value))
    if isinstance(value, float):
        return show_float(value)
    if isinstance(value, (list, tuple)):
        return " + ".join(visible(str(v)) for v in value)
    return visible(str(value))


def visible(text: str) -> str:
    """Text that a terminal shows and does not obey: control and direction marks are written out.

    >>> print(visible("a\x1b[2Jb"), visible("茶 \u3000 é"))
    a\\x1b[2Jb 茶 \u3000 é
    """
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if _steers(c) else c for c in text)


def in_markdown(text: str) -> str:
    """Text that Markdown shows as it is: no link, no tag, no emphasis, no column of a table.

    >>> print(in_markdown("[a](http://b) <i>*c*</i> | d_e _f_"))
    [a\\](http\\://b) &lt;i&gt;\\*c\\*&lt;/i&gt; \\| d_e \\_f\\_
    """
    escaped = html.escape(visible(text), quote=False)
    return MARKUP.sub(r"\\\g<0>", escaped)


def _steers(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in JOINERS


def show_float(value: float) -> str:
    """
    >>> show_float(10831.4), show_float(1.0000044), show_float(0.0000123)
    ('10,831', '1', '1.23e-05')
    """
    if not math.isfinite(value):
        return "" if math.isnan(value) else ("∞" if value > 0 else "-∞")
    if value != 0 and abs(value) < 1e-3:
        return f"{value:.3g}"
    if abs(value) >= 1e4:
        return f"{value:,.0f}"
    return f"{value:,.5g}"


def text_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Columns aligned by blanks: numbers to the right, words to the left."""
    columns = [visible(column) for column in columns]
    cells = [[show(v) for v in row] for row in rows]
    widths = [max([len(c), *(len(row[i]) for row in cells)]) for i, c in enumerate(columns)]
    right = [all(isinstance(row[i], (int, float, type(None))) for row in rows) for i in range(len(columns))]

    def line(values: Sequence[str]) -> str:
        parts = (v.rjust(w) if r else v.ljust(w) for v, w, r in zip(values, widths, right))
        return "  ".join(parts).rstrip()

    return "\n".join([line(list(columns)), *(line(row) for row in cells)])


def plain(value: Any) -> Any:
    """Numpy scalars and tuples become what JSON knows; NaN and infinities become null."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)
