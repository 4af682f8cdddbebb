"""Encryption of a push message for one browser: RFC 8291, with the content coding `aes128gcm` of RFC 8188."""

from __future__ import annotations

import base64
import os

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from toryo.operations.people import vapid

MOST_BYTES = 3_993
"""The longest plaintext whose message every push service accepts: 4,096 bytes with header, padding and tag."""
_RECORD = 4_096


def encrypted(
    plain: bytes,
    p256dh: str,
    auth: str,
    *,
    salt: bytes | None = None,
    own: ec.EllipticCurvePrivateKey | None = None,
) -> bytes:
    """The body of the request. `p256dh` and `auth` are the browser's, in base64url; `salt` and `own` are random."""
    if len(plain) > MOST_BYTES:
        raise ValueError(f"a push message has at most {MOST_BYTES} bytes, not {len(plain)}")
    salt = salt or os.urandom(16)
    own = own or ec.generate_private_key(ec.SECP256R1())
    theirs = decoded(p256dh)
    ours = vapid.raw(own.public_key())
    shared = own.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs))
    secret = _derived(shared, decoded(auth), b"WebPush: info\x00" + theirs + ours, 32)
    key = _derived(secret, salt, b"Content-Encoding: aes128gcm\x00", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\x00", 12)
    header = salt + _RECORD.to_bytes(4, "big") + bytes([len(ours)]) + ours
    return header + AESGCM(key).encrypt(nonce, plain + b"\x02", None)


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _derived(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=length, salt=salt, info=info).derive(material)
