"""Shared values in Redis: `SET … PX`, with versions counted by a script. The interface is in `shared_state.py`.

An expired value is remembered for a day, so that readers learn that it expired and its version continues. While Redis
is away, calls are refused with `unavailable`; nothing else in Toryo depends on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import orjson
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from toryo.domain.errors import Code, Refusal
from toryo.domain.queue import Entry
from toryo.domain.times import DAY, HOUR, Millis
from toryo.storage.shared_state import QUOTA, Quota, conflict, too_many
from toryo.storage.transaction import Transaction

_REMEMBERED: Millis = 24 * HOUR
_MOST = 10_000
_ANSWERS_WITHIN = 1.0
"""Timeout in seconds. The caller holds its project's lock, so other calls wait too."""
_REST_SECONDS, _REST_TIMES = 1.0, 10
"""After a failure Redis is not asked for a second, or ten times as long as the failure took."""

_SIZES_LIVE: Millis = 31 * DAY
"""How long the sizes of a project's values are kept after the last was set: longer than any value."""
_CONFLICT, _TOO_MANY = 0, 2
_PUT = """
local stored = redis.call('GET', KEYS[1])
local version, live = 0, false
if stored then
  local before = cjson.decode(stored)
  version = before.version
  live = before.expires_at > tonumber(ARGV[3])
  if ARGV[5] ~= '' and before.once == ARGV[5] then return {1, version} end
end
local others, taken, was, size = 0, 0, 0, tonumber(ARGV[7])
local sizes = redis.call('HGETALL', KEYS[2])
for i = 1, #sizes, 2 do
  local bytes, ends = string.match(sizes[i + 1], '(%d+) (%d+)')
  if tonumber(ends) <= tonumber(ARGV[3]) then
    redis.call('HDEL', KEYS[2], sizes[i])
  elseif sizes[i] == ARGV[6] then
    was = tonumber(bytes)
  else
    others, taken = others + 1, taken + tonumber(bytes)
  end
end
local expected = tonumber(ARGV[2])
local present = live and version or 0
if expected >= 0 and expected ~= present then return {0, present} end
if was == 0 and others >= tonumber(ARGV[9]) then return {2, 0} end
if size > was and taken + size > tonumber(ARGV[8]) then return {2, 0} end
version = version + 1
redis.call('HSET', KEYS[2], ARGV[6], ARGV[7] .. ' ' .. ARGV[10])
redis.call('PEXPIRE', KEYS[2], ARGV[11])
redis.call('SET', KEYS[1], '{"version":' .. string.format('%d', version) .. ',' .. ARGV[1], 'PX', ARGV[4])
return {1, version}
"""
"""The value stays the text that was sent: re-encoding in Lua would turn empty lists into objects."""


class RedisState:
    """The connection, one per server; called with a transaction it returns the `Shared` of that call."""

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._redis: Any = Redis.from_url(
            url,
            socket_timeout=_ANSWERS_WITHIN,
            socket_connect_timeout=_ANSWERS_WITHIN,
            retry=Retry(NoBackoff(), 0),
            decode_responses=False,
        )
        self._put = self._redis.register_script(_PUT)
        self._clock = clock
        self._away_until = 0.0

    def __call__(self, _: Transaction) -> RedisState:
        return self

    def close(self) -> None:
        self._redis.close()

    def get(self, project_id: str, key: str) -> Entry | None:
        stored = self._ask(lambda: self._redis.get(_name(project_id, key)))
        return None if stored is None else _entry(project_id, key, stored)

    def put(
        self,
        project_id: str,
        key: str,
        value: Any,
        by: str,
        now: Millis,
        ttl: Millis,
        expected: int | None,
        *,
        once: str = "",
        quota: Quota = QUOTA,
    ) -> Entry:
        about = {"once": once, "updated_at": now, "updated_by": by, "expires_at": now + ttl, "value": value}
        rest, wanted = orjson.dumps(about)[1:], -1 if expected is None else expected
        arguments: list[bytes | int | str] = [rest, wanted, now, ttl + _REMEMBERED, once]
        arguments += [key, len(orjson.dumps(value)), quota.bytes, quota.entries, now + ttl, _SIZES_LIVE]
        names = [_name(project_id, key), f"toryo:state-sizes:{project_id}"]
        done, version = self._ask(lambda: self._put(keys=names, args=arguments))
        if done == _CONFLICT:
            raise conflict(key, int(version), expected or 0)
        if done == _TOO_MANY:
            raise too_many(quota)
        return Entry(project_id, key, value, int(version), now, by, now + ttl)

    def all(self, project_id: str) -> list[Entry]:
        def work() -> list[Entry]:
            names = []
            for name in self._redis.scan_iter(match=_name(_plain(project_id), "*"), count=500):
                names.append(name)
                if len(names) == _MOST:
                    break
            stored = self._redis.mget(names) if names else []
            start = len(_name(project_id, ""))
            return [
                _entry(project_id, name.decode()[start:], each)
                for name, each in zip(names, stored, strict=True)
                if each is not None
            ]

        return sorted(self._ask(work), key=lambda each: each.key)

    def _ask(self, work: Callable[[], Any]) -> Any:
        began = self._clock()
        if began < self._away_until:
            raise _away()
        try:
            return work()
        except (RedisError, OSError):
            now = self._clock()
            self._away_until = now + max(_REST_SECONDS, _REST_TIMES * (now - began))
            raise _away() from None


def _away() -> Refusal:
    return Refusal(
        Code.UNAVAILABLE,
        "Shared state is not available: Redis does not answer.",
        "Try again in a few seconds. Tasks and results continue without it.",
    )


def _name(project_id: str, key: str) -> str:
    return f"toryo:state:{project_id}:{key}"


def _plain(text: str) -> str:
    """Escapes the characters that have a meaning in a pattern."""
    return "".join(f"\\{each}" if each in "*?[]\\" else each for each in text)


def _entry(project_id: str, key: str, stored: bytes) -> Entry:
    found = orjson.loads(stored)
    return Entry(
        project_id, key, found["value"], found["version"], found["updated_at"], found["updated_by"], found["expires_at"]
    )
