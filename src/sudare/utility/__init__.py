"""What is left of the data's use: metrics, query workloads, and the recipient's estimates."""

from sudare.registry import room_attribute

__getattr__ = room_attribute("metric")
