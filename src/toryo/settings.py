"""Every setting of the server: name, default, one line of help; from arguments or the environment (`TORYO_…`).

Only names, defaults and limits are here. The effect of a setting is in the module that reads it; the data directory is
located in `data_directories.py`. Settings of a project are in the database (`domain/projects.py`).
"""

from __future__ import annotations

import json
from email.utils import parseaddr
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from toryo.data_directories import data_dir
from toryo.domain.people import SIGN_IN_LIVES
from toryo.domain.push import KNOWN_SERVICES
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.times import HOUR, SECOND
from toryo.workflow.guard_limits import Limits

Seconds = int
Days = int


class SessionSettings(BaseModel):
    """How long sessions live (`TORYO_SESSION__DEFAULT_TIMEOUT` and so on)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default_timeout: Seconds = Field(
        3600,
        ge=60,
        description="How long a session stays open without a call, in seconds, if no Coordinator reports its process.",
    )
    max_timeout: Seconds = Field(86400, ge=60, description="Upper limit of default_timeout, in seconds.")
    lease: Seconds = Field(
        90,
        ge=5,
        description="How long a session stays open after its Coordinator last reported its process, in seconds.",
    )
    cleanup_interval: Seconds = Field(
        300,
        ge=1,
        description="How often expired sessions and other data are cleaned up, in seconds; values above 30 count "
        "as 30.",
    )


_GUARDS, _CHAT = Limits(), TalkLimits()
"""Where the defaults stand that decisions use, too; there in milliseconds."""


class GuardSettings(BaseModel):
    """Guards against runaways, and graces (`TORYO_GUARDS__COOLDOWN` and so on). Times are seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stop_grace: Seconds = Field(
        _GUARDS.stop_grace // SECOND,
        ge=0,
        description="How long an agent may go on after its launch or its task has ended, in seconds; none for "
        "provider command.",
    )
    pause_grace: Seconds = Field(
        _GUARDS.pause_grace // SECOND,
        ge=0,
        description="How long agents may go on after their project was paused, in seconds.",
    )
    same_answers: int = Field(
        _GUARDS.same_answers,
        ge=2,
        description="Stops a session that was told the same next action this many times in a row.",
    )
    refusals: int = Field(
        _GUARDS.refusals, ge=2, description="Stops a session after this many refused calls without a change in between."
    )
    idle_calls: int = Field(
        _GUARDS.idle_calls,
        ge=10,
        description="Stops a task session after this many calls in a row that changed nothing.",
    )
    calls: int = Field(
        _GUARDS.calls,
        ge=10,
        description="Stops a task session after this many calls (a chat session: calls that changed nothing).",
    )
    moves_of_one_task: int = Field(
        _GUARDS.moves_of_one_task, ge=2, description="Stops a session that has moved the same task this many times."
    )
    silence: Seconds = Field(
        _GUARDS.silence // SECOND,
        ge=1,
        description="Stops an agent that has neither called nor printed anything for this long, in seconds. "
        "Raise it for long builds.",
    )
    run_time: Seconds = Field(
        _GUARDS.run_time // SECOND, ge=1, description="How long one launch may work on a task, in seconds."
    )
    idle_launches: int = Field(
        _GUARDS.idle_launches, ge=1, description="Blocks a task after this many launches without progress."
    )
    unreported_ends: int = Field(
        _GUARDS.unreported_ends,
        ge=1,
        description="Blocks a task after its agent has left this many times in a row without reporting.",
    )
    cooldown: Seconds = Field(
        _GUARDS.cooldown // SECOND,
        ge=0,
        description="How long an agent is not started after a failed launch, in seconds; doubles with each "
        "further failure.",
    )
    longest_cooldown: Seconds = Field(
        _GUARDS.longest_cooldown // SECOND, ge=0, description="The longest cooldown after failed launches, in seconds."
    )
    quota_margin_percent: int = Field(
        _GUARDS.quota_margin_percent,
        ge=0,
        description="Percentage added to the waiting time that a quota message states (at most three minutes).",
    )


class ChatSettings(BaseModel):
    """How long talk waits, and how much of it there may be (`TORYO_CHAT__IDLE_TIMEOUT`). Times are seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start_timeout: Seconds = Field(
        _CHAT.start_timeout // SECOND,
        ge=1,
        description="How long until the sender of a message is told that the agent has not come to read it, in "
        "seconds.",
    )
    idle_timeout: Seconds = Field(
        _CHAT.idle_timeout // SECOND,
        ge=1,
        description="How long a chat session stays open with nothing to do, in seconds.",
    )
    invitation: Seconds = Field(
        _CHAT.invitation // SECOND,
        ge=1,
        description="How long an invited agent has to join a conversation, in seconds.",
    )
    silence: Seconds = Field(
        _CHAT.silence // SECOND, ge=1, description="Ends a conversation after this many seconds without a message."
    )
    ending: Seconds = Field(
        _CHAT.ending // SECOND,
        ge=1,
        description="How long an ended conversation waits until both agents know, in seconds; then it is closed.",
    )
    delegation_timeout: Seconds = Field(
        _CHAT.delegation_timeout // SECOND,
        ge=1,
        description="How long a delegation may stay open before it fails, in seconds.",
    )
    delegation_attempts: int = Field(
        _CHAT.delegation_attempts, ge=1, description="How many chat sessions may attempt a delegation before it fails."
    )
    viewer_lease: Seconds = Field(
        _CHAT.viewer_lease // SECOND,
        ge=1,
        description="Closes a chat panel of the dashboard that has not reported for this many seconds.",
    )
    messages_per_minute: int = Field(
        _CHAT.messages_per_minute, ge=1, description="How many messages one sender may send to one receiver per minute."
    )
    conversations_per_hour: int = Field(
        _CHAT.conversations_per_hour, ge=1, description="How many conversations the same two agents may start per hour."
    )


class AuthSettings(BaseModel):
    """How queue agents and people prove themselves (`TORYO_AUTH__MODE`, `TORYO_AUTH__PEOPLE` and so on)."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    mode: Literal["keys", "local", "open"] = Field(
        "keys",
        description="How queue agents get access. keys: with an API key that a person made; local: "
        "register_agent issues a key to every caller; open: without a key, for programs of your user on this machine. "
        "local and open are only for a server that listens on loopback.",
    )
    key_calls_per_minute: int = Field(
        3_000,
        ge=10,
        description="How many calls one API key may make per minute. Further calls are refused until there is "
        "room again.",
    )
    people: Literal["accounts", "tokens"] = Field(
        "accounts",
        description="How people sign in. accounts: with a password or through the identity provider; a server "
        "that others can reach starts only if one of the two is set up. tokens: only with tokens and "
        "with links made from them.",
    )
    oidc_issuer: str | None = Field(
        None, description="URL of the OpenID Connect provider that people sign in with: https://…"
    )
    oidc_client_id: str | None = Field(None, description="Client ID of this server at the identity provider.")
    oidc_client_secret: SecretStr | None = Field(
        None, description="Client secret, if the identity provider issued one."
    )
    oidc_scopes: str = Field("openid email profile", description="Scopes to request from the identity provider.")
    oidc_role_claim: str | None = Field(None, description="The claim whose values oidc_roles maps to roles.")
    oidc_roles: Annotated[dict[str, Literal["owner", "member", "viewer"]], NoDecode] = Field(
        default_factory=dict,
        description="Maps values of oidc_role_claim to roles: VALUE=ROLE,VALUE=ROLE. If several match, the "
        "highest role applies.",
    )
    oidc_default_role: Literal["none", "viewer", "member", "owner"] = Field(
        "none",
        description="Role of a new person without a matching value. none: they cannot sign in until an owner has "
        "added them.",
    )
    oidc_sign_in_hours: int = Field(
        24,
        ge=1,
        le=SIGN_IN_LIVES // HOUR,
        description="How long a sign-in through the identity provider lasts, in hours; then the provider is "
        "asked again.",
    )
    oidc_email_domains: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Only people with a verified e-mail address in these domains may sign in: "
        "example.org,example.com. Default: all.",
    )

    @field_validator("oidc_email_domains", mode="before")
    @classmethod
    def _domains(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(part.strip().lower().lstrip("@") for part in value.split(",") if part.strip())

    @field_validator("oidc_roles", mode="before")
    @classmethod
    def _roles(cls, value: object) -> object:
        return _pairs(value)

    @field_validator("oidc_issuer")
    @classmethod
    def _issuer(cls, value: str | None) -> str | None:
        """Requires https, except for a provider on this machine: an attacker who can change its answers can sign in as
        anybody.
        """
        if value is None:
            return None
        parts = urlsplit(value)
        local = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
        if not parts.hostname or not (local or parts.scheme == "https"):
            raise ValueError("must be a URL that begins with https://HOST")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.oidc_issuer is None) != (self.oidc_client_id is None):
            raise ValueError("oidc_issuer and oidc_client_id must be set together")
        if self.oidc_roles and self.oidc_role_claim is None:
            raise ValueError("oidc_roles needs oidc_role_claim: the claim that contains the values")
        return self


class RetentionSettings(BaseModel):
    """How long what is over is kept (`TORYO_RETENTION__TASK_DAYS` and so on). 0 keeps it indefinitely."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    automatic: bool = Field(
        True, description="Deletes what is older than its period by itself. Without it, only toryo db prune does."
    )
    task_days: Days = Field(
        180,
        ge=0,
        le=36_500,
        description="How long a closed task is kept after its whole tree was closed, in days. 0: indefinitely.",
    )
    queue_task_days: Days = Field(
        30,
        ge=0,
        le=36_500,
        description="How long a completed or cancelled queue task without parent and subtasks is kept, in days. "
        "0: indefinitely.",
    )
    launch_days: Days = Field(
        90,
        ge=0,
        le=36_500,
        description="How long an ended launch is kept with its session, in days. Its usage is kept by day. "
        "0: indefinitely.",
    )
    message_days: Days = Field(
        365,
        ge=0,
        le=36_500,
        description="How long a message that was read and a conversation that is over are kept, in days. "
        "0: indefinitely.",
    )
    event_days: Days = Field(
        90,
        ge=0,
        le=36_500,
        description="How long events of agents and of the server are kept, in days; those that decide about a task "
        "as long as the task. 0: indefinitely.",
    )
    audit_days: Days = Field(
        0,
        ge=0,
        le=36_500,
        description="How long events of people are kept (the audit log), in days. 0: indefinitely.",
    )


class NoticeSettings(BaseModel):
    """How people are told outside of what needs them (`TORYO_NOTICES__WEBHOOK_URL`)."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    webhook_url: SecretStr | None = Field(
        None, description="URL to which each notification is sent as JSON: http://… or https://…"
    )
    webhook_secret: SecretStr | None = Field(
        None, description="Secret that signs the notifications sent to the webhook (Standard Webhooks)."
    )
    smtp_url: SecretStr | None = Field(
        None,
        description="Mail server: smtps://USER:PASSWORD@HOST:PORT, or smtp://… (encrypted with STARTTLS if the "
        "server offers it).",
    )
    smtp_from: str | None = Field(None, description="Sender address of e-mails.")
    emails: Annotated[dict[str, str], NoDecode] = Field(
        default_factory=dict, description="Who receives e-mails, by the person's id: PERSON=ADDRESS,PERSON=ADDRESS."
    )
    dashboard_url: str | None = Field(
        None,
        description="Address at which people open the dashboard. E-mails and webhooks then link to what needs you: "
        "https://toryo.example.org",
    )
    message_after: Seconds = Field(
        60, ge=0, description="How long a message may stay unread before its receiver is notified, in seconds."
    )
    attempts: int = Field(8, ge=1, description="How many times the server tries to send a notification.")
    push_services: Annotated[tuple[str, ...], NoDecode] = Field(
        KNOWN_SERVICES,
        description="Hosts of push services that notifications in browsers may be sent to: HOST, *.DOMAIN or "
        "HOST:PORT, separated by commas; none sends no notifications to browsers.",
    )
    push_subject: str = Field(
        "mailto:toryo@localhost.localdomain",
        description="Contact that push services are given: mailto:ADDRESS or https://…",
    )

    @field_validator("dashboard_url")
    @classmethod
    def _dashboard(cls, value: str | None) -> str | None:
        if value is None:
            return None
        _refuse_other(SecretStr(value), ("http", "https"))
        if any(each in value for each in "?#@") or value.split() != [value]:
            raise ValueError("must be an address alone, such as https://toryo.example.org")
        return value.rstrip("/")

    @field_validator("push_services", mode="before")
    @classmethod
    def _services(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return (
            () if value.strip() == "none" else tuple(each.strip().lower() for each in value.split(",") if each.strip())
        )

    @field_validator("push_services")
    @classmethod
    def _hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for each in value:
            if "/" in each or "@" in each or "*" in each.removeprefix("*.") or not each.removeprefix("*."):
                raise ValueError(f"must be none, or hosts such as push.example.org or *.example.org, not {each!r}")
        return value

    @field_validator("push_subject")
    @classmethod
    def _subject(cls, value: str) -> str:
        if not value.startswith(("mailto:", "https://")):
            raise ValueError("must begin with mailto: or https://")
        return value

    @property
    def configured(self) -> bool:
        return self.webhook_url is not None or self.smtp_url is not None

    @field_validator("webhook_url")
    @classmethod
    def _webhook(cls, url: SecretStr | None) -> SecretStr | None:
        return _refuse_other(url, ("http", "https"))

    @field_validator("smtp_url")
    @classmethod
    def _smtp(cls, url: SecretStr | None) -> SecretStr | None:
        return _refuse_other(url, ("smtp", "smtps"))

    @field_validator("emails", mode="before")
    @classmethod
    def _addresses(cls, value: object) -> object:
        return _pairs(value)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        """What belongs together is there together, and addresses look like addresses."""
        if self.smtp_url is not None and (not self.emails or self.smtp_from is None):
            raise ValueError("smtp_url needs smtp_from (the sender) and emails (the receivers)")
        if self.smtp_url is None and (self.emails or self.smtp_from is not None):
            raise ValueError("smtp_from and emails need smtp_url (the mail server)")
        if self.webhook_url is None and self.webhook_secret is not None:
            raise ValueError("webhook_secret needs webhook_url")
        wrong = [each for each in (*self.emails.values(), *filter(None, [self.smtp_from])) if not _is_address(each)]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is not an e-mail address")
        return self


def _pairs(value: object) -> object:
    """The environment's form, `ann=ann@example.org,ben=ben@example.org`, JSON, and a mapping."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError("must be NAME=VALUE,NAME=VALUE, or a JSON object") from None
    pairs = (part.partition("=") for part in value.split(",") if part.strip())
    return {name.strip(): told.strip() for name, _, told in pairs}


def _refuse_other(url: SecretStr | None, schemes: tuple[str, ...]) -> SecretStr | None:
    """A URL of one of these schemes, with a host; what is wrong is said without repeating it: it may hold a secret."""
    if url is None:
        return None
    try:
        parts = urlsplit(url.get_secret_value())
        fits = parts.scheme in schemes and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"must be a URL that begins with {' or '.join(f'{each}://HOST' for each in schemes)}")
    return url


def _is_address(text: str) -> bool:
    name, _, host = parseaddr(text)[1].partition("@")
    return bool(name and host) and text.isprintable()


class Settings(BaseSettings):
    """The server's settings. Unknown arguments are refused; an empty environment variable counts as not set."""

    model_config = SettingsConfigDict(
        env_prefix="TORYO_",
        env_nested_delimiter="__",
        env_ignore_empty=True,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
    )

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8765, ge=0, le=65535, description="TCP port to listen on; 0 picks a free one.")
    socket: Path | None = Field(None, description="Path of a Unix socket to listen on as well.")
    data_dir: Path | None = Field(None, description="Directory of the database, tokens, logs and workspaces.")
    database: str | None = Field(
        None,
        validation_alias="TORYO_DATABASE_URL",
        description="Database URL: sqlite:///… or postgresql://…. Default: toryo.db in the data directory.",
    )
    redis: str | None = Field(
        None,
        validation_alias="TORYO_REDIS_URL",
        description="Redis URL, for hints between servers and for shared state. Optional.",
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Additional host names (with or without port) that clients may use for this server and whose "
        "pages may call it. * allows every name; pages of an origin other than the addressed one are "
        "still refused.",
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Addresses or networks of proxies whose X-Forwarded-Proto and X-Forwarded-For headers are "
        "trusted; unix for proxies that connect through the Unix socket.",
    )
    max_body_bytes: int = Field(2_000_000, ge=10_000, description="Largest request body that is accepted, in bytes.")
    max_connections: int = Field(
        10_000,
        ge=10,
        description="How many TCP connections may be open. Beyond it, the connection that has been idle longest "
        "is closed.",
    )
    max_connections_per_address: int = Field(
        2_000,
        ge=10,
        description="How many TCP connections one address (an IPv6 /64) may have open. Does not apply to trusted "
        "proxies.",
    )
    max_stored_bytes_per_key: int = Field(
        2_147_483_648,
        ge=0,
        description="How many bytes one API key may have stored. All keys and agents of a project together may store "
        "four times as much, a session of an agent one thirty-second. 0: no limit.",
    )
    max_open_tasks_per_key: int = Field(
        200_000,
        ge=0,
        description="How many open tasks one API key may have created; keys create no more in a project that has four "
        "times as many. 0: no limit.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info",
        description="Lowest level that is written to the log file. Warnings and errors always go to stderr as well.",
    )
    log_keep_days: int = Field(
        30, ge=1, le=36_500, description="How long the output of agents' programs is kept on the server, in days."
    )
    metrics: bool = Field(False, description="Serves metrics for Prometheus at /metrics.")
    telemetry: bool = Field(
        False,
        description="Records calls and tasks as OpenTelemetry spans. The OTEL_… variables say where they are sent.",
    )
    session: SessionSettings = Field(default_factory=SessionSettings, description="Lifetimes of sessions.")

    auth: AuthSettings = Field(default_factory=AuthSettings, description="Authentication of agents and people.")
    chat: ChatSettings = Field(
        default_factory=ChatSettings, description="Limits for messages, conversations and delegations."
    )
    guards: GuardSettings = Field(default_factory=GuardSettings, description="Guards, grace periods and cooldowns.")
    retention: RetentionSettings = Field(
        default_factory=RetentionSettings, description="How long what is over is kept."
    )
    notices: NoticeSettings = Field(
        default_factory=NoticeSettings, description="Notifications outside Toryo: browsers, webhook and e-mail."
    )

    @field_validator("socket")
    @classmethod
    def _at_home(cls, value: Path | None) -> Path | None:
        return None if value is None else value.expanduser()

    @field_validator("allowed_hosts", "trusted_proxies", mode="before")
    @classmethod
    def _names(cls, value: object) -> object:
        """The environment's form, `a.example,b.example:8765`, as well as a sequence."""
        return tuple(name.strip() for name in value.split(",") if name.strip()) if isinstance(value, str) else value

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for each in value:
            try:
                _ = each == "unix" or ip_network(each)
            except ValueError:
                raise ValueError(f"must be unix, or addresses or networks such as 10.0.0.0/8, not {each!r}") from None
        return value

    def directory(self) -> Path:
        """The data directory these settings mean, absolute; it need not exist yet."""
        return data_dir(self.data_dir)

    def database_url(self) -> str:
        """The database these settings mean: the one given, else `toryo.db` in the data directory."""
        return self.database or f"sqlite:///{self.directory() / 'toryo.db'}"
