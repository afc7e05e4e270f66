"""Who may talk to the studio: this machine's own browser, opened with the one-time address.

The server listens on 127.0.0.1 only. The address that is printed carries a token that works once; it is traded for
a cookie that scripts cannot read and other sites cannot send. A foreign Host is a page that rebinds names (400), a
foreign Origin is another site's page (403), no cookie is anybody else (403).
"""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
MOST_BYTES = 1_000_000


class Door:
    """ASGI middleware in front of every page, file and event stream."""

    def __init__(self, app: Any, *, port: int, token: str) -> None:
        self.app = app
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self.cookie = f"sudare_{port}"
        self.token: str | None = token
        self.session = secrets.token_urlsafe(32)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        refused = self._refused(scope, headers)
        if refused is not None:
            await _answer(send, *refused)
        elif self._knocks(scope):
            await self._let_in(send)
        elif not self._known(headers):
            await _answer(
                send,
                403,
                "Open the address that `sudare studio` printed; it works once. Start it again for a new one.",
            )
        else:
            await self.app(scope, receive, _with_headers(send))

    def _refused(self, scope: Any, headers: dict[str, str]) -> tuple[int, str] | None:
        if scope["type"] != "http":
            return 400, "Only pages are served here."
        if headers.get("host", "") not in self.hosts:
            return 400, "This address is not served here."
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return 403, "Another site's page may not use the studio."
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return 403, "Another site's page may not use the studio."
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, "Too much was sent."
        return None

    def _knocks(self, scope: Any) -> bool:
        """Whether this is the one-time address, for the first time."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return self.token is not None and scope["path"] == "/" and _same(given, self.token)

    async def _let_in(self, send: Any) -> None:
        self.token = None
        cookie = f"{self.cookie}={self.session}; HttpOnly; SameSite=Strict; Path=/"
        await _answer(send, 303, "", [(b"location", b"/"), (b"set-cookie", cookie.encode())])

    def _known(self, headers: dict[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return False
        return found is not None and _same(found.value, self.session)


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())


def _with_headers(send: Any) -> Any:
    async def sender(message: Any) -> None:
        if message["type"] == "http.response.start":
            kept = [(n, v) for n, v in message["headers"] if n.decode("latin-1").lower() not in HEADERS]
            message = {**message, "headers": [*kept, *_encoded()]}
        await send(message)

    return sender


async def _answer(send: Any, status: int, text: str, extra: list[tuple[bytes, bytes]] | None = None) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), *_encoded(), *(extra or [])]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def _encoded() -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in HEADERS.items()]
