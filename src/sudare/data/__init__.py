"""What a table is: datasets, roles, releases; readers, writers, and what cells may hold."""

from sudare.data.dataset import Dataset
from sudare.data.roles import Roles

__all__ = ["Dataset", "Roles"]
