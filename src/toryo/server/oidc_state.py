"""The secret that a browser keeps while it is at the identity provider, and the values derived from it.

The secret stays in a cookie of that browser. State, nonce, PKCE verifier and what the page keeps are hashes of it with
different labels: one of them reveals none of the others, and no other browser can return with them.
"""

from __future__ import annotations

import base64
import hashlib
import secrets

from toryo.domain.fast_dataclasses import dataclass

_AGAIN = "again."


@dataclass(frozen=True, slots=True)
class OidcState:
    secret: str

    @property
    def state(self) -> str:
        return self._made_for("state")

    @property
    def nonce(self) -> str:
        return self._made_for("nonce")

    @property
    def verifier(self) -> str:
        return self._made_for("verifier")

    @property
    def challenge(self) -> str:
        """As PKCE wants it (S256)."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()

    @property
    def page(self) -> str:
        """What the page keeps that left, for its origin alone."""
        return self._made_for("page")

    @property
    def again(self) -> bool:
        """Whether the person, who is signed in, is to prove again who they are."""
        return self.secret.startswith(_AGAIN)

    @classmethod
    def begin(cls, *, again: bool) -> OidcState:
        return cls((_AGAIN if again else "") + secrets.token_urlsafe(32))

    def _made_for(self, word: str) -> str:
        return hashlib.sha256(f"toryo {word} {self.secret}".encode(errors="surrogatepass")).hexdigest()
