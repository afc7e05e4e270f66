"""Numba kernels: arrays in, arrays out; they know nothing of files, roles or engines.

What the compiler made is kept for the next process: beside these files, in the user's cache folder or, where neither
can be written, in the folder where sudare keeps its own state.
"""

from __future__ import annotations

import os

from numba import config

from sudare.data.files.private import state_folder
from sudare.errors import UsageError


def _can_write(folder: str) -> bool:
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _keep_compiled() -> None:
    import platformdirs

    if config.CACHE_DIR:
        if not _can_write(config.CACHE_DIR):
            raise UsageError(
                "NUMBA_CACHE_DIR cannot be written to; set it to a folder of your own, or unset it"
            )
        return
    own = os.path.join(os.path.dirname(__file__), "__pycache__")
    if not _can_write(own) and not _can_write(platformdirs.user_cache_dir("numba", appauthor=False)):
        config.CACHE_DIR = str(state_folder() / "compiled")


_keep_compiled()
