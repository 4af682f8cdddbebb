"""Faults in what protects: locks, fences, masks, permissions, who sees what. Each is written here, not made by a rule.

A text that is to be replaced must stand in its file exactly once: `tests/mutations/test_mutations.py` looks.
"""

from __future__ import annotations

from pathlib import Path

from tests.mutations.mutator import Fault, function_at

_WRITTEN: dict[str, tuple[tuple[str, str, str], ...]] = {
    "secret_patterns.py": (
        ("Toryo's own tokens are not masked", 'rf"(?<![A-Za-z0-9])(?:{_OWN})_[\\w-]{{16,}}"', 'rf"(?!)"'),
        (
            "browser cookies are not masked",
            "LAUNCH, SESSION, QUEUE, BROWSER, PAGE, PASSKEY, WEBHOOK)",
            "LAUNCH, SESSION, QUEUE, PAGE, PASSKEY, WEBHOOK)",
        ),
        ("tokens of GitHub are not masked", r'r"|\bgh[oprsu]_[A-Za-z0-9]{20,}|', 'r"|'),
        ("an Authorization header is not masked", "|(?<=uthorization: [Bb]asic )[\\w+/=]{8,}", ""),
    ),
    "domain/log_redaction.py": (
        ("passwords in URLs are not masked", r"|(?<=://)[^/?#\s@]{{1,300}}(?=@)", ""),
        ("fields named cookie hold no secret", "|cookie", ""),
    ),
    "storage/engine/sqlite.py": (
        ("two processes may own a database", "fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass"),
        ("readers may write", ', "PRAGMA query_only = ON"', ""),
        ("foreign keys are not looked at", '"PRAGMA foreign_keys = ON", ', ""),
        ("commits are not flushed to the disk", "PRAGMA synchronous = FULL", "PRAGMA synchronous = OFF"),
        (
            "everybody may read a new database",
            "os.O_CREAT | os.O_CLOEXEC, 0o600))",
            "os.O_CREAT | os.O_CLOEXEC, 0o644))",
        ),
        ("everybody may read an old database", "each.chmod(0o600)", "pass"),
        ("a failed work of a batch is kept", 'connection.command("ROLLBACK TO work")', "pass"),
        ("a batch with a failed work is committed", "connection.rollback()\n                return False", "pass"),
        ("a deleted database is written on", "self._database.check_file()", "pass"),
    ),
    "storage/engine/unit_of_work.py": (
        (
            "a rolled back work writes its rows",
            "self.forget()\n        self._added, self._changed",
            "self.forget()\n        _, self._changed",
        ),
        (
            "an answer is known though its table has changed",
            "if known is not None and known[0] == state:",
            "if known is not None:",
        ),
        (
            "a query misses the rows that are not written",
            "        if self._unwritten:\n            self.before(statement)\n",
            "",
        ),
        ("a removed row is added all the same", "self._added.get(target, {}).pop(key, None)", "pass"),
        (
            "what was read before a lock is believed after it",
            "        self._known.clear()\n        self._answers.clear()\n",
            "",
        ),
    ),
    "storage/engine/directory_memory.py": (
        (
            "answers of one version count for another",
            "self._states.get(stamp) or self._new(stamp)",
            "next(iter(self._states.values()), None) or self._new(stamp)",
        ),
    ),
    "storage/launches.py": (("two launches have the same fence", "_t.c.fence.desc()", "_t.c.fence.asc()"),),
    "operations/calls/permissions.py": (
        ("anybody does what Coordinators do", "if caller.kind is not Kind.COORDINATOR:", "if False:"),
        ("members do what owners do", "operation.grant is Grant.OWNER and caller.login is not Login.OWNER", "False"),
        ("viewers change things", "    if caller.login is Login.VIEWER:", "    if False:"),
        ("a key calls tools that it was not made for", "key.tools and operation.name not in key.tools", "False"),
        (
            "any agent's key creates tasks for queues",
            "operation.grant is Grant.FILER and not caller.orchestrates",
            "False",
        ),
        ("workers do what managers do", "caller.agent is None or caller.agent.role is not Role.MANAGER", "False"),
        ("chat sessions work on tasks", "if session.purpose is not Purpose.TASK:", "if False:"),
        ("task sessions chat", "if session.purpose is not Purpose.CHAT:", "if False:"),
        ("nobody needs to say who is reading", "if caller.session is None and not caller.is_person:", "if False:"),
    ),
    "operations/calls/visibility.py": (
        ("sessions see other projects", "return call.caller.project_id == project_id", "return True"),
        (
            "members see other projects",
            "return not _is_member(call) or _belongs(call, _me(call), project_id)",
            "return True",
        ),
        (
            "who has left a project sees it",
            "return membership is not None and membership[1] is None",
            "return membership is not None",
        ),
        ("viewers see how people sign in", 'event.kind.startswith(("person.", "server."))', "False"),
        (
            "keys see the agents of other projects",
            'return call.tx.agents.membership(call.caller.project_id or "", agent.id) is not None',
            "return True",
        ),
    ),
    "operations/calls/credential_verification.py": (
        ("a revoked key is good", "key is None or key.revoked_at is not None", "key is None"),
        ("a key of an inactive agent is good", "agent.active and (membership is None", "(membership is None"),
        (
            "a token that has expired is good",
            "(PERSON) else None\n    person = tx.agents.find(found.agent_id) if found is not None and found.live(now)",
            "(PERSON) else None\n    person = tx.agents.find(found.agent_id) if found is not None",
        ),
        (
            "a browser stays signed in when its time is over",
            "    return found if found.live(now) else None",
            "    return found",
        ),
        (
            "a token gives more than it was made for",
            "return Login(people.lesser(most, role_of(tx, person)))",
            "return role_of(tx, person)",
        ),
        (
            "a connection calls as somebody else's session",
            "by_header.kind in (Kind.SESSION, Kind.LAUNCH) and not _same(by_header, by_argument)",
            "False",
        ),
    ),
    "operations/calls/sign_in_lockout.py": (
        ("guessing passkeys is never refused", "return until if now < until else None", "return None"),
        (
            "one guesses the passkeys of many agents",
            "{**found, Counter(kind, None, address): OF_ADDRESS[kind]} if remote else found",
            "found",
        ),
        (
            "one address locks out all others",
            "Counter(kind, name, address): OF_NAME",
            'Counter(kind, name, ""): OF_NAME',
        ),
    ),
    "operations/calls/argument_redaction.py": (
        ("secrets stand in the log", "log_redaction.MASK if secret else ", ""),
        (
            "pasted tokens stand in the log",
            "return _speakable(log_redaction.hide_secrets(value))",
            "return _speakable(value)",
        ),
    ),
    "operations/calls/idempotency.py": (
        ("a key is taken again for another request", "if content != self.content:", "if False:"),
        (
            "secrets are kept with the key",
            "for name, value in result.items() if name not in SECRETS}",
            "for name, value in result.items()}",
        ),
    ),
    "operations/sessions/guards.py": (
        (
            "a session goes on after its end",
            "if session.over:\n        _refuse_over",
            "if False:\n        _refuse_over",
        ),
        ("a runaway goes on", "if session.runaway is not None:\n        works", "if False:\n        works"),
        ("who was dismissed reports for its grace", "within_grace and still_belongs(call, session)", "within_grace"),
        ("a withdrawn task is worked on", "        _refuse_withdrawn(call, session)\n", ""),
        ("a paused project is worked on", "        _refuse_paused(call, session)\n", ""),
        (
            "a call does not renew the lease",
            "max(session.expires_at, call.now + session.lease_seconds * SECOND)",
            "session.expires_at",
        ),
    ),
    "operations/worktrees/worktree_locks.py": (
        ("files are moved under a process", "if worker is not None:\n        raise", "if False:\n        raise"),
        ("two jobs move the same files", "if job is not None:\n        raise", "if False:\n        raise"),
        (
            "a task starts away from its files",
            "_worktree_job(call, own) or _elsewhere(call, own, coordinator_id)",
            "_worktree_job(call, own)",
        ),
    ),
    "operations/queue/claims.py": (
        (
            "an expired claim of a queue is kept",
            'list(each_fenced(call, "queues", lost, lambda each: lose(call, each, "lost")))',
            "pass",
        ),
    ),
    "domain/queue.py": (
        (
            "a claim can be renewed without end",
            "min(now + claim.lease, claim.claimed_at + LONGEST_CLAIM)",
            "now + claim.lease",
        ),
    ),
    "output_redaction.py": (
        ("a known secret stands in an agent's output", "text = text.replace(each, MASK)", "pass"),
        (
            "passwords in addresses are no secrets",
            'yield from _signing_in(address["user"], address["password"])',
            "yield from ()",
        ),
    ),
}


def faults(sources: Path) -> list[Fault]:
    """All of them; `sources` is src/toryo. Raises ValueError if one no longer fits its file."""
    found = []
    for file, written in _WRITTEN.items():
        text = (sources / file).read_text(encoding="utf-8")
        for what, old, new in written:
            if text.count(old) != 1:
                raise ValueError(f"{file} has {text.count(old)} times what is to be replaced so that {what}")
            before = text[: text.index(old)]
            line = before.count("\n") + 1
            function = function_at(text, line)
            at = len(before.encode())
            found.append(Fault(file, function, what, old, new, line, at, within=bool(function)))
    return found
