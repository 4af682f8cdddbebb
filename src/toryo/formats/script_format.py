"""The format of a script, which says what an agent without a model answers to what, and what is wrong with a given one.

```yaml
answers:                                    # to what a person writes; the first that fits
  - when: your name                         # a regular expression, found anywhere in it
    answer: "I am {{agent_name}}."
  - when: play shiritori with (?P<partner>\\S+) for (?P<rounds>\\d+) rounds
    start: {target_agent_id: "{{partner}}", about: "shiritori, {{rounds}} rounds", report: "We played: {{last}}"}
conversations:                              # with other agents, begun here or there; by what they are about
  - about: shiritori, (?P<rounds>\\d+) rounds
    rounds: "{{rounds}}"                    # messages of each side
    opening: ringo
    replies: {ringo: gorira, rappa: panda}  # what to what; or a list, one after the other
delegations:                                # what the own task session wants said
  - {about: ask, await_answer: true}
tasks:                                      # what the task session wants said and runs, by title
  - match: Play with (?P<partner>.+)
    delegate: {target_agent_id: "{{partner}}", purpose: "shiritori, 6 rounds"}
behave: [endless]                           # as badly as a test needs it
```

`{{…}}` names the groups of the pattern, and the names that are allowed at that place (`KNOWN`). `chat_session.py` sends
the messages, `script_rules.py` selects them, `misbehaviour.py` implements `behave`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from toryo.formats import yaml_documents
from toryo.formats.command_templates import VARIABLE
from toryo.formats.plan_patterns import FACTS, LONGEST_PATTERN, compile_pattern
from toryo.formats.yaml_documents import Document, Mistakes

__all__ = ["KNOWN", "Mistakes", "Script", "parse", "read"]

_ALWAYS = ("agent_id", "agent_name", "project_id")
_MESSAGE = (*_ALWAYS, "text", "from", "from_id")
_TALK = (*_ALWAYS, "text", "from_id", "partner", "about", "turns")
KNOWN: Mapping[str, tuple[str, ...]] = {
    "answers": _MESSAGE,
    "answers.report": (*_MESSAGE, "partner", "about", "last", "summary", "reason"),
    "answers.request": (*_MESSAGE, "task_id", "approval", "problem"),
    "otherwise": _MESSAGE,
    "conversations": _TALK,
    "delegations": (*_ALWAYS, "purpose", "context", "partner"),
    "delegations.result": (*_ALWAYS, "purpose", "context", "partner", "last", "summary", "reason"),
    "tasks": (*_ALWAYS, *FACTS),
}
"""The names allowed in `{{…}}` at each place, beside the groups of the pattern; in tasks also `context.KEY`."""


Pattern = Annotated[str, Field(max_length=LONGEST_PATTERN)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Rounds = int | str | None


class Start(Section):
    """A conversation that a person asks for."""

    target_agent_id: str = Field(min_length=1, description="The id of the other agent or person.")
    about: str = Field(
        min_length=1, description="The purpose. A conversation of this script whose pattern matches it is held."
    )
    opening: str | None = Field(None, description="Overrides the first message of the conversation.")
    rounds: Rounds = Field(None, description="Overrides the number of rounds of the conversation.")
    report: str | None = Field(
        "My conversation with {{partner}} is over: {{last}}", description="What the person is told at the end."
    )


class Tell(Section):
    """One message to a person."""

    target_agent_id: str = Field(min_length=1)
    text: str = Field("{{text}}", min_length=1)


class Request(Section):
    """A task that is requested on behalf of the person who wrote."""

    title: str = Field(min_length=1)
    description: str = "{{text}}"
    assignee_id: str = Field("{{agent_id}}", description="Default: the agent itself.")
    priority: Literal["low", "medium", "high", "critical"] = "medium"
    answer: str | None = Field(
        "I requested task {{task_id}} ({{approval}}).", description="The answer when the request was made."
    )
    refused: str | None = Field(
        "I could not request it: {{problem}}", description="The answer when the request was refused."
    )


class Answer(Section):
    when: Pattern = Field(description="A regular expression that is searched in the message.")
    answer: str | None = None
    start: Start | None = None
    request: Request | None = None
    tell: Tell | None = None
    notify: str | None = Field(None, description="A notification for the agent's own task session.")

    @field_validator("when")
    @classmethod
    def _is_a_pattern(cls, pattern: str) -> str:
        return yaml_documents.regular(pattern)

    @model_validator(mode="after")
    def _does_something(self) -> Answer:
        if not any((self.answer, self.start, self.request, self.tell, self.notify)):
            raise ValueError("the rule does nothing: add answer, start, request, tell or notify")
        return self


class Conversation(Section):
    about: Pattern = Field(description="A regular expression that is searched in the purpose of the conversation.")
    rounds: Rounds = Field(None, description="How many messages each side sends.")
    opening: str | None = Field(None, description="The first message, if this agent begins. Default: the purpose.")
    replies: list[str] | dict[str, str] = Field(
        [], description="The messages that this agent sends, in order; or its answers to patterns."
    )
    otherwise: str | None = Field(
        None, description="The answer when nothing matches or the list is used up. Default: the conversation ends."
    )
    ends: Literal["limit", "starter", "invited"] = Field(
        "limit", description="Who ends the conversation after the rounds."
    )
    final: str | None = Field(None, description="The last message.")
    summary: str | None = Field(None, description="The result of the conversation, for its task.")
    tell: Tell | None = Field(None, description="Forwards each message of the partner to a person.")

    @field_validator("about")
    @classmethod
    def _is_a_pattern(cls, pattern: str) -> str:
        return yaml_documents.regular(pattern)


class Delegation(Section):
    about: Pattern = Field(description="A regular expression that is searched in the purpose of the delegation.")
    say: str = Field("{{purpose}}", min_length=1, description="The message, or the first message of a conversation.")
    await_answer: bool = Field(False, description="The answer of a person is the result.")
    result: str = Field(
        "{{last}}", min_length=1, description="The result that is reported at the end of a conversation."
    )
    fail: str | None = Field(None, description="The delegation is reported as failed with this reason.")

    @field_validator("about")
    @classmethod
    def _is_a_pattern(cls, pattern: str) -> str:
        return yaml_documents.regular(pattern)


class Delegate(Section):
    """The parameters of delegate_to_chat_session."""

    target_agent_id: str = Field(min_length=1)
    purpose: str = Field(min_length=1)
    context: Any = None
    await_result: bool = True


class Task(Section):
    match: Pattern = Field(
        "*",
        description="The titles: an exact title, a regular expression for all of it, or a glob.",
    )
    delegate: list[Delegate] = []
    run: str | list[str] | None = Field(None, description="Overrides context.command of the task.")

    @field_validator("match")
    @classmethod
    def _is_a_pattern(cls, pattern: str) -> str:
        return yaml_documents.regular(pattern, or_glob=True)

    @field_validator("delegate", mode="before")
    @classmethod
    def _as_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, Mapping) else value


class Behaviour(Section):
    """How an agent does not behave; see `misbehaviour.py`."""

    rude: bool = False
    silent: bool = False
    endless: bool = False
    ignores_turns: bool = False
    floods: bool = False
    crash_after: int | None = Field(None, ge=1, description="Crashes at this message of its process.")
    exit_after: int | None = Field(None, ge=1, description="Leaves at this message of its process.")


class Script(Section):
    answers: list[Answer] = []
    otherwise: str | None = Field(
        "I am {{agent_name}}, an agent without a model, and my script has no answer to that. You can give me a task.",
        description="The answer to a person when no rule matches. null: no answer.",
    )
    conversations: list[Conversation] = []
    delegations: list[Delegation] = []
    tasks: list[Task] = []
    behave: Behaviour = Behaviour()


def is_path(value: Any) -> bool:
    """Whether `provider_options.script` names a file; else it is the script itself."""
    return isinstance(value, str) and "\n" not in value.strip() and not re.match(r"\{|\w+:\s", value.strip())


def read(value: Any, project_directory: Path | yaml_documents.FileText) -> dict[str, Any]:
    """The checked script of `provider_options.script`: a mapping, YAML, or a file's path in the project.

    Raises Mistakes.
    """
    return parse(yaml_documents.of_option(value, "script", is_path, project_directory))


def parse(document: Document) -> dict[str, Any]:
    """The script as plain data with every default filled in; raises Mistakes."""
    # `behave: rude` and `behave: [rude, floods]` are short for `{rude: true, floods: true}`.
    said = document.data.get("behave") if isinstance(document.data, dict) else None
    names = [said] if isinstance(said, str) else said
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        document.data["behave"] = dict.fromkeys(names, True)
        line = document.line(("behave",))
        document.lines.update({("behave", name): line for name in names if line is not None})
    script = yaml_documents.checked(document, Script)
    for path, pattern, texts in _rules(script.model_dump(mode="json", exclude_none=True)):
        _check_variables(document, path, pattern, texts)
        yaml_documents.check_commands(document, texts, path)
    document.fail_if_mistaken()
    return script.model_dump(mode="json")


_Rule = tuple[yaml_documents.Path, str | None, dict[str, Any]]
_PATTERNS = {"answers": "when", "conversations": "about", "delegations": "about", "tasks": "match"}


def _rules(script: Mapping[str, Any]) -> Iterator[_Rule]:
    """Each rule's place, pattern, and the rest of it."""
    for kind, key in _PATTERNS.items():
        for number, rule in enumerate(script.get(kind) or ()):
            yield (kind, number), rule[key], {name: value for name, value in rule.items() if name != key}
    yield (), None, {"otherwise": script.get("otherwise")}


def _check_variables(
    document: Document, path: yaml_documents.Path, pattern: str | None, rule: Mapping[str, Any]
) -> None:
    groups = _groups(pattern)
    for where, text in yaml_documents.every_text(rule, path):
        of_reply = _groups(str(where[-1])) if "replies" in where else []
        known = [*_known(where), *groups, *of_reply]
        for name in VARIABLE.findall(text):
            if name not in known and not (where[0] == "tasks" and name.startswith("context.")):
                words = f"there is no variable {name!r} here; {yaml_documents.hint(name, known)}"
                document.mistake(where, f"{yaml_documents.place(where)}{words}")


def _groups(pattern: str | None) -> list[str]:
    found = compile_pattern(pattern) if pattern else None
    return [*found.groupindex, *map(str, range(1, found.groups + 1))] if found else []


def _known(where: yaml_documents.Path) -> tuple[str, ...]:
    """What is known at a place: more at the end of a conversation, and when a request was made."""
    kind = str(where[0])
    name = where[-1]
    if "request" in where and name in ("answer", "refused"):
        return KNOWN["answers.request"]
    if name in ("report", "result") and f"{kind}.{name}" in KNOWN:
        return KNOWN[f"{kind}.{name}"]
    return KNOWN[kind]
