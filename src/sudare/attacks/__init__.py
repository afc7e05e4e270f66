"""Everybody we know who would try to find out whom a published row is about."""

from sudare.registry import room_attribute

__getattr__ = room_attribute("attack")
