"""Which part of each bank a project sees."""

from __future__ import annotations

import pytest

from hindsight_core.config.bank_entries import bank_entries
from hindsight_core.config.settings import Settings
from hindsight_core.memory import Query, Scope, TagFilter
from hindsight_core.recall.scopes import ProjectPlace, Wanted, asked, bank_scopes, kinds_of
from hindsight_core.testing.tag_match import tags_match

PLACE = ProjectPlace("finalform", "finalform-0123456789ab", "finalform")
PROJECT = TagFilter(("project:finalform", "repo:finalform-0123456789ab"), "any_strict")
USER = TagFilter(("source:pi", "harness:pi"), "any_strict")
NOT_OLD = TagFilter(none_of=(TagFilter(("old",), "any_strict"),))


def scopes(place=PLACE, host="pi", **sections):
    values = {"scope": {"mode": "domain-tagged"}, "bank": {"user_id": "me"}}
    values["recall"] = {"user_bank": True}
    for name, section in sections.items():
        values[name] = {**values.get(name, {}), **section}
    settings = Settings.model_validate(values)
    entries = bank_entries(settings, "shop")
    return bank_scopes(settings, entries, own="shop", place=place, host=host)


@pytest.mark.spec("s1/S-TAG-2", "s1/S-TAG-7")
def test_each_kind_of_bank_has_a_condition_of_its_own():
    found = scopes()
    assert found["shop"].tags == PROJECT
    assert found["me"].tags == USER
    assert (found["shop"].kind, found["me"].kind) == ("project", "user")
    assert scopes(scope={"mode": "isolated-bank"})["shop"].tags is None
    assert scopes(scope={"mode": "isolated-bank"})["me"].tags is None


@pytest.mark.spec("s1/S-TAG-3", "s1/S-TAG-7")
def test_shared_observations_are_untagged_ones_of_the_project_bank():
    found = scopes(scope={"include_shared_observations": True})
    untagged = TagFilter((), "exact")
    assert found["shop"].tags == TagFilter(any_of=(PROJECT, untagged))
    assert found["me"].tags == USER
    nowhere = scopes(ProjectPlace(), scope={"include_shared_observations": True})
    assert nowhere["shop"].tags == untagged


@pytest.mark.spec("s1/S-TAG-4", "s1/S-TAG-7")
def test_a_callers_conditions_are_added():
    shop = scopes()["shop"]
    leaf = TagFilter(("x",), "any_strict")
    assert asked(shop, Wanted()) == PROJECT
    assert asked(shop, Wanted(("x",))) == TagFilter(all_of=(PROJECT, leaf))
    assert asked(shop, Wanted(groups=(NOT_OLD,))) == TagFilter(all_of=(PROJECT, NOT_OLD))
    exact = TagFilter((*PROJECT.tags, "x"), "exact")
    of_both = Wanted(("x", PROJECT.tags[0]), match="exact")
    assert asked(shop, of_both) == exact
    shared = scopes(scope={"include_shared_observations": True})["shop"]
    assert asked(shared, of_both) == exact
    assert asked(scopes(scope={"mode": "isolated-bank"})["shop"], of_both).tags == of_both.tags
    assert shop.narrow(Query("port"), of_both).scope.tags == exact
    narrowed = shop.narrow(Query("port", scope=Scope(tags=leaf)))
    assert narrowed.scope.tags == TagFilter(all_of=(PROJECT, leaf))


@pytest.mark.spec("s1/S-TAG-5", "s1/S-TAG-7")
def test_nothing_at_all_is_no_condition():
    free = scopes(scope={"unscoped_recall_banks": ["shop"], "user_scope_tags": []})
    assert free["shop"].tags is None
    assert free["me"].tags is None
    assert asked(free["shop"], Wanted()) is None
    assert free["shop"].narrow(Query("port")).scope.tags is None


@pytest.mark.spec("s1/S-TAG-6")
def test_an_observation_has_the_tags_of_its_scope_only():
    default, narrow = scopes()["me"].tags, scopes(scope={"user_scope_tags": ["source:pi"]})["me"]
    assert tags_match(default, ("harness:pi",))
    assert not tags_match(narrow.tags, ("harness:pi",))


@pytest.mark.spec("s1/S-TAG-2", "s1/S-CFG-3")
def test_the_tags_of_the_user_bank_are_those_of_the_host_and_none_on_the_command_line():
    omp = TagFilter(("source:omp", "harness:omp"), "any_strict")
    assert scopes(host="omp")["me"].tags == omp
    assert scopes(host=None)["me"].tags is None
    kept = {"user_scope_tags": ["harness:{host}", "mine"]}
    assert scopes(host=None, scope=kept)["me"].tags == TagFilter(("mine",), "any_strict")


@pytest.mark.spec("s1/S-REC-4")
def test_the_bound_of_text_is_each_banks_own():
    found = scopes(recall={"mode": "plain", "top_k": 3})
    query = Query("port", max_tokens=800)
    assert found["shop"].narrow(query).max_tokens == 800
    assert found["me"].narrow(query).max_tokens == 400
    assert (found["shop"].top_k, found["me"].top_k) == (3, 3)
    assert scopes()["shop"].top_k is None


def test_facts_stand_for_observations_where_a_bank_makes_none():
    assert kinds_of(("observation",), observations=False) == ()
    assert kinds_of(("observation",), observations=True) == ("observation",)
    assert kinds_of(("decision",), observations=False) == ("decision",)


def test_the_banks_of_a_session():
    entries = [{"id": "team", "role": "team"}, {"id": "off", "enabled": False}]
    settings = Settings.model_validate({"bank": {"entries": entries, "user_id": "me"}})
    found = bank_entries(settings, "shop")
    assert [(e.id, e.role, e.access, e.writes) for e in found] == [
        ("shop", "coding", "both", "always"),
        ("team", "team", "both", "explicit-only"),
        ("me", "life", "write", "explicit-only"),
    ]
    own = Settings.model_validate({"bank": {"entries": [{"id": "shop", "access": "read"}]}})
    assert [(e.id, e.writable) for e in bank_entries(own, "shop")] == [("shop", False)]
