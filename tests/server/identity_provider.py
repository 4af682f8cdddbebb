"""A small OpenID provider: real HTTP, real RSA keys. What it says can be made wrong, one thing at a time."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT, SECRET = "toryo", "the client's secret"


def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Provider:
    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "u-1", "email": "ann@example.org"})
    """What is said of whoever signs in, beside what every token says."""
    sign: Callable[[dict[str, Any]], str] | None = None
    """Signs otherwise than with the key that is published."""
    published: rsa.RSAPrivateKey = field(default_factory=key)
    kid: str = "one"
    asked: list[dict[str, str]] = field(default_factory=list)
    """What came to the token endpoint."""

    def __enter__(self) -> Self:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider._get(self)

            def do_POST(self) -> None:
                provider._post(self)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self._codes: dict[str, dict[str, str]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def issuer(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def agree(self, address: str) -> str:
        """What the provider's own page does once somebody has agreed: where it sends the browser back."""
        asked = dict(parse_qsl(urlsplit(address).query))
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        return f"{asked['redirect_uri']}?code={code}&state={asked['state']}"

    def _get(self, request: BaseHTTPRequestHandler) -> None:
        documents: dict[str, dict[str, Any]] = {
            "/.well-known/openid-configuration": {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
            },
            "/keys": {"keys": [self._jwk(self.kid, "sig"), self._jwk("for secrets", "enc")]},
        }
        _answer(request, 200, documents[request.path])

    def _jwk(self, kid: str, use: str) -> dict[str, Any]:
        public: dict[str, Any] = json.loads(RSAAlgorithm.to_jwk(self.published.public_key()))
        return {**public, "kid": kid, "use": use, "alg": "RS256"}

    def _post(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"])).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        self.asked.append(form)
        began = self._codes.pop(form["code"], None)
        basic = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=")
        if began is None or request.headers["Authorization"] != basic or challenge.decode() != began["code_challenge"]:
            _answer(request, 400, {"error": "invalid_grant"})
            return
        now = int(time.time())
        token = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": began["nonce"]}
        claims = {**token, "email_verified": True, **self.claims}
        signed = self.sign(claims) if self.sign else self.signed(claims)
        _answer(request, 200, {"id_token": signed, "access_token": "x", "token_type": "Bearer"})

    def signed(self, claims: dict[str, Any], **header: Any) -> str:
        return jwt.encode(claims, self.published, "RS256", headers={"kid": self.kid, **header})


def _answer(request: BaseHTTPRequestHandler, status: int, document: dict[str, Any]) -> None:
    body = json.dumps(document).encode()
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)
