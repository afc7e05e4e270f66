"""Every example in a docstring runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import sudare

OPTIONAL = ("sudare.studio", "sudare.methods.spark", "sudare.engine.spark")
MODULES = [
    module.name
    for module in pkgutil.walk_packages(sudare.__path__, "sudare.")
    if not module.name.startswith(OPTIONAL) and not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
