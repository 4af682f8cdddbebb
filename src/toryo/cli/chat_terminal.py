"""The terminal of a chat: a person types while the agent's messages are written above.

One thread reads input and one listens to the agent; the main thread sends what was typed, and handles ^C.
"""

from __future__ import annotations

import contextlib
import math
import queue
import sys
import termios
import threading
from collections.abc import Iterator
from typing import Any

from toryo.cli import message_format, text_layout
from toryo.cli.chat_panel import Heard, Panel
from toryo.cli.exit_codes import failure_of
from toryo.cli.output import room
from toryo.domain.consent import MARKER
from toryo.domain.texts import printable

SHOWN_AT_FIRST = 10
"""Messages of before, if fewer are new."""
READ_AT_FIRST = 200
SIGNALS_NOTICED_WITHIN_SECONDS = 1.0
PROMPT = "> "
CONSENT = f"{MARKER} "
"""What a line that gives approval in advance begins with."""


def talk(panel: Panel) -> None:
    """Until ^D or ^C. What comes is written above what is being typed."""
    screen = Screen()
    with screen.key_by_key(), panel:
        _show_before(panel, screen)
        news = message_format.News(panel.agent)
        screen.show(news.of(Heard(status=panel.status)))
        threading.Thread(target=_listen, args=(panel, screen, news), daemon=True).start()
        lines = screen.lines()
        for line in lines:
            content = _consent(panel, screen, line, lines) if line.startswith(CONSENT) else line
            if content is not None:
                _say(panel, screen, content)


def _show_before(panel: Panel, screen: Screen) -> None:
    said, unread = panel.before(READ_AT_FIRST)
    new = [each for each in said if each["to_agent_id"] != panel.agent][-unread:] if unread else []
    first_new = said.index(new[0]) if new else len(said)
    begin = min(first_new, max(0, len(said) - SHOWN_AT_FIRST))
    for at, each in enumerate(said[begin:], begin):
        if at == first_new:
            screen.show(f"-- {unread} new --")
        screen.show(_line_of(each, panel.agent))


def _listen(panel: Panel, screen: Screen, news: message_format.News) -> None:
    try:
        for heard in panel.looks():
            screen.show(news.of(heard))
            for message in heard.messages:
                screen.show(_line_of(message, panel.agent))
    except Exception as error:  # noqa: BLE001 - the error is shown by the thread that reads the input
        screen.fail(error)


def _consent(panel: Panel, screen: Screen, line: str, lines: Iterator[str]) -> str | None:
    """The message that approves what is asked for because of it, once that was meant: a line may have been pasted."""
    screen.show(f"This approves one task that {panel.agent} creates in response. Type yes to send it.")
    if next(lines, "").strip().lower() != "yes":
        screen.show("not sent")
        return None
    return f"{MARKER}\n{line.removeprefix(CONSENT)}"


def _say(panel: Panel, screen: Screen, content: str) -> None:
    """What is refused was not said; one may say it otherwise."""
    try:
        panel.say(content, math.inf)
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        screen.show(f"not sent: {failure.sentence()}")


def _line_of(message: dict[str, Any], agent: str) -> str:
    mine = message["kind"] == "message" and message["from_agent_id"] != agent
    return "\n".join(message_format.message_lines(message, message["from_agent_id"] if mine else None))


class Screen:
    """A terminal with a prompt and concurrent output. No output is written while the prompt is drawn."""

    def __init__(self) -> None:
        self._typed: queue.SimpleQueue[str | Exception | None] = queue.SimpleQueue()
        self._writing = threading.Lock()
        self._prompting = self._reads = False
        self._editor = _line_editor()
        if self._editor is not None:
            self._editor.set_pre_input_hook(self._prompted)

    @contextlib.contextmanager
    def key_by_key(self) -> Iterator[None]:
        """Where lines are edited, the terminal does not collect them, not even while nobody reads.

        Between two lines readline gives the terminal its own mode back. If that is by lines, a ^D typed just then is
        kept as the mark of an end, which readline gets as a NUL and passes over: the thread would never end.
        The settings are put back at the end: what is left in the middle of a line does not do it.
        """
        before = termios.tcgetattr(sys.stdin)
        try:
            if self._editor is not None:
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, _by_keys(before))
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

    def lines(self) -> Iterator[str]:
        """What is typed, line by line, until ^D. Raises KeyboardInterrupt at ^C, and what `fail` was given."""
        threading.Thread(target=self._read, daemon=True).start()
        try:
            while (line := self._next()) is not None:
                if isinstance(line, Exception):
                    raise line
                if line.strip():
                    yield line
        finally:
            sys.stdout.write("\n")

    def _next(self) -> str | Exception | None:
        """A wait without a time limit would miss a signal that arrives just before it begins."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._typed.get(timeout=SIGNALS_NOTICED_WITHIN_SECONDS)

    def show(self, text: str | None) -> None:
        """Above the line that is being typed."""
        if text is None:
            return
        with self._writing:
            typed = self._editor.get_line_buffer() if self._editor is not None else ""
            again = PROMPT + typed if self._reads else ""
            shown = [
                part for line in printable(text).splitlines() for part in text_layout.folded(line, room(sys.stdout))
            ]
            sys.stdout.write("\r\033[K" + "".join(f"{each}\n" for each in shown) + again)
            sys.stdout.flush()

    def fail(self, error: Exception) -> None:
        """Ends the typing, too."""
        self._typed.put(error)

    def _read(self) -> None:
        try:
            while True:
                self._typed.put(self._line())
        except EOFError:
            self._typed.put(None)
        except Exception as error:  # noqa: BLE001 - raised where lines are waited for
            self._typed.put(error)

    def _line(self) -> str:
        self._writing.acquire()
        self._prompting = True
        if self._editor is None:
            self._prompted()
        try:
            return input(PROMPT)
        finally:
            self._prompted()
            self._reads = False

    def _prompted(self) -> None:
        """The prompt is there: from now on it is written again below whatever comes."""
        if self._prompting:
            self._prompting, self._reads = False, True
            self._writing.release()


def _by_keys(mode: list[Any]) -> list[Any]:
    """Each key can be read at once. That it is shown, and what ^C and Enter are, stays."""
    iflag, oflag, cflag, lflag, ispeed, ospeed, keys = mode
    keys = list(keys)
    keys[termios.VMIN], keys[termios.VTIME] = 1, 0
    return [iflag, oflag, cflag, lflag & ~termios.ICANON, ispeed, ospeed, keys]


def _line_editor() -> Any:
    """What `input` edits lines with, once it is loaded; None where it is missing or cannot say when it begins."""
    try:
        import readline
    except ImportError:
        return None
    return readline if hasattr(readline, "set_pre_input_hook") else None
