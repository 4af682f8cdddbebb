"""Which endpoint a path of REST names.

Only paths of the same length are compared. Starlette compares all, one after the other, which takes longer than a read.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class Paths(Generic[T]):
    """Endpoints by path; `{name}` takes one segment. A path of plain words wins over one with a parameter."""

    def __init__(self) -> None:
        self._plain: dict[str, T] = {}
        self._with_parameters: dict[int, list[tuple[list[str], T]]] = {}
        """By the number of segments; those with the fewest parameters first."""

    def add(self, path: str, endpoint: T) -> None:
        if "{" not in path:
            self._plain[path] = endpoint
            return
        segments = path.split("/")
        alike = self._with_parameters.setdefault(len(segments), [])
        alike.append((segments, endpoint))
        alike.sort(key=lambda each: sum(map(_is_parameter, each[0])))

    def find(self, path: str) -> tuple[T, dict[str, str]] | None:
        """The endpoint and the parameters of a path, as they stand there."""
        if path in self._plain:
            return self._plain[path], {}
        given = path.split("/")
        for segments, endpoint in self._with_parameters.get(len(given), ()):
            if all(one == other or (other and _is_parameter(one)) for one, other in zip(segments, given, strict=True)):
                named = zip(segments, given, strict=True)
                return endpoint, {one[1:-1]: other for one, other in named if _is_parameter(one)}
        return None


def _is_parameter(segment: str) -> bool:
    return segment.startswith("{")
