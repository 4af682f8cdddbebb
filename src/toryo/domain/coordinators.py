"""Coordinators, as far as rules ask about them."""

from __future__ import annotations

from toryo.domain.times import SECOND, Millis

GONE_AFTER: Millis = 90 * SECOND
"""A Coordinator that has not called for so long is taken for gone: what it held belongs to whoever asks."""


def gone(last_seen: Millis, now: Millis) -> bool:
    return now - last_seen >= GONE_AFTER
