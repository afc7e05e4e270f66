"""What is left of the data's use: metrics, query workloads, and the recipient's estimates."""

from sudare.callable_package import as_verb
from sudare.registry import room_attribute, room_names

__getattr__ = room_attribute("metric")
__dir__ = room_names("metric")
as_verb(__name__, "sudare.utility.measure:utility")
