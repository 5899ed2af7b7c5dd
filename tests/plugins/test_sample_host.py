"""A host of somebody else: declared in under sixty lines, and it keeps the rules of every host."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hindsight_host_generic.testing import HookDriver

from hindsight_core.plugins import load_host
from hindsight_core.testing.hosts import HostContract

SAMPLE = Path(__file__).parent / "dists/host-quill"
GUIDE = Path(__file__).parents[2] / "hosts/README.md"


class TestQuill(HostContract):
    settings = (
        ".quill/hooks.json",
        '{\n  // mine\n  "hooks": {"answer": [{"run": "say done"}]}, "theme": "dark"\n}\n',
    )

    @pytest.fixture
    def host(self, install):
        install("host-quill")
        return load_host("quill")

    @pytest.fixture
    def driver(self, host, tmp_path):
        return HookDriver(host.agent, tmp_path)


def test_the_guide_shows_the_sample_as_it_is():
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", GUIDE.read_text(), re.M | re.S)
    shown = {language: text for language, text in blocks if language in ("python", "toml")}

    module = (SAMPLE / "hindsight_host_quill/__init__.py").read_text()
    assert shown["python"] == module
    assert len(module.splitlines()) < 60
    assert shown["toml"] == (SAMPLE / "pyproject.toml").read_text()


def test_it_is_installed_and_answers_as_a_user_has_it(install, tmp_path):
    site = install("host-quill")
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    env = {**os.environ, "PYTHONPATH": path, "HINDSIGHT_MEM_DAEMON": "off"}

    def mem(*arguments: str, given: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-m", "hindsight_core", *arguments],
            cwd=shop, env=env, input=given, capture_output=True, text=True, timeout=50, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    home = Path(os.environ["HOME"])
    (home / ".quill").mkdir()
    assert "quill" in json.loads(mem("install", "all", "--json"))["hosts"]
    hooks = json.loads((home / ".quill/hooks.json").read_text())["hooks"]
    (shop / "facts.jsonl").write_text('{"text": "The gateway listens on port 8443."}\n')
    mem("bank", "import", "facts.jsonl")
    payload = {"session": "s-1", "cwd": str(shop), "text": "Which port does the gateway use?"}
    said = subprocess.run(
        ["sh", "-c", hooks["prompt"][0]["run"]],
        cwd=shop, env=env, input=json.dumps(payload), capture_output=True, text=True, timeout=50,
    )  # fmt: skip

    assert (said.returncode, said.stderr) == (0, "")
    assert "port 8443" in json.loads(said.stdout)["context"]
    mem("uninstall", "quill")
    assert [path for path in (home / ".quill").rglob("*") if path.is_file()] == []
