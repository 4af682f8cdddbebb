"""The key by which push services know this installation: RFC 8292 (VAPID), an ECDSA key on P-256."""

from __future__ import annotations

import base64
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Of P-256: a private key is a number from 1 to one less (SEC 2, section 2.4.2)."""
_VALID_SECONDS = 12 * 3600
"""At most 24 hours (RFC 8292, section 2)."""


def base64url(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def new_key(randomness: int) -> str:
    """A private key as PEM, from at least 320 random bits (so that the remainder is uniform)."""
    key = ec.derive_private_key(1 + randomness % (_ORDER - 1), ec.SECP256R1())
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


def private_key(pem: str) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pem.encode(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def public_key(pem: str) -> str:
    """The uncompressed point, in base64url: what browsers want as `applicationServerKey`."""
    return base64url(raw(private_key(pem).public_key()))


def is_public_key(text: str) -> bool:
    """Whether it is a point on the curve, in base64url."""
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(
            ec.SECP256R1(), base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        )
    except ValueError:
        return False
    return True


def raw(key: ec.EllipticCurvePublicKey) -> bytes:
    """65 bytes: 4, x, y."""
    return key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)


def authorization(pem: str, endpoint: str, subject: str, now_seconds: int) -> str:
    """The `Authorization` header for a message to this endpoint."""
    parts = urlsplit(endpoint)
    claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": now_seconds + _VALID_SECONDS, "sub": subject}
    token = jwt.encode(claims, pem, algorithm="ES256")
    return f"vapid t={token}, k={public_key(pem)}"
