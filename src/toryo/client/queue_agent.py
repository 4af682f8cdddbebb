"""An agent that runs already and serves a queue: registers, polls, has tasks done, hands results in, leaves.

One loop carries it: `AsyncQueueAgent`. `QueueAgent` is the same for programs without a loop, its handlers in threads.
What a task is about is the handler's; the tries, heartbeats and the way out are decided here.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from toryo import backoff, chosen_ids
from toryo.client import queue_keys, server_address, server_discovery
from toryo.client.asynchronous import AsyncClient
from toryo.client.errors import ProtocolError, RefusalError, Unreachable
from toryo.client.handler_failures import Retry, TaskFailed
from toryo.client.queue_keys import Way

Task = dict[str, Any]
"""As `poll_tasks` gives it: `task_id`, `task_description`, `context`, `attempt`, `timeout_seconds`, …"""
Handler = Callable[[Task], Any]
AsyncHandler = Callable[[Task], Awaitable[Any]]
Outcome = dict[str, Any]
"""What `submit_result` is told: `status`, and `result`, or `error` and `retryable`."""
Sleep = Callable[[float], Awaitable[None]]

ANSWER_WITHIN = 30.0
"""Seconds, beyond what the call itself waits."""
WAIT_SECONDS = 30
POLL_EVERY = 5.0
"""Seconds between two polls that do not wait."""
UNREGISTER_WITHIN = 5.0
BEATS_PER_LEASE = 3
LONGEST_ERROR = 10_000

MENDABLE = frozenset({"validationError", "tooLarge"})
"""A result that the server cannot take as it is: the task has failed by that."""
FATAL = frozenset({"invalidCredentials", "authenticationRequired"})
PASSING = frozenset({"notNow", "limitReached", "rateLimited"})
"""Refusals of a poll after which the agent registers again and goes on."""

logger = logging.getLogger("toryo.agent")


class AsyncQueueAgent:
    """`await AsyncQueueAgent(handler, agent_type="planning").run()` serves a queue until `stop()`.

    The handler gets a task and answers the result for `submit_result`, as JSON. An exception fails the task; `Retry`
    lets it be tried again. `key` is an API key (else `TORYO_API_KEY`, else one is made with the owner's token, in
    `project` or the only one there is, and revoked in the end). `server` is an address (else the one of the data
    directory), `max_tasks` how many tasks at once, `wait_seconds` how long a poll waits; 0: a poll every 5 s.
    """

    def __init__(
        self,
        handler: AsyncHandler,
        *,
        agent_type: str,
        agent_id: str | None = None,
        server: str | None = None,
        key: str | None = None,
        token: str | None = None,
        project: str | None = None,
        data_dir: Path | str | None = None,
        capabilities: Sequence[str] = (),
        max_tasks: int = 1,
        wait_seconds: int = WAIT_SECONDS,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.agent_id = agent_id or _new_id(agent_type)
        self.agent_type = agent_type
        self._handler = handler
        self._way = Way(server, token, data_dir)
        server_discovery.refuse_empty(
            agent_id=agent_id, server=server, key=key, token=token, project=project, data_dir=data_dir
        )
        self._key = key or os.environ.get(queue_keys.VARIABLE) or None
        self._project = project
        self._capabilities = list(capabilities)
        self._max_tasks = max_tasks
        self._wait_seconds = wait_seconds
        self._sleep = sleep
        self._clients: list[AsyncClient] = []
        self._running: dict[str, tuple[Task, asyncio.Task[None]]] = {}
        self._adopted: list[str] = []
        self._heartbeat_seconds = 30.0
        self._registered = False
        self._failure: Exception | None = None
        self._stopping = asyncio.Event()
        self._taken = asyncio.Event()

    async def run(self, *, signals: bool = False) -> None:
        """Serves until `stop()`, or, with `signals`, until SIGTERM or ^C (a second ^C gives up what is being done).

        Raises Unreachable where the server is not there at the start, or not when the last results are handed
        in; RefusalError when the key is not, or no longer, valid.
        """
        with self._heeding() if signals else contextlib.nullcontext():
            made = await self._connect()
            try:
                await self._serve()
            finally:
                await self._part(made)
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """No new task; what is being done is finished and handed in, then `run` returns."""
        if not self._stopping.is_set():
            self._tell(logging.INFO, "agent_stopping", f"stops after {len(self._running)} running tasks")
        self._stopping.set()

    # --- the way in, and the way out ----------------------------------------------------------------------------------

    async def _connect(self) -> queue_keys.Made | None:
        """The connection, with the key that was given or one that is made now."""
        made = None
        if self._key is None:
            made = await queue_keys.make(self._way, self.agent_id, self.agent_type, self._project)
            self._key = made.token
        self._clients.append(self._client_at(self._way.url()))
        return made

    async def _serve(self) -> None:
        await self._unless_stopped(self._register())
        beating = asyncio.create_task(self._beat_on())
        try:
            while not self._stopping.is_set():
                await self._take_as_room()
            await self._finish()
        finally:
            await _cancel(beating, *(task for _, task in self._running.values()))
            if self._registered:
                await self._unregister()

    async def _finish(self) -> None:
        while self._running:
            await asyncio.wait([task for _, task in self._running.values()])

    async def _unregister(self) -> None:
        """Once: who cannot say it is taken for offline in time."""
        try:
            async with asyncio.timeout(UNREGISTER_WITHIN):
                await self._client.call("unregister_agent", agent_id=self.agent_id)
        except (Unreachable, RefusalError, ProtocolError, TimeoutError) as error:
            self._tell(logging.WARNING, "agent_left", f"could not sign off: {error}")
        else:
            self._tell(logging.INFO, "agent_left", "is offline")

    async def _part(self, made: queue_keys.Made | None) -> None:
        if made is not None:
            await queue_keys.revoke(self._way, made)
        for client in self._clients:
            await client.close()

    @contextlib.contextmanager
    def _heeding(self) -> Iterator[None]:
        """SIGTERM and ^C stop it; in a program whose main thread is another one, only `stop()` does."""
        loop, running = asyncio.get_running_loop(), asyncio.current_task()
        assert running is not None, "it runs in a task"
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def interrupt() -> None:
            if self._stopping.is_set():
                running.cancel()
            self.stop()

        loop.add_signal_handler(signal.SIGTERM, self.stop)
        loop.add_signal_handler(signal.SIGINT, interrupt)
        try:
            yield
        finally:
            for each in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(each)

    # --- taking tasks -------------------------------------------------------------------------------------------------

    async def _register(self, tried: int = 0) -> None:
        """Also after an outage: what it holds without knowing, because an answer was lost, is done next."""
        answer = await self._lasting(
            "register_agent",
            tried=tried,
            agent_id=self.agent_id,
            agent_type=self.agent_type,
            capabilities=self._capabilities,
        )
        self._heartbeat_seconds = float(answer["heartbeat_seconds"])
        self._adopted = [claim["task_id"] for claim in answer["claims"] if claim["task_id"] not in self._running]
        again = " again" if self._registered else ""
        self._tell(logging.INFO, "agent_registered", f"serves {self.agent_type} at {self._client.address}{again}")
        self._registered = True

    async def _take_as_room(self) -> None:
        """Takes tasks if there is room, else waits for it; leaves either when it is to stop."""
        try:
            await self._unless_stopped(self._take() if len(self._running) < self._max_tasks else self._room())
        except Exception as error:  # noqa: BLE001 - whatever it is, what is being done is finished first
            self._end_by(error)

    async def _room(self) -> None:
        """Waits until a task has ended; the last one may have ended already."""
        if self._running:
            await asyncio.wait([task for _, task in self._running.values()], return_when=asyncio.FIRST_COMPLETED)

    async def _unless_stopped(self, doing: Coroutine[Any, Any, None]) -> None:
        """Does it to its end, or lets it go when the agent is to stop. Raises what it raises."""
        done, stopped = asyncio.create_task(doing), asyncio.create_task(self._stopping.wait())
        try:
            await asyncio.wait([done, stopped], return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _cancel(done, stopped)
        if not done.cancelled():
            done.result()

    async def _take(self) -> None:
        if self._adopted:
            task = (await self._lasting("get_task_status", task_id=self._adopted.pop(0)))["task"]
            if task["status"] == "in_progress" and task["assigned_agent_id"] == self.agent_id:
                self._begin(task)
            return
        try:
            began = time.monotonic()
            room = self._max_tasks - len(self._running)
            waiting = {"wait_seconds": self._wait_seconds} if self._wait_seconds else {}
            answer = await self._client.call("poll_tasks", agent_id=self.agent_id, max_tasks=room, **waiting)
            found: list[Task] = answer["result"]
            if not found and time.monotonic() - began < min(1, self._wait_seconds or 1):
                # it did not wait, or the server is leaving and answers everybody at once
                await self._sleep(backoff.QUEUE_AGENT[0] if self._wait_seconds else POLL_EVERY)
        except (Unreachable, RefusalError) as error:
            await self._recover(error)
            return
        for each in found:
            self._begin(each)

    async def _recover(self, error: Exception) -> None:
        if _away(error):
            self._tell(logging.WARNING, "server_away", f"{error}; trying again")
            await self._sleep(backoff.QUEUE_AGENT[0])
            await self._look_again()
            await self._register(tried=1)
        elif isinstance(error, RefusalError) and error.code in PASSING:
            await self._sleep(POLL_EVERY)
            await self._register()
        else:
            raise error

    def _begin(self, task: Task) -> None:
        if task["task_id"] in self._running:
            return
        self._running[task["task_id"]] = (task, asyncio.create_task(self._work(task)))
        self._taken.set()

    # --- doing them ---------------------------------------------------------------------------------------------------

    async def _work(self, task: Task) -> None:
        self._tell(logging.INFO, "task_taken", f"claimed it (attempt {task['attempt']})", task)
        began = time.monotonic()
        try:
            outcome = await self._outcome(task)
            await self._submit(task, outcome, began)
        except (Unreachable, RefusalError, ProtocolError) as error:
            self._tell(logging.ERROR, "result_lost", f"the result could not be submitted: {error}", task, began)
            self._end_by(error)
        finally:
            del self._running[task["task_id"]]

    async def _outcome(self, task: Task) -> Outcome:
        """What the handler makes of it. Whatever goes wrong in it fails this task, and nothing else."""
        try:
            outcome = {"status": "completed", "result": await self._handler(task)}
            orjson.dumps(outcome)
        except asyncio.CancelledError:
            raise
        except TaskFailed as error:
            return _failed(str(error) or "(no reason was given)", retryable=isinstance(error, Retry))
        except BaseException as error:
            # also of sys.exit: a handler must not end its agent
            logger.debug("task %s", task["task_id"], exc_info=error)
            return _failed(f"{type(error).__name__}: {error}")
        return outcome

    async def _submit(self, task: Task, outcome: Outcome, began: float) -> None:
        handed = {"task_id": task["task_id"], "attempt": task["attempt"], **outcome}
        try:
            await self._lasting("submit_result", **handed)
        except (RefusalError, ProtocolError) as no:
            if _fatal(no) or _away(no):
                raise
            if _mendable(no) and outcome["status"] == "completed":
                await self._submit(task, _failed(f"The server refused its result: {no}"), began)
            else:
                self._tell(
                    logging.WARNING, "result_refused", f"the server did not accept its result: {no}", task, began
                )
            return
        words = "completed" if outcome["status"] == "completed" else f"failed: {outcome['error']}"
        self._tell(logging.INFO, f"task_{outcome['status']}", words, task, began)

    # --- being there --------------------------------------------------------------------------------------------------

    async def _beat_on(self) -> None:
        """Often enough for the shortest lease among the tasks that are being done."""
        beaten = float("-inf")
        while True:
            leases = [float(task["timeout_seconds"]) / BEATS_PER_LEASE for task, _ in self._running.values()]
            left = beaten + min([self._heartbeat_seconds, *leases]) - time.monotonic()
            if left <= 0:
                beaten = time.monotonic()
                # One that is lost is not missed: the next poll or result finds out what is the matter.
                try:
                    await self._client.call("heartbeat", agent_id=self.agent_id)
                except (Unreachable, RefusalError, ProtocolError) as error:
                    self._tell(logging.DEBUG, "heartbeat_lost", str(error))
                continue
            self._taken.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._taken.wait()

    # --- reaching the server ------------------------------------------------------------------------------------------

    async def _lasting(self, tool: str, /, *, tried: int = 0, **arguments: Any) -> dict[str, Any]:
        """The answer of a call that may be made twice, however long the server is away; `tried` are tries before it.

        Five more tries, then a clear error: raised before the agent has begun and when it is to leave; else it is
        said, and the tries go on, because a result is not thrown away.
        """
        for number, pause in enumerate(islice(backoff.pauses(*backoff.QUEUE_AGENT), tried, None), tried):
            try:
                return await self._client.call(tool, **arguments)
            except (Unreachable, RefusalError) as error:
                if not _away(error) or (number >= backoff.QUEUE_AGENT_TRIES and self._gives_up):
                    raise
                if number == backoff.QUEUE_AGENT_TRIES:
                    words = f"the server cannot be reached after {number} more attempts ({error}); still trying"
                    self._tell(logging.ERROR, "server_away", words)
            await self._sleep(pause)
            await self._look_again()
        raise AssertionError("pauses never end")

    @property
    def _gives_up(self) -> bool:
        return self._stopping.is_set() or not self._registered

    @property
    def _client(self) -> AsyncClient:
        return self._clients[-1]

    async def _look_again(self) -> None:
        """A server that was not named may come back at another address; calls under way keep their connection."""
        with contextlib.suppress(Unreachable):
            url = self._way.url()
            if server_address.parse(url) != self._client.address:
                self._clients.append(self._client_at(url))

    def _client_at(self, url: str) -> AsyncClient:
        return AsyncClient(url, self._key, timeout=ANSWER_WITHIN)

    def _end_by(self, error: Exception) -> None:
        """An error that no retry fixes: it finishes what it can, and leaves with this."""
        self._failure = self._failure or error
        self.stop()

    def _tell(self, level: int, event: str, words: str, task: Task | None = None, began: float | None = None) -> None:
        """A log record whose `toryo` is the protocol's log line, without time and level, which every record has."""
        told: dict[str, Any] = {"agent_id": self.agent_id, "event": event}
        if task is not None:
            told |= {"task_id": task["task_id"], "correlation_id": task.get("correlation_id")}
        if began is not None:
            told["duration_ms"] = round((time.monotonic() - began) * 1000)
        subject = f"{self.agent_id}: {task['task_id']}" if task is not None else self.agent_id
        logger.log(level, "%s: %s", subject, words, extra={"toryo": {**told, "metadata": {"message": words}}})


class QueueAgent:
    """`QueueAgent(handler, agent_type="planning").run()`: as `AsyncQueueAgent`, with handlers that are plain functions.

    Several tasks at once are several threads: the handler must stand that where `max_tasks` is more than 1.
    """

    def __init__(self, handler: Handler, *, agent_type: str, **options: Any) -> None:
        self._agent = AsyncQueueAgent(_in_thread(handler), agent_type=agent_type, **options)
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def agent_id(self) -> str:
        return self._agent.agent_id

    def run(self, *, signals: bool = True) -> None:
        """Serves until SIGTERM, ^C or `stop()`; raises as `AsyncQueueAgent.run`."""
        try:
            asyncio.run(self._run(signals))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None

    def stop(self) -> None:
        """From any thread; also before it runs."""
        if self._loop is None:
            self._agent.stop()
            return
        with contextlib.suppress(RuntimeError):  # it has ended meanwhile
            self._loop.call_soon_threadsafe(self._agent.stop)

    async def _run(self, signals: bool) -> None:
        self._loop = asyncio.get_running_loop()
        await self._agent.run(signals=signals)


def _in_thread(handler: Handler) -> AsyncHandler:
    """Daemons: one that never ends must not keep a process that was told twice to end."""

    def run(task: Task) -> Coroutine[Any, Any, Any]:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

        def tell(found: tuple[Any, BaseException | None]) -> None:
            if not ended.cancelled():
                ended.set_result(found)

        def work() -> None:
            found: tuple[Any, BaseException | None]
            try:
                found = (handler(task), None)
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                found = (None, error)
            with contextlib.suppress(RuntimeError):  # no one is waiting
                loop.call_soon_threadsafe(tell, found)

        threading.Thread(target=work, name=f"task {task['task_id']}", daemon=True).start()
        return _awaited(ended)

    return run


async def _awaited(ended: asyncio.Future[tuple[Any, BaseException | None]]) -> Any:
    found, error = await ended
    if error is not None:
        raise error if not isinstance(error, StopIteration | asyncio.CancelledError) else RuntimeError(repr(error))
    return found


def _failed(error: str, *, retryable: bool = False) -> Outcome:
    """As text that can be stored, whatever the error has in it."""
    clean = error.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    return {"status": "failed", "error": clean[:LONGEST_ERROR], "retryable": retryable}


def _away(error: BaseException) -> bool:
    return isinstance(error, Unreachable) or (isinstance(error, RefusalError) and error.code == "unavailable")


def _fatal(error: RefusalError | ProtocolError) -> bool:
    return isinstance(error, RefusalError) and error.code in FATAL


def _mendable(error: RefusalError | ProtocolError) -> bool:
    return isinstance(error, ProtocolError) or error.code in MENDABLE


async def _cancel(*tasks: asyncio.Task[Any]) -> None:
    """What has ended already stays as it is."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _new_id(agent_type: str) -> str:
    """Of its own: two programs of one type must not take each other's tasks."""
    name = chosen_ids.made_of(agent_type, "agent", 48)
    return f"{name}-{secrets.token_hex(3)}"
