"""Type stubs of the rooms whose classes are found at run time, so that editors and mypy see every one of them.

`make stubs` writes them after a method, attack or metric was added; a test says when that was forgotten.
"""

from __future__ import annotations

from pathlib import Path

from sudare import registry

VERB = """
class UtilityVerb:
    __call__ = staticmethod(_utility)
"""


def stub(kind: registry.Kind) -> str:
    """The text of a room's `__init__.pyi`: its classes by name and, where the room is a verb, the verb with them."""
    room = registry.ROOMS[kind]
    known = [cls for cls in registry.all_of(kind).values() if cls.__module__.startswith(f"{room}.")]
    imports = [f"from {cls.__module__} import {cls.__name__} as {cls.__name__}" for cls in known]
    verb = ""
    if kind == "metric":
        imports.append("from sudare.utility.measure import utility as _utility")
        verb = VERB + "".join(f"    {name} = {name}\n" for name in sorted(cls.__name__ for cls in known))
    return "\n".join(["# Written by `make stubs`.", *sorted(imports)]) + "\n" + verb


def path_of(kind: registry.Kind) -> Path:
    """Where the stub of a room lies: beside its `__init__.py`."""
    return Path(__file__).parent / registry.ROOMS[kind].partition(".")[2] / "__init__.pyi"


def main() -> None:
    for kind in registry.ROOMS:
        path_of(kind).write_text(stub(kind), "utf-8")


if __name__ == "__main__":
    main()
