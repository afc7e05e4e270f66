"""The reproduction book: every table and figure of the four papers, printed and recomputed, side by side."""

from sudare.reproduction.book import PAPERS, reproduce

__all__ = ["PAPERS", "reproduce"]
