"""The anonymizers, one file per family, and Recipe, which chains them into a Release."""

from sudare.registry import room_attribute

__getattr__ = room_attribute("method")
