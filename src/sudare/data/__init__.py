"""Tables come in and go out: datasets, roles, readers, writers, keys, named example data."""

from sudare.data.dataset import Dataset
from sudare.data.keys import Key
from sudare.data.roles import Roles

__all__ = ["Dataset", "Key", "Roles"]
