"""What runs in a sandbox with a limited network just before the program, which then takes its place.

It is executed as a file, with the standard library alone. The sandbox has a network of its own, with nothing in it:
here the sockets are made on which the program reaches its proxy, and they are handed to the proxy outside
(`network_proxy.py`). Nothing of that stays, unless ports of the program are reachable from outside: then a process
stays that connects to these, and to no others.

Arguments: the descriptor of the way out; JSON with `listen` (host and port of each socket) and `ports`; the program.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import socket
import sys

CONNECT_WITHIN = 5.0
FAILED = 125
NOT_EXECUTABLE, NOT_FOUND = 126, 127
"""As a shell says it."""


def enter(control: socket.socket, listen: list[tuple[str, int]], ports: list[int]) -> None:
    """Makes the sockets and hands them over. Raises OSError."""
    made: list[tuple[list[str | int], socket.socket]] = []
    for host, port in listen:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            made.append(([host, port], _listening(family, host, port)))
        except OSError:
            if family is not socket.AF_INET6:  # a machine may have none of these
                raise
    socket.send_fds(control, [json.dumps([name for name, _ in made]).encode()], [each.fileno() for _, each in made])
    for _, each in made:
        each.close()
    if ports and os.fork() == 0:
        _connect_for(control, frozenset(ports))
        os._exit(0)


def _listening(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    made.bind((host, port))
    made.listen(128)
    return made


def _connect_for(control: socket.socket, ports: frozenset[int]) -> None:
    """Answers each request for a connection with one, or with nothing. Ends with the sandbox."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    for number in (0, 1, 2):  # its output would otherwise seem not to have ended
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    while asked := control.recv(16):
        made = None
        with contextlib.suppress(OSError, ValueError):
            if (port := int(asked)) in ports:
                made = _connected(port)
        if made is None:
            control.send(b"no")
        else:
            socket.send_fds(control, [b"ok"], [made.fileno()])
            made.close()


def _connected(port: int) -> socket.socket:
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=CONNECT_WITHIN)
    except ConnectionRefusedError:  # some programs listen on the other loopback address alone
        return socket.create_connection(("::1", port), timeout=CONNECT_WITHIN)


def main(number: str, told: str, *words: str) -> None:
    spec = json.loads(told)
    control = socket.socket(fileno=int(number))
    control.set_inheritable(False)
    try:
        enter(control, [(str(host), int(port)) for host, port in spec["listen"]], list(spec["ports"]))
    except OSError as problem:
        os.write(2, f"toryo: the network of the sandbox could not be set up: {problem}\n".encode())
        os._exit(FAILED)
    _become(words)


def _become(words: tuple[str, ...]) -> None:
    """The program takes this place, as a shell would start it."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the program would go on with that
        signal.signal(number, signal.SIG_DFL)
    try:
        _executed(words)
    except OSError as problem:
        missing = problem.errno == errno.ENOENT
        os.write(2, f"{words[0]}: {'not found' if missing else problem.strerror}\n".encode())
        os._exit(NOT_FOUND if missing else NOT_EXECUTABLE)


def _executed(words: tuple[str, ...]) -> None:
    try:
        os.execv(words[0], words)  # noqa: S606
    except OSError as problem:
        if problem.errno != errno.ENOEXEC:
            raise
    os.execv("/bin/sh", ("/bin/sh", *words))  # noqa: S606 - a script that does not name its interpreter


if __name__ == "__main__":
    main(*sys.argv[1:])
