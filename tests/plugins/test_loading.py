from __future__ import annotations

from pathlib import Path

import pytest

from hindsight_core.hookspecs import hookimpl
from hindsight_core.memory import Fact
from hindsight_core.plugins import load_hooks
from hindsight_core.transcript.entry import Entry, Text, Window
from hindsight_core.turns import Turn

TURN = Turn("t1", "s1", "how is it built?")
WINDOW = Window("s1", "pi", (Entry("e1", "user", (Text("x"),)),))


def statuses(hooks):
    return {p.distribution: p.status for p in hooks.plugins if not p.builtin}


class Builtin:
    @hookimpl
    def hindsight_register_banks(self, register):
        register("sqlite", lambda settings, services: "ours")


def test_a_plugin_is_found_and_used(install):
    site = install("good")
    hooks = load_hooks(env={})
    assert hooks.problems == []
    assert statuses(hooks) == {"hindsight-toy": "loaded"}
    registered = hooks.embedders["toy"]
    assert (registered.name, registered.distribution) == ("toy", "hindsight-toy")
    assert hooks.sections["toy"].factory.__name__ == "ToySettings"
    assert hooks.template_dirs(None) == (site / "hindsight_toy" / "templates",)


def test_a_factory_is_given_its_plugins_own_section(install, tmp_path):
    from hindsight_core.config.layers import load
    from hindsight_core.services import Services

    install("good", "tour")
    hooks = load_hooks(env={})
    env = {"HINDSIGHT_MEM_HOME": str(tmp_path), "HINDSIGHT_MEM_PLUGINS__TOY__DIMENSIONS": "3"}
    sections = {name: item.factory for name, item in hooks.sections.items()}
    settings = load(cwd=tmp_path, env=env, sections=sections).settings
    assert hooks.create("embedders", "toy", settings, Services()).dimensions == 3
    assert hooks.section_of(hooks.banks["tour-bank"]) == "tour"


async def test_a_broken_plugin_is_reported_and_the_others_work(install):
    install("good", "broken")
    hooks = load_hooks(env={})
    assert statuses(hooks) == {"hindsight-broken": "broken", "hindsight-toy": "loaded"}
    [problem] = hooks.problems
    assert "hindsight-broken 1.2.0" in problem and "a_package_that_nobody_ships" in problem
    kept = await hooks.filter_facts(WINDOW, [Fact("1", "Lunch is at noon"), Fact("2", "Use make")])
    assert [fact.id for fact in kept] == ["2"]


def test_a_misspelt_hook_names_the_distribution_and_the_nearest_hook(install):
    install("misspelt")
    hooks = load_hooks(env={})
    assert statuses(hooks) == {"hindsight-misspelt": "broken"}
    [problem] = hooks.problems
    assert "hindsight-misspelt" in problem
    assert "hindsight_plan_recal," in problem and "did you mean hindsight_plan_recall?" in problem


def test_an_unknown_argument_names_the_distribution_and_the_argument(install):
    install("greedy")
    hooks = load_hooks(env={})
    [problem] = hooks.problems
    assert "hindsight-greedy" in problem and "mood" in problem
    assert statuses(hooks) == {"hindsight-greedy": "broken"}


def test_a_wrapper_is_refused(install):
    install("wrapping")
    hooks = load_hooks(env={})
    [problem] = hooks.problems
    assert "hindsight-wrapping" in problem and "hindsight_plan_recall is a wrapper" in problem


async def test_nothing_of_a_refused_plugin_stays(install):
    install("misspelt", "greedy", "wrapping")
    hooks = load_hooks(env={})
    assert await hooks.plan_recall(TURN) is None
    assert await hooks.remind(TURN) is None
    assert len(hooks.problems) == 3


def test_one_entry_point_name_in_two_distributions_loads_neither_and_names_both(install):
    install("good", "duplicate")
    hooks = load_hooks(env={})
    assert statuses(hooks) == {"hindsight-toy": "shadowed", "hindsight-toy-again": "shadowed"}
    [problem] = hooks.problems
    assert "hindsight-toy and hindsight-toy-again" in problem
    assert "toy" not in hooks.embedders


def test_blocking_one_of_two_settles_it(install):
    install("good", "duplicate")
    hooks = load_hooks(env={}, block=("hindsight_toy.again",))
    assert hooks.problems == []
    assert statuses(hooks) == {"hindsight-toy": "loaded", "hindsight-toy-again": "blocked"}


def test_one_registered_name_in_two_distributions_names_both(install):
    install("good", "rival")
    hooks = load_hooks(env={}, builtins=(Builtin(),))
    embedder = next(p for p in hooks.problems if "embedder" in p)
    bank = next(p for p in hooks.problems if "bank" in p)
    assert "hindsight-toy" in embedder and "hindsight-rival" in embedder and "'toy'" in embedder
    assert "hindsight-core" in bank and "hindsight-rival" in bank
    assert hooks.banks["sqlite"].distribution == "hindsight-core"


@pytest.mark.parametrize("chosen", ["hindsight-toy", "toy", "Hindsight_Toy", "tour, toy"])
def test_the_environment_chooses_by_distribution_or_entry_point(install, chosen):
    install("good", "newer", "broken")
    hooks = load_hooks(env={"HINDSIGHT_MEM_PLUGINS": chosen})
    assert statuses(hooks) == {
        "hindsight-toy": "loaded",
        "hindsight-newer": "not chosen",
        "hindsight-broken": "not chosen",
    }


def test_an_empty_choice_loads_none_and_keeps_the_built_ins(install):
    install("good", "broken")
    hooks = load_hooks(env={"HINDSIGHT_MEM_PLUGINS": ""}, builtins=(Builtin(),))
    assert "sqlite" in hooks.banks
    assert statuses(hooks) == {} and hooks.problems == []


def test_a_name_that_is_not_installed_is_said(install):
    install("good")
    hooks = load_hooks(env={"HINDSIGHT_MEM_PLUGINS": "toy,tui"}, block=("gone",))
    assert [("'tui'" in p, "'gone'" in p) for p in hooks.problems] == [(True, False), (False, True)]
    assert all("hindsight-toy" in p for p in hooks.problems)


async def test_a_plugin_for_a_newer_core_works(install):
    install("newer")
    hooks = load_hooks(env={})
    assert hooks.problems == []
    assert await hooks.remind(TURN) == "remember the newer core"
    [plugin] = hooks.plugins
    assert plugin.hooks == ("hindsight_remind",)


def test_every_hook_is_shown_by_a_sample_distribution(install):
    from hindsight_core.hookspecs import HookSpecs

    install("good", "tour")
    hooks = load_hooks(env={})
    assert hooks.problems == []
    shown = {hook for plugin in hooks.plugins for hook in plugin.hooks}
    assert shown == {name for name in vars(HookSpecs) if name.startswith("hindsight_")}
    [command] = hooks.cli.values()
    assert command.factory().name == "tour"


def test_plugins_load_gives_the_order(install):
    site = install()
    for name in ("aa", "zz", "mm"):
        (site / f"pack_{name}.py").write_text(
            "from hindsight_core import hookimpl\n"
            "@hookimpl\n"
            f"def hindsight_template_dirs():\n    return '/packs/{name}'\n"
        )
        info = site / f"hindsight_{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: hindsight-{name}\nVersion: 1\n"
        )
        (info / "entry_points.txt").write_text(f"[hindsight]\n{name} = pack_{name}\n")
    hooks = load_hooks(env={}, load=("hindsight-zz", "mm"))
    assert hooks.template_dirs(None) == tuple(map(Path, ("/packs/zz", "/packs/mm", "/packs/aa")))
    hooks = load_hooks(env={})
    assert hooks.template_dirs(None) == tuple(map(Path, ("/packs/aa", "/packs/mm", "/packs/zz")))


def test_a_registration_that_fails_takes_the_whole_plugin_back(third_party):
    from hindsight_core.errors import PluginError

    class Half:
        @hookimpl
        def hindsight_register_banks(self, register):
            register("half", lambda settings, services: None)

        @hookimpl
        def hindsight_register_tools(self, register):
            raise KeyError("gone")

    hooks = load_hooks(env={})
    with pytest.raises(PluginError, match=r"hindsight-toy 1\.2\.0.*hindsight_register_tools"):
        third_party(hooks, Half())
    assert "half" not in hooks.banks


def test_a_wrong_built_in_is_our_mistake_and_is_raised():
    from hindsight_core.errors import PluginError

    class Wrong:
        @hookimpl
        def hindsight_plan_recal(self, turn):
            return None

    with pytest.raises(PluginError, match="hindsight_plan_recall"):
        load_hooks(env={}, builtins=(Wrong(),))
