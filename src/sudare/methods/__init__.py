"""The anonymizers, one file per family, and Recipe, which chains them into a Release."""

from sudare.registry import room_attribute, room_names

__getattr__ = room_attribute("method")
__dir__ = room_names("method")
