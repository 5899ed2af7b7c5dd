"""The fuzz targets with every run of the tests: what is kept in the corpus, and random inputs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HERE = Path(__file__).parent


def load():
    spec = importlib.util.spec_from_file_location("fuzz_targets", HERE / "targets.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.TARGETS


TARGETS = load()
CORPUS = sorted(file for file in (HERE / "corpus").rglob("*") if file.is_file())
WORDS = [
    bytes(line[1:-1], "utf-8").decode("unicode_escape").encode("latin-1")
    for line in (HERE / "words.dict").read_text().splitlines()
]
# Letters that hurt: bidi, joiners, look-alikes, surrogates in JSON's own words, NUL.
HURTFUL = "\u202e\u2066\u200b\ufeff＜еоі</>hindsght-memory \x00"
INPUT = st.lists(
    st.one_of(
        st.sampled_from(WORDS),
        st.text(max_size=30).map(lambda text: text.encode("utf-8", "replace")),
        st.text(st.sampled_from(HURTFUL), max_size=30).map(str.encode),
        st.binary(max_size=30),
        st.integers(0, 14).map(lambda number: b"\n" + bytes([number])),
    ),
    max_size=12,
).map(b"".join)
MANY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(MANY, max_examples=8)


@pytest.mark.spec("br/BR-08", "br/BR-44", "br/BR-46")
@pytest.mark.parametrize("file", CORPUS, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_what_the_corpus_holds(file):
    TARGETS[file.parent.name](file.read_bytes())


@given(INPUT)
@MANY
def test_any_answer_of_a_model(data):
    TARGETS["answers"](data)


@given(INPUT)
@MANY
def test_any_fact_in_a_block(data):
    TARGETS["blocks"](data)


@given(INPUT)
@MANY
def test_any_transcript_file(data):
    TARGETS["readers"](data)


@given(INPUT)
@MANY
def test_any_record_of_an_agent(data):
    TARGETS["dialects"](data)


@given(INPUT)
@FEW
def test_any_lines_to_a_bridge(data):
    TARGETS["bridge"](data)
