"""Tables come in and go out: datasets, roles, readers, writers, keys, named example data."""

from typing import TYPE_CHECKING, Any

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles

if TYPE_CHECKING:
    from sudare.data.keys import Key

__all__ = ["Dataset", "Key", "Roles"]


def __getattr__(name: str) -> Any:
    if name == "Key":  # loads numpy, which a small table does not need
        from sudare.data.keys import Key

        return Key
    raise AttributeError(f"module 'sudare.data' has no attribute '{name}'")
