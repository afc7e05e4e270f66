"""Everybody we know who would try to find out whom a published row is about."""

from sudare.registry import room_attribute, room_names

__getattr__ = room_attribute("attack")
__dir__ = room_names("attack")
