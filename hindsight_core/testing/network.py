"""Keeps tests off the network: a socket that connects is an error."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class NetworkForbidden(AssertionError):
    """A test tried to reach the network."""


@contextmanager
def network_guard(*, loopback: bool = False) -> Iterator[None]:
    """Forbid connections and name look-ups inside the block.

    Args:
        loopback: Let connections to this machine through, for tests with a `ModelServer`.
    """
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex
    resolve = socket.getaddrinfo

    def check(address: object) -> None:
        host = address[0] if isinstance(address, tuple) else None
        if host is None or (loopback and host in LOOPBACK):
            return
        raise NetworkForbidden(
            f"a test connects to {address!r}. Use httpx.MockTransport, or ask for the loopback "
            "fixture."
        )

    def guarded(self: socket.socket, address: Any) -> None:  # noqa: ANN401
        check(address)
        connect(self, address)

    def guarded_ex(self: socket.socket, address: Any) -> int:  # noqa: ANN401
        check(address)
        return connect_ex(self, address)

    def guarded_resolve(host: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        check((host,))
        return resolve(host, *args, **kwargs)

    socket.socket.connect = guarded  # type: ignore[method-assign, assignment]
    socket.socket.connect_ex = guarded_ex  # type: ignore[method-assign, assignment]
    socket.getaddrinfo = guarded_resolve
    try:
        yield
    finally:
        socket.socket.connect = connect  # type: ignore[method-assign]
        socket.socket.connect_ex = connect_ex  # type: ignore[method-assign]
        socket.getaddrinfo = resolve
