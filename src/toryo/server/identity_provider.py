"""The OpenID Connect provider and the checks of its answers: metadata, keys, code exchange, id_token.

PyJWT verifies signatures. This module checks the rest: issuer, audience, browser, and which of the provider's people
may sign in (`Verdict`).
"""

from __future__ import annotations

import asyncio
import hmac
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import structlog
from pydantic import ValidationError

from toryo.domain import people
from toryo.domain.people import PROVEN_FOR, is_above
from toryo.domain.times import SECOND
from toryo.operations.people.provider_accounts import Vouched
from toryo.server.oidc_state import OidcState
from toryo.settings import AuthSettings

if TYPE_CHECKING:
    import httpx
    from jwt import PyJWKSet

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"]
"""Signed with a key that the provider alone has; never `none`, never with a secret."""
LEEWAY_SECONDS = 60
LOOKS_AGAIN_AFTER = 10.0
"""Seconds between looks for a key that is not there: the provider may have new ones."""
KEYS_LIVE = 300.0
"""Seconds for which its keys, and what it says about itself, are believed: it may withdraw them."""
ANSWERS_WITHIN = 10.0
_FAR = 10**11
"""Seconds since 1970 that no clock says."""
LARGEST = 1_000_000

_log = structlog.get_logger("toryo.sign_in")


class Untrusted(Exception):
    """The provider, or what somebody brings from it, is not to be believed; says why, for the log and for people."""


class Provider:
    def __init__(self, auth: AuthSettings, now: Callable[[], float] = time.monotonic) -> None:
        assert auth.oidc_issuer is not None
        assert auth.oidc_client_id is not None
        self._auth = auth
        self._issuer, self._client_id = auth.oidc_issuer, auth.oidc_client_id
        self._metadata: dict[str, Any] | None = None
        self._keys: PyJWKSet | None = None
        self._looked = self._asked = 0.0
        self._now = now
        self._looking = asyncio.Lock()

    async def address(self, departure: OidcState, redirect_uri: str) -> str:
        """Where the browser goes."""
        asked = {
            "response_type": "code",
            "client_id": self._client_id,
            "redirect_uri": redirect_uri,
            "scope": self._auth.oidc_scopes,
            "state": departure.state,
            "nonce": departure.nonce,
            "code_challenge": departure.challenge,
            "code_challenge_method": "S256",
            **({"prompt": "login", "max_age": "0"} if departure.again else {}),
        }
        endpoint = str((await self._about())["authorization_endpoint"])
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(asked)}"

    async def vouch(self, code: str, departure: OidcState, redirect_uri: str) -> Vouched:
        """Who came back with this code. Raises Untrusted."""
        answer = await self._exchange(code, departure, redirect_uri)
        claims = await self._verified(str(answer.get("id_token", "")), departure)
        if "email" not in claims:
            claims = {**await self._more_about(claims["sub"], answer.get("access_token")), **claims}
        person = judged(claims, self._auth)
        if departure.again and time.time() * SECOND - (person.signed_in_at or 0) >= PROVEN_FOR:
            raise Untrusted("the identity provider does not say that you have just signed in there (auth_time)")
        return person

    # --- what it says --------------------------------------------------------------------------------------------

    async def _about(self) -> dict[str, Any]:
        if self._metadata is None or self._now() - self._asked >= KEYS_LIVE:
            found = await self._get(self._issuer.rstrip("/") + "/.well-known/openid-configuration")
            if found.get("issuer") != self._issuer:
                raise Untrusted(
                    f"the identity provider says that its issuer is {found.get('issuer')!r}, but oidc_issuer is "
                    f"{self._issuer!r}"
                )
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                _refuse_open(name, str(found.get(name, "")), self._issuer)
            self._metadata, self._asked = found, self._now()
        return self._metadata

    async def _exchange(self, code: str, departure: OidcState, redirect_uri: str) -> dict[str, Any]:
        about = await self._about()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "client_id": self._client_id,
            "code_verifier": departure.verifier,
        }
        secret = self._auth.oidc_client_secret
        ways = about.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        basic = None
        if secret is not None and "client_secret_basic" in ways:
            basic = (self._client_id, secret.get_secret_value())
        elif secret is not None:
            form["client_secret"] = secret.get_secret_value()
        return await self._ask("POST", str(about["token_endpoint"]), data=form, auth=basic)

    async def _more_about(self, subject: str, access_token: object) -> dict[str, Any]:
        """Some providers tell a person's address only here."""
        endpoint = str((await self._about()).get("userinfo_endpoint", ""))
        if not endpoint or not isinstance(access_token, str):
            return {}
        _refuse_open("userinfo_endpoint", endpoint, self._issuer)
        found = await self._ask("GET", endpoint, headers={"Authorization": f"Bearer {access_token}"})
        if found.get("sub") != subject:
            raise Untrusted("the identity provider returned data of another person")
        return found

    async def _get(self, url: str) -> dict[str, Any]:
        return await self._ask("GET", url)

    async def _ask(self, method: str, url: str, **how: Any) -> dict[str, Any]:
        import httpx

        try:
            async with httpx.AsyncClient(timeout=ANSWERS_WITHIN, follow_redirects=False, trust_env=True) as client:
                answer = await client.request(method, url, **how)
        except httpx.HTTPError as error:
            raise Untrusted(f"the identity provider does not answer ({type(error).__name__})") from None
        return _read(answer)

    # --- whether it is true ----------------------------------------------------------------------------------------

    async def _verified(self, token: str, departure: OidcState) -> dict[str, Any]:
        import jwt

        try:
            header = jwt.get_unverified_header(token)
            key = await self._key(header.get("kid"))
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._client_id,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise Untrusted(f"the id_token is invalid: {error}") from None
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), departure.nonce.encode()):
            raise Untrusted("the id_token belongs to another sign-in (wrong nonce)")
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if several else self._client_id) != self._client_id:
            raise Untrusted("the id_token was issued for another program (azp)")
        return claims

    async def _key(self, kid: object) -> Any:
        """The key of that name; without a name, the only one."""
        async with self._looking:
            if self._keys is not None and self._now() - self._looked >= KEYS_LIVE:
                self._keys = None
            found = self._known(kid)
            if found is None and (self._keys is None or self._now() - self._looked >= LOOKS_AGAIN_AFTER):
                await self._look_for_keys()
                found = self._known(kid)
        if found is None:
            raise Untrusted("the id_token is signed with a key that the identity provider does not publish")
        return found

    def _known(self, kid: object) -> Any:
        signing = [key for key in (self._keys.keys if self._keys else ()) if key.public_key_use in (None, "sig")]
        if kid is None:
            return signing[0] if len(signing) == 1 else None
        return next((key for key in signing if key.key_id == kid), None)

    async def _look_for_keys(self) -> None:
        import jwt

        document = await self._get(str((await self._about())["jwks_uri"]))
        self._looked = self._now()
        try:
            self._keys = jwt.PyJWKSet.from_dict(document)
        except jwt.PyJWTError as error:
            raise Untrusted(f"the keys of the identity provider cannot be read: {error}") from None


def judged(claims: dict[str, Any], auth: AuthSettings) -> Vouched:
    """Whether somebody with these claims may come in, and as what. Raises Untrusted."""
    verified = claims.get("email_verified") in (True, "true")
    email = people.address(str(claims["email"])) if verified and claims.get("email") else None
    domains = auth.oidc_email_domains
    if domains and (email is None or email.rpartition("@")[2] not in domains):
        raise Untrusted(f"only people with a verified e-mail address at {' or '.join(domains)} may sign in here")
    name = claims.get("name") or claims.get("preferred_username")
    role = _role(claims, auth)
    called = str(name)[:200] if name else None
    at = claims.get("auth_time")
    signed_in_at = int(at) * SECOND if isinstance(at, int | float) and 0 < at < _FAR else None
    try:
        said = {"issuer": str(claims["iss"]), "subject": str(claims["sub"]), "email": email, "name": called}
        return Vouched.model_validate({**said, "login": role, "signed_in_at": signed_in_at})
    except ValidationError as error:
        raise Untrusted(f"the identity provider returned an invalid value: {error.errors()[0]['msg']}") from None


def _role(claims: dict[str, Any], auth: AuthSettings) -> str | None:
    """The highest role that a value of the claim gives; `a.b` also finds b within a."""
    if auth.oidc_role_claim is None:
        return None
    values: Any = claims.get(auth.oidc_role_claim)
    if values is None:
        values = claims
        for step in auth.oidc_role_claim.split("."):
            values = values.get(step) if isinstance(values, dict) else None
    given = [values] if isinstance(values, str) else values if isinstance(values, list) else []
    highest: str | None = None
    for each in given:
        role = auth.oidc_roles.get(each) if isinstance(each, str) else None
        if role is not None and (highest is None or is_above(role, highest)):
            highest = role
    return highest


def _refuse_open(name: str, url: str, issuer: str) -> None:
    """What the provider names is as well guarded on the way as the provider itself."""
    if urlsplit(url).scheme not in ("https", urlsplit(issuer).scheme) or not urlsplit(url).hostname:
        raise Untrusted(f"the {name} of the identity provider is not an https URL")


def _read(answer: httpx.Response) -> dict[str, Any]:
    if len(answer.content) > LARGEST:
        raise Untrusted("the answer of the identity provider is too large")
    try:
        found = answer.json()
    except ValueError:
        found = None
    if answer.status_code != 200 or not isinstance(found, dict):
        told = found.get("error") if isinstance(found, dict) else None
        raise Untrusted(f"the identity provider returned an error ({answer.status_code}{f', {told}' if told else ''})")
    return found
