"""Events of an agent's program in a common form, and a `Reading` that follows a whole output.

Each provider translates one JSON line of its program into these events (`Provider.parse`). `Reading` turns them into
text for people, usage, the session to resume, and failures. No I/O: the same lines always give the same text, so that a
later Coordinator can read an output again from its start.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Literal

from toryo.coordinator import doing as words
from toryo.coordinator import log_lines
from toryo.coordinator.doing import Doing

LONGEST_NOTE = 600
MOST_TOKENS = 2**50
"""A number beyond this is no count, and could not be sent."""
MOST_MONEY = 1e9
MOST_SECONDS = 1e9
_NUMBERS = re.compile(r"\d+")
_LOOKED_AT = 4000
"""Characters of each end of a call or a result by which it is known."""
_MOST_KNOWN = 10_000
MOST_MOMENT = 1e11
"""Seconds of the Unix time: the year 5138."""
LONGEST_NAME = 500
"""Characters of a session's id, or of a model's, as the server takes them."""
Window = Literal["5h", "day", "week"]
"""Which quota of an account: of five hours, a day or a week."""
MISUNDERSTOOD = (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, RecursionError)
"""What reading a line may raise that a program, or its agent, has written."""
PLAIN = "plain"
"""A line that is no JSON is given to `Parse` as the one value of this name: some programs say in their log alone that
something is wrong."""
PLAIN_TAIL = 4000
"""Characters of what was no JSON (warnings, stack traces) that are kept for judging an end."""


@dataclass(frozen=True, slots=True)
class Said:
    """Complete text of the model, not the pieces of a stream.

    `whole`: the service has ended the answer. Otherwise that is told later, and only then is it a sign of life.
    """

    text: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the model's text, from a program that prints only pieces: joined to whole lines."""

    text: str


@dataclass(frozen=True, slots=True)
class Turned:
    """One more turn of the model, counted against a limit of turns.

    `answer`: its id, for programs that report one answer in several lines; each id counts once.
    """

    answer: str | None = None


@dataclass(frozen=True, slots=True)
class Answering:
    """Part of an answer, of a program that does not tell where answers begin: the first since a tool's result counts
    as a turn."""


@dataclass(frozen=True, slots=True)
class Called:
    """A tool was called; `arguments` as JSON or text. `id` is also that of its result, if the program names them."""

    tool: str
    arguments: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Returned:
    text: str
    failed: bool = False
    id: str = ""


@dataclass(frozen=True, slots=True)
class Used:
    """Tokens and money. `input_tokens` counts everything that was read, cached or not; `cached_tokens` is part of it.

    `total`: of the program's whole session, resumed runs included; else of what came since the last one. So for
    money with `total_cost`. `provisional`: seen on the way, and replaced by what is said at the end of a run; of one
    `answer` the last counts.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float | None = None
    model: str | None = None
    total: bool = False
    total_cost: bool = False
    provisional: bool = False
    answer: str | None = None
    beside: bool = False
    """Told in another file, so perhaps after the output has told all of it: counts only before that."""
    ends: bool = False
    """Told where an answer ends: without any tokens, unlike others before it, the service has not ended it."""

    def __post_init__(self) -> None:
        """TypeError for what is no number: a format that has changed is shown as it is, and nothing is added up."""
        for each in (self.input_tokens, self.output_tokens, self.cached_tokens):
            if not _is_count(each):
                raise TypeError(f"{each!r} is not a number of tokens")
        if self.cost_usd is not None and not _is_number(self.cost_usd, MOST_MONEY):
            raise TypeError(f"{self.cost_usd!r} is not an amount of money")
        if self.model is not None and not _is_name(self.model):
            raise TypeError(f"{self.model!r} is not the name of a model")


@dataclass(frozen=True, slots=True)
class Session:
    """The program's own name of its session, by which it can be resumed."""

    id: str

    def __post_init__(self) -> None:
        if not _is_name(self.id):
            raise TypeError(f"{self.id!r} is not the name of a session")


@dataclass(frozen=True, slots=True)
class Troubled:
    """The model's service refused or failed. `final`: the program stopped trying; otherwise it retries by itself.

    `status` is the HTTP status if it is known; `retry_seconds` is the pause that the service (or the program) names.
    """

    words: str
    status: int | None = None
    retry_seconds: float | None = None
    final: bool = False
    own: bool = False
    """The program itself stopped: at its own limit, or because it was interrupted."""
    limited: bool = False
    """The service has said, as data, that a quota of the account is used up."""
    resets_at: float | None = None
    """When that ends, in seconds of the Unix time, if it has said so."""
    window: Window | None = None
    """Which quota that is, if it has said so."""
    hasty: bool = False
    """The program asks again at once, for as long as it may, and each try is paid for."""

    def __post_init__(self) -> None:
        """TypeError for what the end could not be judged by."""
        known = self.status is None or _is_number(self.status, 10_000)
        timed = self.retry_seconds is None or (_is_number(self.retry_seconds, MOST_SECONDS) and self.retry_seconds >= 0)
        timed = timed and (self.resets_at is None or _is_number(self.resets_at, MOST_MOMENT))
        if not (_is_text(self.words) and known and timed):
            raise TypeError("this is not an answer of the model's service")

    def after(self, before: Troubled | None) -> Troubled:
        """With what the service has said before as data of a used up quota, which the end repeats in words alone."""
        if before is None or not before.limited or self.limited:
            return self
        return replace(self, limited=True, resets_at=before.resets_at, window=before.window)


@dataclass(frozen=True, slots=True)
class Asked:
    """The model is asked, by a program that names its session only later. (A session comes before the question.)"""


@dataclass(frozen=True, slots=True)
class NotConnected:
    """The program started without our MCP server, so nothing that it does counts."""

    words: str

    def __post_init__(self) -> None:
        if not _is_text(self.words):
            raise TypeError("this is not text")


@dataclass(frozen=True, slots=True)
class Note:
    """Anything else that deserves a line."""

    text: str


Event = Said | Piece | Turned | Answering | Called | Returned | Used | Session | Troubled | Asked | NotConnected | Note
Parse = Callable[[dict[str, Any]], Iterable[Event]]
Price = Callable[[str | None, int, int, int], float | None]
"""US dollars for tokens of a model: read, written, and how many of those read came from a cache."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What a program's session had used when it was left: the start of what a resumed run adds."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost_usd: float = 0.0

    @classmethod
    def read(cls, values: Any) -> Totals:
        """From what the server kept; anything else counts as nothing."""
        if not isinstance(values, dict):
            return cls()
        numbers: dict[str, Any] = {n: values.get(n) for n in ("input_tokens", "output_tokens", "cached_tokens")}
        cost: Any = values.get("cost_usd")
        return cls(
            **{name: number for name, number in numbers.items() if _is_count(number)},
            cost_usd=float(cost) if _is_number(cost, MOST_MONEY) else 0.0,
        )


@dataclass(slots=True)
class _Sum:
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def add(self, used: Used) -> None:
        self.input_tokens = min(self.input_tokens + used.input_tokens, MOST_TOKENS)
        self.output_tokens = min(self.output_tokens + used.output_tokens, MOST_TOKENS)
        self.cached_tokens = min(self.cached_tokens + used.cached_tokens, MOST_TOKENS)


@dataclass(slots=True)
class Reading:
    """Follows one output from its first line. `parse` None: a program whose output is its own words only."""

    parse: Parse | None = None
    before: Totals = field(default_factory=Totals)
    price: Price | None = None
    """The cost of tokens, if the program reports no cost."""
    session_id: str | None = None
    model: str | None = None
    turns: int = 0
    tool_calls: int = 0
    trouble: Troubled | None = None
    """The last no of the model's service that nothing good has followed."""
    not_connected: str | None = None
    asked: bool = False
    """Whether the program has called its model, if it reports that; silence is then the service's."""
    mask: Callable[[str], str] = str
    """Hides secrets, in what is shortened: a cut may leave a part of one that is not recognised any longer."""
    idle_turns: int = 0
    """Answers in a row in which the model neither called anything that it had not called before, nor was answered
    anything new."""
    signs_of_life: int = 0
    """How many times the model wrote, called a tool or got an answer. Continued trouble does not count."""
    _added: _Sum = field(default_factory=_Sum)
    _provisional: dict[str, Used] = field(default_factory=dict)
    """By answer; those without a name each for themselves."""
    _known: set[int] = field(default_factory=set)
    """The calls and results that were met."""
    _counts: bool = False
    """Whether its service tells what answers use."""
    _answers: set[str] = field(default_factory=set)
    _said: bool = False
    """Whether it has reported its final usage, and not only provisional figures."""
    _over: bool = False
    """Whether that was the last thing that it reported: no other run has begun."""
    _answering: bool = False
    _doing: Doing | None = None
    _sign: Callable[[], Doing | None] | None = None
    """The newest sign of what it does: read when somebody asks, for most are followed by another at once."""
    _call: Callable[[], Doing] | None = None
    """The newest call."""
    _spoken: str = ""
    """The end of what the model said, whole lines of it."""
    _waiting: log_lines.OpenCalls = field(default_factory=log_lines.OpenCalls)
    _open: str = ""
    """An incomplete line of the model's text."""
    _total: Used | None = None
    _cost: float | None = None
    _total_cost: float | None = None
    _plain: deque[str] = field(default_factory=lambda: deque(maxlen=200))

    def line(self, line: str) -> str:
        """What people read of one line (without its end), lines of it with theirs; may be empty."""
        document = _document(line) if self.parse is not None else None
        if document is None or self.parse is None:
            self._plain.append(line[-PLAIN_TAIL:])
            self._sign = lambda: words.of_output(self.mask(self.plain))
            # People see the line unchanged, whatever it contained.
            with contextlib.suppress(*MISUNDERSTOOD):
                self.also(self.parse({PLAIN: line}) if self.parse is not None else ())
            return self.rest() + line + "\n"
        try:
            return "".join(self._heard(each) for each in self.parse(document))
        except MISUNDERSTOOD:  # an unknown format is shown unchanged; known values still count
            self._sign = lambda: words.of_output(self.mask(line[-PLAIN_TAIL:]))
            return self.rest() + line + "\n"

    def rest(self) -> str:
        """What was held back until its line is whole: nothing follows that belongs to it."""
        held, self._open = self._open, ""
        return log_lines.text_line(f"{held}\n") if held else ""

    def also(self, events: Iterable[Event]) -> None:
        """Usage that the program reported outside of its output."""
        for event in events:
            self._heard(event)

    @property
    def doing(self) -> Doing | None:
        """What it does now: a new value for each sign."""
        if self._sign is not None:
            self._doing, self._sign = self._sign() or self._doing, None
        return self._doing

    @property
    def unanswered(self) -> bool:
        """Whether its model was asked, and has not answered anything."""
        return self.asked and not self.signs_of_life

    @property
    def plain(self) -> str:
        """The end of what was no JSON."""
        return "\n".join(self._plain)[-PLAIN_TAIL:]

    @property
    def usage(self) -> dict[str, Any] | None:
        """In the form of `report_process_exit`; None if nothing was reported. Tokens of this launch only."""
        total, before, provisional = self._total, self.before, self._so_far
        found = {
            name: getattr(self._added, name)
            + getattr(provisional, name)
            + (max(0, getattr(total, name) - getattr(before, name)) if total is not None else 0)
            for name in ("input_tokens", "output_tokens", "cached_tokens")
        }
        parts = [self._cost]
        if self._total_cost is not None:
            parts.append(max(0.0, self._total_cost - self.before.cost_usd))
        known = [part for part in parts if part is not None]
        cost = round(sum(known), 6) if known else None
        if cost is None and self.price is not None:
            cost = self.price(self.model, found["input_tokens"], found["output_tokens"], found["cached_tokens"])
        if not (any(found.values()) or cost or self.turns or self.tool_calls):
            return None
        return {
            **found,
            "cost_usd": cost,
            "model": self.model,
            "turns": self.turns,
            "tool_calls": self.tool_calls,
            "lower_bound": self._unfinished,
        }

    @property
    def totals(self) -> dict[str, Any]:
        """Of the program's session, for who resumes it."""
        total = self._total or self.before
        cost = self._total_cost if self._total_cost is not None else self.before.cost_usd
        return asdict(Totals(total.input_tokens, total.output_tokens, total.cached_tokens, cost))

    @property
    def _so_far(self) -> _Sum:
        """The provisional usage of a run that has not reported its total yet."""
        found = _Sum()
        for each in self._provisional.values():
            found.add(each)
        return found

    @property
    def _unfinished(self) -> bool:
        """Or one that has worked and said nothing of it."""
        silent = not self._said and bool(self.turns or self.tool_calls)
        return silent or bool(self._so_far.input_tokens or self._so_far.output_tokens)

    def _heard(self, event: Event) -> str:
        before = "" if isinstance(event, Piece | Answering) else self.rest()
        return before + self._happened(event)

    def _happened(self, event: Event) -> str:
        match event:
            case Said() | Piece() | Turned() | Answering() | Called() | Returned():
                told = self._worked(event)
                if not isinstance(event, Said) or event.whole:
                    self._lives()
                return told
            case Used():
                return self._used(event)
            case Session(id_):
                self.session_id, self.asked, self._over = id_, True, False
                return ""
            case Asked():
                self.asked = True
                return ""
            case Troubled(words, status):
                before = self.trouble
                known = before is not None and (before.words, before.status) == (words, status)
                self.trouble = event.after(before)
                return "" if known and event.final else _trouble_line(event)
            case NotConnected(words):
                self.not_connected = words
                return f"! not connected to Toryo: {words}\n"
            case Note(text):
                return f"· {log_lines.short(text, LONGEST_NOTE)}\n"

    def _lives(self) -> None:
        """Trouble is over, unless the program has told it at its end."""
        self.signs_of_life += 1
        if self.trouble is not None and (not self.trouble.final or self.trouble is CUT_OFF):
            self.trouble = None

    def _worked(self, event: Said | Piece | Turned | Answering | Called | Returned) -> str:
        """The model spoke, called, or was answered."""
        match event:
            case Said(text):
                self._spoke(f"{text}\n")
                return log_lines.text_line(text + "\n" if text and not text.endswith("\n") else text)
            case Piece(text):
                whole, end, self._open = (self._open + text).rpartition("\n")
                self._spoke(whole + end)
                return log_lines.text_line(whole + end)
            case Turned(answer):
                self._turned(answer not in self._answers)
                self._answers |= {answer} if answer else set()
                return ""
            case Answering():
                self._turned(not self._answering)
                self._answering = True
                return ""
            case Called(tool, arguments, id_):
                self.tool_calls += 1
                self._met(f"{tool} {arguments}")
                self._sign = self._call = partial(words.of_call, tool, arguments, self.mask)
                self._waiting.called(id_)
                return log_lines.call(tool, arguments, self.mask)
            case Returned(text, failed, id_):
                self._answering = False
                self._met(text)
                call = self._call
                self._sign = lambda: words.of_return(call() if call is not None else None, failed=failed)
                return log_lines.result(text, self._waiting.answered(id_), self.mask, failed=failed)

    def _turned(self, another: bool) -> None:
        self.turns += another
        self.idle_turns += another

    def _met(self, text: str) -> None:
        """A call or a result: news unless there was one just like it, whatever the numbers in it (times, durations)."""
        print_ = hash(_NUMBERS.sub("0", text[:_LOOKED_AT] + text[-_LOOKED_AT:]))
        if print_ not in self._known:
            self.idle_turns = 0
            self._known.add(print_)
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()

    def _spoke(self, text: str) -> None:
        if text:
            self._spoken = (self._spoken + text)[-words.MOST_READ :]
            self._sign = lambda: words.of_text(self.mask(self._spoken))

    def _used(self, used: Used) -> str:
        """A line on what the turn used, where the program reports that."""
        self.model = used.model or self.model
        if used.beside and self._over:
            return ""
        if used.beside and used.total:
            self._total = used
            return ""
        if used.provisional:
            self._provisional[used.answer or f"{len(self._provisional)}."] = used
            counted = bool(used.input_tokens or used.output_tokens)
            if used.ends and not counted and self._counts:
                self.trouble = CUT_OFF
            self._counts = self._counts or counted
            return ""
        told = self._of_turn(used)
        self._provisional = {}
        self._said = self._over = True
        self._answering = False  # a run is over
        if used.total:
            self._total = used
        else:
            self._added.add(used)
        if used.cost_usd is not None and used.total_cost:
            self._total_cost = used.cost_usd
        elif used.cost_usd is not None:
            self._cost = (self._cost or 0.0) + used.cost_usd
        return told

    def _of_turn(self, used: Used) -> str:
        """What came since the last report: some programs add up all of their session."""
        last = (self._total or self.before) if used.total else Totals()
        cost = used.cost_usd
        if cost is not None and used.total_cost:
            cost -= self._total_cost if self._total_cost is not None else self.before.cost_usd
        names = ("input_tokens", "output_tokens", "cached_tokens")
        read, written, cached = (max(0, getattr(used, name) - getattr(last, name)) for name in names)
        return log_lines.usage_line(read, written, cached, cost) if read or written or cost else ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and abs(value) <= MOST_TOKENS


def _is_number(value: object, most: float) -> bool:
    """Not-a-number is none: it compares with nothing."""
    return isinstance(value, int | float) and abs(value) <= most


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME


CUT_OFF = Troubled("The connection to its model's service was cut in the middle of an answer.", final=True)
"""Until anything follows: then the program has gone on."""


def _document(line: str) -> dict[str, Any] | None:
    """The JSON object that a line is; None for anything else."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(line)
        if _HALF in line.lower():
            found = _whole(found)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


_HALF = "\\ud"
"""How JSON writes half a character: alone it cannot be stored, sent or written into a file."""


def _whole(value: Any) -> Any:
    """The same with no half characters."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if isinstance(value, dict):
        return {_whole(name): _whole(each) for name, each in value.items()}
    return value


def _trouble_line(trouble: Troubled) -> str:
    status = f" ({trouble.status})" if trouble.status else ""
    if trouble.own:
        return f"! stopped retrying: {log_lines.short(trouble.words, LONGEST_NOTE)}\n"
    then = "" if trouble.retry_seconds is None else f"; retry in {trouble.retry_seconds:g} s"
    return f"! the model's service returned an error{status}: {log_lines.short(trouble.words, LONGEST_NOTE)}{then}\n"
