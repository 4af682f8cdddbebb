"""What the pages say is true: links lead somewhere, commands exist with their options, examples are valid."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.documents import pages
from toryo.cli import command_line, manifest
from toryo.coordinator import config
from toryo.formats import playbook_format, script_format, task_templates, yaml_documents


@pytest.mark.parametrize("page", pages.pages(), ids=pages.name)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    lost = []
    for target in pages.links(page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in pages.anchors(file.read_text(encoding="utf-8"))):
            lost.append(target)
    assert lost == []


def _words(command: str) -> list[str]:
    """The words of a command line, up to a comment, a pipe or another command."""
    words = shlex.split(command, comments=True)
    end = next((n for n, word in enumerate(words) if word in {"|", "&&", ">", "&", "…", "...", "--"}), len(words))
    return words[1:end]


PROGRAM = typer.main.get_command(command_line.whole())


def wrong(command: str) -> str | None:
    """What is wrong with a command line that a page shows; None if the CLI has all of it."""
    at: Any = PROGRAM
    known = _options(at)
    words = iter(_words(command))
    for word in words:
        if word.startswith("-"):
            option, equals, _ = word.partition("=")
            if option not in known:
                return f"{command}: there is no option {option}"
            if not equals and not known[option]:
                next(words, None)
        elif below := getattr(at, "commands", {}):
            if word not in below:
                return f"{command}: there is no command {word}"
            at = below[word]
            known |= _options(at)
    return None


def _options(command: Any) -> dict[str, bool]:
    """The names of a command's options, and whether each stands alone."""
    options = [param for param in command.params if param.param_type_name == "option"]
    named = {name: option.is_flag for option in options for name in (*option.opts, *option.secondary_opts)}
    return {"--help": True, "-h": True, **named}


@pytest.mark.parametrize("page", pages.written(), ids=pages.name)
def test_every_command_shown_exists_with_its_options(page: Path) -> None:
    shown = [command for command in pages.commands(page.read_text(encoding="utf-8")) if "COMMAND" not in command]
    assert [told for each in shown if (told := wrong(each))] == []


def test_a_command_that_does_not_exist_would_be_noticed() -> None:
    assert wrong("toryo task frobnicate") is not None
    assert wrong("toryo task add TITLE --frobnicate") is not None
    assert wrong("toryo task add TITLE --project PRJ  # why") is None


@pytest.mark.parametrize("page", pages.written(), ids=pages.name)
def test_every_yaml_example_is_valid(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(pages.blocks(page.read_text(encoding="utf-8"))):
        if block.language != "yaml":
            continue
        if "ai_providers" in block.text or "sandbox_read" in block.text:
            config.parse(block.text, page.name, {})
            continue
        if page.name == "scripted-agents.md":
            said = yaml_documents.read(block.text, page.name).data
            script_format.read(said.get("script", said), tmp_path)
            continue
        if re.match(r"tasks:\n\s+- match:", block.text):
            playbook_format.read(block.text, tmp_path)
            continue
        if re.search(r"^parameters:", block.text, re.MULTILINE) and "project:" not in block.text:
            yaml_documents.checked(yaml_documents.read(block.text, page.name), task_templates.Template)
            continue
        file = tmp_path / f"{number}.yaml"
        file.write_text(block.text, encoding="utf-8")
        values = {"version": "1.4.0"} if "{{version}}" in block.text else None
        for agent in manifest.read(file, values).agents:
            if agent.provider == "playbook":
                playbook_format.read(agent.provider_options["playbook"], tmp_path)
            if agent.provider == "script":
                script_format.read(agent.provider_options["script"], tmp_path)


@pytest.mark.deep  # `make check` does it, too
@pytest.mark.pitfall("F131")
def test_the_reference_is_what_the_code_says() -> None:
    """`make docs` writes it anew."""
    found = subprocess.run(
        [sys.executable, pages.ROOT / "docs" / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("page", ["README.md", "README.ja.md", "AGENTS.md"])
def test_every_make_target_named_exists(page: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (pages.ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z]+)\b(?!\s+it)", (pages.ROOT / page).read_text(encoding="utf-8"), re.ASCII))
    assert named <= targets


def test_the_map_names_every_package_and_only_real_ones() -> None:
    text = (pages.ROOT / "AGENTS.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^  (\w+)/ ", text, re.MULTILINE))
    source = pages.ROOT / "src" / "toryo"
    assert named == {path.name for path in source.iterdir() if path.is_dir() and (path / "__init__.py").exists()}


def test_every_file_named_in_the_map_exists() -> None:
    text = (pages.ROOT / "AGENTS.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)+\w+\.py)`", text) + re.findall(r"`(\w+\.py)`", text)
    assert "storage/schema.py" in named
    source = pages.ROOT / "src" / "toryo"
    assert [each for each in named if not (pages.ROOT / each).exists() and not any(source.rglob(each))] == []


def test_every_target_of_the_makefile_is_told_by_help() -> None:
    text = (pages.ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony is not None
    assert set(phony[1].split()) == set(re.findall(r"^([a-z-]+):.*## ", text, re.MULTILINE))
