"""Refusals: negative answers with a code, a message, and an instruction.

A refusal is an answer, not a crash; nothing has changed when one is raised. Codes are part of the contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from toryo.domain.texts import quoted
from toryo.domain.wording import constant, renamed


class Code(StrEnum):
    SESSION_TOKEN_INVALID = "sessionTokenInvalid"  # noqa: S105 - a code, not a secret
    SESSION_EXPIRED = "sessionExpired"
    AUTHENTICATION_REQUIRED = "authenticationRequired"
    PERMISSION_DENIED = "permissionDenied"
    PROOF_REQUIRED = "proofRequired"
    MANAGER_REQUIRED = "managerRequired"
    COORDINATOR_REQUIRED = "coordinatorRequired"
    CHAT_SESSION_REQUIRED = "chatSessionRequired"
    TASK_SESSION_REQUIRED = "taskSessionRequired"
    TASK_NOT_FOUND = "taskNotFound"
    PROJECT_NOT_FOUND = "projectNotFound"
    AGENT_NOT_FOUND = "agentNotFound"
    SESSION_NOT_FOUND = "sessionNotFound"
    LAUNCH_NOT_FOUND = "launchNotFound"
    HANDOFF_NOT_FOUND = "handoffNotFound"
    TOOL_NOT_FOUND = "toolNotFound"
    CONVERSATION_NOT_FOUND = "conversationNotFound"
    DELEGATION_NOT_FOUND = "delegationNotFound"
    QUESTION_NOT_FOUND = "questionNotFound"
    SCHEDULE_NOT_FOUND = "scheduleNotFound"
    WEBHOOK_NOT_FOUND = "webhookNotFound"
    TEMPLATE_NOT_FOUND = "templateNotFound"
    MEMORY_NOT_FOUND = "memoryNotFound"
    ARTIFACT_NOT_FOUND = "artifactNotFound"
    MESSAGE_NOT_FOUND = "messageNotFound"
    WORKTREE_NOT_FOUND = "worktreeNotFound"
    WORKTREE_JOB_NOT_FOUND = "worktreeJobNotFound"
    INVALID_TRANSITION = "invalidTransition"
    DEPENDENCY_NOT_MET = "dependencyNotMet"
    DEPENDENCY_CYCLE = "dependencyCycle"
    TOO_MANY_SUBTASKS = "tooManySubtasks"
    SUBTASKS_OPEN = "subtasksOpen"
    DUPLICATE_SUBTASK = "duplicateSubtask"
    CONVERSATION_REQUIRED = "conversationRequired"
    CONVERSATION_NOT_ACTIVE = "conversationNotActive"
    TURN_LIMIT_REACHED = "turnLimitReached"
    NOT_YOUR_TURN = "notYourTurn"
    DELEGATION_OPEN = "delegationOpen"
    CHECKS_FAILED = "checksFailed"
    NOT_APPROVED = "notApproved"
    LIMIT_REACHED = "limitReached"
    DEPTH_EXCEEDED = "depthExceeded"
    ATTEMPTS_EXHAUSTED = "attemptsExhausted"
    TOO_LARGE = "tooLarge"
    INVALID_CREDENTIALS = "invalidCredentials"
    LOCKED = "locked"
    RUNAWAY = "runaway"
    ALREADY_RUNNING = "alreadyRunning"
    NOT_NOW = "notNow"
    CONFLICT = "conflict"
    VALIDATION_ERROR = "validationError"
    RATE_LIMITED = "rateLimited"
    UNAVAILABLE = "unavailable"


_GONE = object()


def _without(value: Any, made: Mapping[str, str]) -> Any:
    """A detail without the ids of things that were not created after all, and without entries about them."""
    if isinstance(value, str):
        return _GONE if value in made else value
    if isinstance(value, (list, tuple)):
        return [kept for each in value if (kept := _without(each, made)) is not _GONE]
    if isinstance(value, Mapping):
        return _GONE if any(isinstance(each, str) and each in made for each in value.values()) else value
    return value


class Refusal(Exception):
    """Raised by a rule that refuses a call; the dispatcher rolls back and returns it as the answer.

    `message` and `instruction` are constants or made by `say`, so that they can be translated. `details` are further
    keys of the answer (ids, possible moves); they never replace the four standard ones.
    """

    def __init__(self, code: Code, message: str, instruction: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = constant(message)
        self.instruction = constant(instruction)
        self.details = details

    def without(self, made: Mapping[str, str]) -> Refusal:
        """A copy that does not mention things that were not created (`made`: their ids and display names)."""
        names = {each: quoted(called) if called else "the new one" for each, called in made.items()}
        message, instruction = renamed(self.message, names), renamed(self.instruction, names)
        details = {key: kept for key, detail in self.details.items() if (kept := _without(detail, made)) is not _GONE}
        return Refusal(self.code, message, instruction, **details)

    def answer(self) -> dict[str, Any]:
        """The refusal as a result: `success`, `error` (the code), `message`, `instruction`, and the details."""
        standard = {
            "success": False,
            "error": self.code.value,
            "message": self.message,
            "instruction": self.instruction,
        }
        return {**self.details, **standard}
