"""Start the studio: one port on 127.0.0.1, one one-time address, one browser."""

from __future__ import annotations

import contextlib
import secrets
import socket
import webbrowser
from collections.abc import Callable
from typing import Any

from sudare.errors import MissingPart, UsageError


def serve(
    file: str | None = None,
    *,
    port: int = 0,
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the pages until the process is stopped."""
    try:
        import multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise MissingPart.extra("the studio", "studio") from None

    listening = listen(port)
    number = listening.getsockname()[1]
    session, door, address = prepared(file, number)
    try:
        with contextlib.suppress(KeyboardInterrupt):
            say(f"sudare studio: {address}")
            say("The address works once and only on this machine. Ctrl-C ends the studio.")
            if browser:
                webbrowser.open(address)
            config = uvicorn.Config(
                door, access_log=False, log_level="error", lifespan="off", timeout_graceful_shutdown=1
            )
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        session.close()
        say("The studio has ended; its files are gone.")


def prepared(file: str | None, port: int) -> tuple[Any, Any, str]:
    """The session, the application and the one-time address."""
    from sudare.report.settings import context_and_policy
    from sudare.studio.app import create_app, folder_and_file
    from sudare.studio.files import chosen
    from sudare.studio.session import Session

    folder, name = folder_and_file(file)
    config = folder / "sudare.toml"
    context, policy = context_and_policy(config if config.is_file() else None)
    session = Session(folder=folder, context=context, policy=policy)
    if name:
        session.choose(chosen(folder, name), name)
    token = secrets.token_urlsafe(24)
    return session, create_app(session, port=port, token=token), f"http://127.0.0.1:{port}/?token={token}"


def listen(port: int) -> socket.socket:
    """A socket on this machine's loopback address and nowhere else."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen(64)  # who follows the address at once waits instead of being refused
    except OSError as error:
        raise UsageError(
            f"port {port}: cannot be used ({error.strerror}); name another with --port"
        ) from None
    return listening
