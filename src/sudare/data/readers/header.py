"""Whether the first row of a text table names its columns, or is about a person like the others.

A name of a column may be printed, a cell may not: where nothing speaks for a header, the row is data.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence

from sudare.data.guessing import CODE, DIRECT, KNOWN, PERSON, words_of

WORDS = PERSON | DIRECT | KNOWN | CODE  # words of names, not of values
PLACEHOLDERS = {"na", "n/a", "nan", "null", "none", "nil", "unknown", "missing", "nd"}
VARIABLE = re.compile(r"[a-z]\d{0,3}|[A-Z]")
CHANCE = 0.01  # of taking a row of data for a header
Rows = Sequence[Sequence[str]]


def has_header(rows: Rows, typed: Sequence[bool], sniffed: bool, named: Collection[str]) -> bool:
    """Whether the first of the rows is a header.

    `typed` says which columns hold numbers or dates below it, `sniffed` what DuckDB makes of the file, `named` which
    columns the caller knows. A word beside numbers is a header, and so is a row of which the caller knows a name. In a
    table of words alone a cell that comes again below it speaks against a header.

    >>> rows = [["Alice", "flu"], ["Bob", "cold"], ["Carol", "flu"]]
    >>> has_header(rows, [False, False], True, ()), has_header([["who", "what"], *rows], [False, False], True, ["who"])
    (False, True)
    """
    first, below = rows[0], rows[1:]
    if any(cell in named for cell in first):
        return True
    if not below or not sniffed:
        return any(_is_name(cell) for cell in first) or (sniffed and not below)
    columns = [[row[index] for row in below if index < len(row)] for index in range(len(first))]
    wordless = (any(column) and not any(map(_has_letters, column)) for column in columns)
    if any((kind or bare) and _is_word(cell) for cell, kind, bare in zip(first, typed, wordless)):
        return True
    if list(first) not in [list(row) for row in below] and any(
        cell and cell in column for cell, column in zip(first, columns)
    ):
        return False
    return any(map(_is_name, first)) or all(map(VARIABLE.fullmatch, first)) or _chance(columns) < CHANCE


def _is_name(cell: str) -> bool:
    """Whether a cell is made of nothing but words that columns are called by, or written like a variable."""
    words = words_of(cell)
    return bool(words) and (words <= _plural(WORDS) or ("_" in cell and cell.isidentifier()))


def _plural(words: set[str]) -> set[str]:
    return words | {f"{word}s" for word in words}


def _is_word(cell: str) -> bool:
    return _has_letters(cell) and cell.strip().lower() not in PLACEHOLDERS


def _has_letters(cell: str) -> bool:
    return any(map(str.isalpha, cell))


def _chance(columns: Sequence[Sequence[str]]) -> float:
    """How likely a row of data has values that no other row has, in every column: by Good and Turing, the share of
    the values that come once.
    """
    chances = []
    for column in columns:
        once = sum(1 for count in Counter(column).values() if count == 1)
        chances.append(min(1.0, (once + 0.5) / max(len(column), 1)))
    return math.prod(chances)
