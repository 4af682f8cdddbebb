"""Answers that several callers ask for at the same moment: the last ones are kept, without a time limit.

So the key must contain everything on which an answer depends, such as the number of the newest event.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

MOST = 64

T = TypeVar("T")


class RecentAnswers:
    """The answers that were asked for last; of any thread."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, object] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, key: Hashable, find: Callable[[], T], worth_keeping: Callable[[T], bool] = lambda _: True) -> T:
        """The answer of this key, kept or found now. Nobody may change it."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast("T", self._kept[key])
        found = find()
        if worth_keeping(found):
            with self._lock:
                self._kept[key] = found
                while len(self._kept) > self._most:
                    self._kept.popitem(last=False)
        return found
