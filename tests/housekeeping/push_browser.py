"""A browser that is notified: it has keys, subscribes, and decrypts what its push service was handed (RFC 8291)."""

from __future__ import annotations

from typing import Any

import jwt
import orjson
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from tests.housekeeping.receivers import Posted
from toryo.housekeeping.push_encryption import decoded
from toryo.operations.people.vapid import base64url, raw


class PushBrowser:
    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.auth = b"sixteen bytes ok"

    @property
    def subscription(self) -> dict[str, str]:
        return {
            "endpoint": self.endpoint,
            "p256dh": base64url(raw(self.key.public_key())),
            "auth": base64url(self.auth),
        }

    def decrypted(self, body: bytes) -> bytes:
        salt, length = body[:16], body[20]
        theirs, sealed = body[21 : 21 + length], body[21 + length :]
        shared = self.key.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs))
        info = b"WebPush: info\x00" + raw(self.key.public_key()) + theirs
        secret = HKDF(hashes.SHA256(), 32, self.auth, info).derive(shared)
        key = HKDF(hashes.SHA256(), 16, salt, b"Content-Encoding: aes128gcm\x00").derive(secret)
        nonce = HKDF(hashes.SHA256(), 12, salt, b"Content-Encoding: nonce\x00").derive(secret)
        plain = AESGCM(key).decrypt(nonce, sealed, None)
        assert plain.endswith(b"\x02"), "the mark of the last record"
        return plain[:-1]

    def told(self, posted: Posted) -> dict[str, Any]:
        told: dict[str, Any] = orjson.loads(self.decrypted(posted.body))
        return told


def vouched(posted: Posted, public_key: str, audience: str) -> dict[str, Any]:
    """The claims of the request's signature, which must be that of this key, for this push service, and in time."""
    scheme, _, rest = posted.headers["authorization"].partition(" ")
    parts = dict(each.strip().split("=", 1) for each in rest.split(","))
    assert (scheme, parts["k"]) == ("vapid", public_key)
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(public_key))
    claims: dict[str, Any] = jwt.decode(
        parts["t"], key, algorithms=["ES256"], audience=audience, options={"verify_exp": False}
    )
    return claims
