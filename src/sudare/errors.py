"""Errors are part of the interface: what is wrong, where, what to do; never a cell's value.

SudareError            exit code 2
├── UsageError         2  a wrong call or a wrong configuration
├── MissingPart        2  an optional part is not installed
├── DataError          3  the data cannot be used as they are
└── PolicyError        1  a limit of the policy is passed
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable
from typing import ClassVar


class SudareError(Exception):
    """The root of everything sudare raises on purpose.

    >>> import sudare
    >>> try:
    ...     sudare.open("no such file.csv")
    ... except sudare.SudareError as error:
    ...     print(error.exit_code)
    3
    """

    exit_code: ClassVar[int] = 2


class UsageError(SudareError):
    """A wrong call or a wrong configuration.

    >>> import sudare
    >>> sudare.methods.Noise(sd=-1)
    Traceback (most recent call last):
    sudare.errors.UsageError: noise: sd is a share of the standard deviation, at least 0
    """


class MissingPart(SudareError):
    """An optional part is not installed.

    >>> print(MissingPart.extra("an Excel file", "excel"))
    an Excel file needs an optional part; install it with: pip install 'sudare[excel]'
    """

    @classmethod
    def extra(cls, what: str, extra: str) -> MissingPart:
        return cls(f"{what} needs an optional part; install it with: pip install 'sudare[{extra}]'")


class DataError(SudareError):
    """The data cannot be used as they are.

    >>> import pyarrow as pa, sudare
    >>> sudare.open(pa.table({"age": pa.array([], pa.int64())}))
    Traceback (most recent call last):
    sudare.errors.DataError: memory: the table has no row; give one with at least one row
    """

    exit_code = 3


class PolicyError(SudareError):
    """A limit of the policy is passed.

    >>> PolicyError("k is 1, the policy asks for 5").exit_code
    1
    """

    exit_code = 1


class SudareWarning(UserWarning):
    """Something the user should know; `code` stays the same between versions.

    >>> SudareWarning("S-ORDER", "the rows stand in the order of the original").code
    'S-ORDER'
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code
        self.text = text


ENGINE_FAULTS = (
    "Error IOException InvalidInputException SerializationException InternalException FatalException "
    "ConversionException OutOfRangeException"
).split()


def of_engine(error: Exception) -> DataError | None:
    """What the user reads of an error that DuckDB raises on the way, whose own message may quote cells."""
    kind = type(error)
    if kind.__name__ in ("MemoryError", "OutOfMemoryException"):
        return DataError(
            "not enough memory; set SUDARE_MEMORY to what this process may take (e.g. 2GB), or free some"
        )
    if kind.__module__.endswith("duckdb") and kind.__name__ in ENGINE_FAULTS:
        return DataError(
            f"the table cannot be read to its end ({kind.__name__}): its file is damaged or was changed meanwhile; "
            "write it again"
        )
    return None


def is_interrupt(error: Exception) -> bool:
    """Whether DuckDB was working when Ctrl-C came, which it then tells as an error of its own."""
    return type(error).__name__ == "InterruptException" or (
        isinstance(error, RuntimeError) and str(error) == "Query interrupted"
    )


def warn(code: str, text: str) -> None:
    """Warn with a stable code, e.g. `warn("S-ORDER", "...")`."""
    warnings.warn(SudareWarning(code, text), stacklevel=3)


def nearest(name: str, names: Iterable[str]) -> str:
    """The hint for an unknown name.

    >>> nearest("ueser", ["user", "date"])
    "did you mean 'user'?"
    """
    names = list(names)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"did you mean '{close[0]}'?"
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"there are: {shown}"
