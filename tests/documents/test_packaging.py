"""What gets into a wheel and into an image: the dashboard, locked dependencies, and nothing of whoever built it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tests.documents.pages import ROOT

SECRET = "tpt_" + "5ec7e7" * 8
LEFT_BEHIND = (
    *(".toryo/owner.token", ".toryo/toryo.db", ".env", "deploy/.env", "owner.token"),
    *("src/.toryo/owner.token", "src/toryo/.toryo/toryo.db", "src/toryo/server/coordinator.token"),
    *("src/toryo/server/static/.toryo/owner.token", "web/.toryo/owner.token", "web/.env", "web/node_modules/x/x.js"),
    *(".venv/pyvenv.cfg", ".git/config", "src/toryo/toryo.db-wal"),
)
"""What a server, an environment or a habit leaves in a checkout."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What is built from, with a dashboard, and with secrets lying about as in a checkout that is worked in."""
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(
        ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "static", "*.egg-info")
    )
    for name in ("src/toryo/server/static/index.html", *LEFT_BEHIND):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(SECRET if name in LEFT_BEHIND else "<!doctype html>")
    return tmp_path


def _build(checkout: Path, kind: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind]
    without = {name: value for name, value in os.environ.items() if not name.startswith("TORYO_BUILD")}
    return subprocess.run(
        command, cwd=checkout, capture_output=True, text=True, check=False, env={**without, **environment}
    )


def test_a_wheel_has_the_dashboard_and_no_secret_of_the_checkout(checkout: Path) -> None:
    built = _build(checkout, "wheel")
    assert built.returncode == 0, built.stderr
    (wheel,) = (checkout / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        texts = {name: archive.read(name) for name in archive.namelist()}
    assert "toryo/server/static/index.html" in texts
    assert not [name for name, text in texts.items() if SECRET.encode() in text]


@pytest.mark.deep
def test_a_source_archive_has_no_secret_of_the_checkout(checkout: Path) -> None:
    built = _build(checkout, "sdist")
    assert built.returncode == 0, built.stderr
    (archive,) = (checkout / "dist").glob("*.tar.gz")
    shutil.unpack_archive(archive, checkout / "unpacked")
    found = [
        path for path in (checkout / "unpacked").rglob("*") if path.is_file() and SECRET in path.read_text("latin-1")
    ]
    assert not found


def test_a_wheel_without_the_dashboard_is_refused_unless_it_is_asked_for(checkout: Path) -> None:
    shutil.rmtree(checkout / "src/toryo/server/static")
    refused = _build(checkout, "wheel")
    assert refused.returncode != 0
    assert "Run `make web` first" in refused.stderr
    assert _build(checkout, "wheel", TORYO_BUILD_WITHOUT_DASHBOARD="1").returncode == 0


def _sent_to_docker(path: str) -> bool:
    """Whether .dockerignore lets a file into an image's build: the last pattern that matches it or a folder of it."""
    sent = True
    folders = [path, *(str(parent) for parent in Path(path).parents if str(parent) != ".")]
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.lstrip("!").strip()
        if not pattern or pattern.startswith("#"):
            continue
        wanted = [pattern, pattern.removeprefix("**/")] if pattern.startswith("**/") else [pattern]
        names = [folder.rsplit("/", 1)[-1] if pattern.startswith("**/") else folder for folder in folders]
        if any(fnmatch(name, each) and ("/" not in name or "/" in each) for name in names for each in wanted):
            sent = line.startswith("!")
    return sent


@pytest.mark.parametrize("path", LEFT_BEHIND)
def test_nothing_that_lies_about_in_a_checkout_gets_into_an_image(path: str) -> None:
    assert not _sent_to_docker(path)


def test_what_an_image_is_built_of_gets_into_it() -> None:
    dockerfile = (ROOT / "deploy/Dockerfile").read_text()
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE):
        for source in sources.split():
            assert (ROOT / source).exists()
            assert _sent_to_docker(source), source
    assert _sent_to_docker("src/toryo/cli/main.py")
    assert _sent_to_docker("web/src/main.tsx")


def test_an_image_runs_as_an_ordinary_user_with_locked_dependencies() -> None:
    dockerfile = (ROOT / "deploy/Dockerfile").read_text()
    last = dockerfile.rsplit("FROM", 1)[1]
    assert re.search(r"^USER (?!0|root)\S+$", last, re.MULTILINE)
    for line in re.findall(r"pip install[^&\n]*", dockerfile):
        assert "--require-hashes" in line or "--no-deps" in line, line


def test_the_user_of_the_image_keeps_the_number_to_which_existing_volumes_belong() -> None:
    last = (ROOT / "deploy/Dockerfile").read_text().rsplit("FROM", 1)[1]
    assert "useradd --uid 1000 " in last
    assert "\nUSER 1000\n" in last


# --- locks ----------------------------------------------------------------------------------------------------------


def _locked(name: str) -> dict[str, str]:
    """Package → what is locked of it (version, markers and hashes)."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    found = re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?==((?:[^\n]*\\\n)*[^\n]*)", text, re.MULTILINE)
    return {_plain(package): rest for package, rest in found}


def _plain(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


@pytest.mark.parametrize("name", ["runtime", "dev", "node", "docs"])
def test_everything_locked_has_a_hash(name: str) -> None:
    locked = _locked(name)
    assert locked
    assert not [package for package, rest in locked.items() if "--hash=sha256:" not in rest]


@pytest.mark.parametrize(("name", "extras"), [("runtime", ["telemetry"]), ("dev", ["telemetry", "dev"])])
def test_every_dependency_that_is_declared_is_locked(name: str, extras: list[str]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [
        *project["dependencies"],
        *(each for extra in extras for each in project["optional-dependencies"][extra]),
    ]
    names = {_plain(re.split(r"[\[<>=!~; ]", each, maxsplit=1)[0]) for each in declared}
    assert names <= set(_locked(name)), "make lock"


def test_everything_that_builds_the_site_is_locked() -> None:
    declared = (ROOT / "requirements" / "docs.in").read_text()
    names = {_plain(each) for each in re.findall(r"^([\w.-]+)[<>=]", declared, re.MULTILINE)}
    assert names and names <= set(_locked("docs")), "make lock"


# --- the audit ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "ends", "expected"),
    [
        ("No known vulnerabilities found", 0, 0),
        ("Found 2 known vulnerabilities in 1 package", 1, 1),
        (
            "redis  Dependency not found on PyPI and could not be audited: redis (8)\nNo known vulnerabilities found",
            0,
            3,
        ),
        ("npm error audit endpoint returned an error", 1, 3),
        ("requests.exceptions.ConnectionError: Max retries exceeded", 1, 3),
        ("3 vulnerabilities (1 moderate, 2 high) in a library about SSLError", 1, 1),
    ],
)
def test_an_audit_that_could_not_look_is_no_audit_that_found_nothing(said: str, ends: int, expected: int) -> None:
    program = [sys.executable, "-c", "import sys; print(sys.argv[1]); sys.exit(int(sys.argv[2]))", said, str(ends)]
    ended = subprocess.run(
        [sys.executable, str(ROOT / "requirements/audit.py"), *program], capture_output=True, text=True, check=False
    )
    assert ended.returncode == expected, ended.stdout + ended.stderr
    assert ("Not audited" in ended.stderr) == (expected == 3)


@pytest.mark.parametrize("page", ["README.md", "README.ja.md"])
def test_the_directory_that_the_readme_adds_to_the_path_has_the_command_alone(page: str, tmp_path: Path) -> None:
    """With the whole environment, agents and checks would run Toryo's own Python, pip and pytest."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "requirements/dev.txt", ".venv/bin/toryo", ".venv/bin/python", ".venv/.ready"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch(mode=0o755)
    subprocess.run(["make", "setup"], cwd=tmp_path, check=True, capture_output=True)
    added = re.findall(r'export PATH="\$PWD/(.+):\$PATH"', (ROOT / page).read_text(encoding="utf-8"))
    assert [sorted(each.name for each in (tmp_path / name).iterdir()) for name in added] == [["toryo"]]
    assert (tmp_path / added[0] / "toryo").samefile(tmp_path / ".venv/bin/toryo")
