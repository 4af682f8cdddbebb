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
from toryo.domain.talk_limits import TalkLimits
from toryo.domain.times import SECOND
from toryo.workflow.guard_limits import Limits

Seconds = int


class SessionSettings(BaseModel):
    """How long sessions live (`TORYO_SESSION__DEFAULT_TIMEOUT` and so on)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    default_timeout: Seconds = Field(3600, ge=60, description="Seconds a session lives without a call.")
    max_timeout: Seconds = Field(86400, ge=60, description="The longest time-out a session may be given, in seconds.")
    lease: Seconds = Field(90, ge=5, description="Seconds a session lives whose process a Coordinator reports.")
    cleanup_interval: Seconds = Field(300, ge=1, description="Seconds between sweeps of what has expired.")


_GUARDS, _CHAT = Limits(), TalkLimits()
"""Where the defaults stand that decisions use, too; there in milliseconds."""


class GuardSettings(BaseModel):
    """Guards against runaways, and graces (`TORYO_GUARDS__COOLDOWN` and so on). Times are seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stop_grace: Seconds = Field(
        _GUARDS.stop_grace // SECOND, ge=0, description="Seconds a process may outlive its launch (a command: none)."
    )
    pause_grace: Seconds = Field(
        _GUARDS.pause_grace // SECOND, ge=0, description="Seconds a process may go on after its project was paused."
    )
    same_answers: int = Field(
        _GUARDS.same_answers, ge=2, description="The same next action told so often in a row: runaway."
    )
    refusals: int = Field(_GUARDS.refusals, ge=2, description="Refused calls in a row: runaway.")
    idle_calls: int = Field(_GUARDS.idle_calls, ge=10, description="Calls in a row without a change of facts: runaway.")
    calls: int = Field(_GUARDS.calls, ge=10, description="Calls of one session: runaway.")
    moves_of_one_task: int = Field(
        _GUARDS.moves_of_one_task, ge=2, description="Moves of one task in one session: runaway."
    )
    silence: Seconds = Field(
        _GUARDS.silence // SECOND, ge=1, description="Seconds without call or output: stopped as silent."
    )
    run_time: Seconds = Field(_GUARDS.run_time // SECOND, ge=1, description="Seconds one task launch may run.")
    idle_launches: int = Field(
        _GUARDS.idle_launches, ge=1, description="Launches without progress: the task is blocked."
    )
    unreported_ends: int = Field(
        _GUARDS.unreported_ends, ge=1, description="Ends without a report in a row: the task is blocked."
    )
    cooldown: Seconds = Field(
        _GUARDS.cooldown // SECOND, ge=0, description="Seconds after a failed launch; doubling with each one more."
    )
    longest_cooldown: Seconds = Field(
        _GUARDS.longest_cooldown // SECOND, ge=0, description="The longest such cooldown in seconds."
    )
    quota_margin_percent: int = Field(
        _GUARDS.quota_margin_percent, ge=0, description="Added to the time that a quota message names."
    )


class ChatSettings(BaseModel):
    """How long talk waits, and how much of it there may be (`TORYO_CHAT__IDLE_TIMEOUT`). Times are seconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start_timeout: Seconds = Field(
        _CHAT.start_timeout // SECOND, ge=1, description="Seconds after which a writer is told that nobody came."
    )
    idle_timeout: Seconds = Field(
        _CHAT.idle_timeout // SECOND, ge=1, description="Seconds a chat session stays with nothing to do."
    )
    invitation: Seconds = Field(
        _CHAT.invitation // SECOND, ge=1, description="Seconds an invited agent has to join a conversation."
    )
    silence: Seconds = Field(_CHAT.silence // SECOND, ge=1, description="Seconds of silence that end a conversation.")
    ending: Seconds = Field(
        _CHAT.ending // SECOND, ge=1, description="Seconds until a conversation that is over counts as ended."
    )
    delegation_timeout: Seconds = Field(
        _CHAT.delegation_timeout // SECOND, ge=1, description="Seconds until an open delegation has failed."
    )
    delegation_attempts: int = Field(
        _CHAT.delegation_attempts, ge=1, description="Chat sessions that may lose one delegation."
    )
    viewer_lease: Seconds = Field(
        _CHAT.viewer_lease // SECOND, ge=1, description="Seconds until an open panel that is not heard of is closed."
    )
    messages_per_minute: int = Field(
        _CHAT.messages_per_minute, ge=1, description="Messages a minute from one sender to one receiver."
    )
    conversations_per_hour: int = Field(
        _CHAT.conversations_per_hour, ge=1, description="Conversations an hour between the same two agents."
    )


class AuthSettings(BaseModel):
    """How queue agents and people prove themselves (`TORYO_AUTH__MODE`, `TORYO_AUTH__PEOPLE` and so on)."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    mode: Literal["keys", "local"] = Field(
        "keys", description="keys: an API key is needed; local: register_agent gives one (loopback only)."
    )
    key_calls_per_minute: int = Field(
        3_000, ge=10, description="Calls a minute with one API key; more are refused for a moment."
    )
    people: Literal["accounts", "tokens"] = Field(
        "accounts",
        description="accounts: passwords (and a provider) sign in, and a server that others reach needs one of them to "
        "start; tokens: tokens, and links made with them, are the only way in.",
    )
    oidc_issuer: str | None = Field(None, description="An OpenID provider that people sign in with: https://…")
    oidc_client_id: str | None = Field(None, description="By which the provider knows this server.")
    oidc_client_secret: SecretStr | None = Field(None, description="Its secret, if the provider gave one.")
    oidc_scopes: str = Field("openid email profile", description="What the provider is asked for.")
    oidc_role_claim: str | None = Field(None, description="The claim whose values give roles, by oidc_roles.")
    oidc_roles: Annotated[dict[str, Literal["owner", "member", "viewer"]], NoDecode] = Field(
        default_factory=dict, description="VALUE=ROLE,VALUE=ROLE for the role claim; the highest that fits counts."
    )
    oidc_default_role: Literal["none", "viewer", "member", "owner"] = Field(
        "none", description="Of somebody new without such a value; none: owners add people first."
    )
    oidc_sign_in_hours: int = Field(
        24,
        ge=1,
        le=336,
        description="How long a browser that came from the provider is signed in: then the provider is asked again.",
    )
    oidc_email_domains: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Only people with a verified address there: example.org,example.com."
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
            raise ValueError("signing in with a provider needs oidc_issuer and oidc_client_id")
        if self.oidc_roles and self.oidc_role_claim is None:
            raise ValueError("oidc_roles needs oidc_role_claim as well: where the values are found")
        return self


class NoticeSettings(BaseModel):
    """How people are told outside of what needs them (`TORYO_NOTICES__WEBHOOK_URL`); without any of it, not at all."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    webhook_url: SecretStr | None = Field(None, description="Where each notice is sent as JSON: http://… or https://…")
    webhook_secret: SecretStr | None = Field(None, description="Signs them (Standard Webhooks).")
    smtp_url: SecretStr | None = Field(
        None,
        description="Mail server: smtps://USER:PASSWORD@HOST:PORT, or smtp://… (encrypted as soon as it offers it).",
    )
    smtp_from: str | None = Field(None, description="The sender of e-mails.")
    emails: Annotated[dict[str, str], NoDecode] = Field(
        default_factory=dict, description="Who gets e-mails where: PERSON=ADDRESS,PERSON=ADDRESS, by id."
    )
    message_after: Seconds = Field(60, ge=0, description="Seconds a message may be unseen until its reader is told.")
    attempts: int = Field(8, ge=1, description="How often sending a notice is tried.")

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
            raise ValueError("e-mails need smtp_from (who sends them) and emails (who gets them where) as well")
        if self.smtp_url is None and (self.emails or self.smtp_from is not None):
            raise ValueError("e-mails need smtp_url as well: the server that takes them")
        if self.webhook_url is None and self.webhook_secret is not None:
            raise ValueError("webhook_secret needs webhook_url as well")
        wrong = [each for each in (*self.emails.values(), *filter(None, [self.smtp_from])) if not _is_address(each)]
        if wrong:
            raise ValueError(f"{wrong[0]!r} is no e-mail address")
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
    socket: Path | None = Field(None, description="Unix socket to listen on as well.")
    data_dir: Path | None = Field(None, description="Where the database, tokens, logs and workspaces are.")
    database: str | None = Field(
        None,
        validation_alias="TORYO_DATABASE_URL",
        description="Database URL, sqlite:///… or postgresql://…; default: toryo.db in the data directory.",
    )
    redis: str | None = Field(
        None, validation_alias="TORYO_REDIS_URL", description="Redis URL for hints and shared state (optional)."
    )
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Further host names (with or without port) by which clients may address the server, and whose "
        "pages may call it. * allows every name; pages of other origins than the one addressed stay out.",
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Addresses (or networks) of proxies whose X-Forwarded-Proto and X-Forwarded-For are believed; unix "
        "for those that come by the Unix socket.",
    )
    max_body_bytes: int = Field(2_000_000, ge=10_000, description="The largest request body, in bytes.")
    max_connections: int = Field(
        10_000, ge=10, description="Open TCP connections in all; beyond it the one that was idle longest is closed."
    )
    max_connections_per_address: int = Field(
        2_000, ge=10, description="The same for one address (an IPv6 /64); trusted proxies may have any number."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="What the log file keeps; warnings and errors always go to stderr as well."
    )
    log_keep_days: int = Field(
        30, ge=1, le=36_500, description="Days for which the output of agents' programs is kept here."
    )
    metrics: bool = Field(False, description="Whether /metrics tells how the server is doing (Prometheus).")
    telemetry: bool = Field(
        False, description="Whether calls and tasks become OpenTelemetry spans; where to, the OTEL_… variables say."
    )
    session: SessionSettings = Field(default_factory=SessionSettings, description="Life times of sessions.")

    auth: AuthSettings = Field(default_factory=AuthSettings, description="How agents and people prove themselves.")
    chat: ChatSettings = Field(default_factory=ChatSettings, description="Messages, conversations, delegations.")
    guards: GuardSettings = Field(default_factory=GuardSettings, description="Guards and graces.")
    notices: NoticeSettings = Field(default_factory=NoticeSettings, description="Telling people outside.")

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
                raise ValueError(f"must be unix, addresses or networks such as 10.0.0.0/8; {each!r} is none") from None
        return value

    def directory(self) -> Path:
        """The data directory these settings mean, absolute; it need not exist yet."""
        return data_dir(self.data_dir)

    def database_url(self) -> str:
        """The database these settings mean: the one given, else `toryo.db` in the data directory."""
        return self.database or f"sqlite:///{self.directory() / 'toryo.db'}"
