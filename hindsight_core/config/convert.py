"""Old values in the form of today's settings; a ValueError says what was expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

Settings = Mapping[str, object]
# `least` cannot know the setting it stands for; the caller puts it in the place of this key.
SAME = "="

_PROMPTS = {
    "extraction": "capture/extraction",
    "validation": "capture/validation",
    "merge": "capture/merge",
    "assistantExtraction": "capture/investigation",
    "assistantValidation": "capture/investigation_validation",
    "compaction": "capture/consolidate",
    "compactionValidation": "capture/consolidate_validation",
    "query": "steer/query",
    "judge": "steer/judge",
    "steerFeedback": "steer/feedback",
}
_ASKED = tuple(stage for key, stage in _PROMPTS.items() if key != "steerFeedback")


def snake(name: str) -> str:
    """CamelCase to our style."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def least(bound: int) -> Callable[[object], Settings]:
    """A number that was effectively never under a bound."""

    def convert(value: object) -> Settings:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError("a number")
        return {SAME: max(bound, value)}

    return convert


def section(name: str, **others: str) -> Callable[[object], Settings]:
    """A whole table whose keys have the same names in another section, but for some."""

    def convert(value: object) -> Settings:
        table = _table(value)
        return {f"{name}.{others.get(key, snake(key))}": item for key, item in table.items()}

    return convert


def user_bank(value: object) -> Settings:
    """Trimmed text; a number is taken for its digits (pi/C-04)."""
    return {SAME: str(value).strip() or None} if value is not None else {SAME: None}


def debug(value: object) -> Settings:
    """True means the level ``debug``; false the ordinary one, whatever a weaker place says."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return {"log.level": "debug" if value else "warning"}


def categories(value: object) -> Settings:
    """The states, and the categories of the user's own under ``custom`` (pi/K-03)."""
    states = dict(_table(value))
    own = states.pop("custom", None)
    found: dict[str, object] = {"memorize.categories": states} if states else {}
    if own is not None:
        if not isinstance(own, list):
            raise ValueError("a list under custom")
        found["memorize.custom_categories"] = [
            item for item in own if isinstance(item, dict) and str(item.get("key", "")).strip()
        ]
    return found


def api_key(value: object) -> Settings:
    """A key itself, or ``{source: env, name}`` (s1/S-CFG-3)."""
    if isinstance(value, dict):
        if value.get("source") != "env":
            raise ValueError('a text, or {"source": "env", "name": ...}')
        return env_name(value.get("name"))
    return {"hindsight.token": value}


def env_name(value: object) -> Settings:
    """The name of an environment variable."""
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value):
        raise ValueError("the name of an environment variable")
    return {"hindsight.token_env": value}


def banks(value: object) -> Settings:
    """The list form with roles, or the older table with ``project`` and ``user``."""
    if isinstance(value, list):
        entries = [_entry(item) for item in value]
        own = next((e["id"] for e in entries if isinstance(e, dict) and _is_own(e)), None)
        return {"bank.entries": entries, **({"bank.id": own} if own else {})}
    table = _table(value)
    project = _table(table.get("project", table.get("coding", {})))
    user = _table(table.get("user", table.get("life", table.get("global", {}))))
    found: dict[str, object] = {}
    if project.get("enabled") is False:
        found["bank.id"] = ""
    elif project.get("bankId"):
        found["bank.id"] = project["bankId"]
    elif project:
        found["bank.id"] = "auto"
    if user.get("enabled") and user.get("bankId"):
        found["bank.user_id"] = user["bankId"]
    return found


def _is_own(entry: Mapping[str, object]) -> bool:
    """Whether an entry is the project's bank: it writes what is about coding."""
    coding = entry.get("role", "coding") == "coding" and entry.get("access") != "read"
    return coding and entry.get("enabled") is not False and isinstance(entry.get("id"), str)


def _entry(item: object) -> object:
    if not isinstance(item, dict):
        return item
    plain = {snake(key): value for key, value in item.items()}
    retain, mission = plain.pop("retain", {}), plain.pop("mission", {})
    if isinstance(retain, dict) and "mode" in retain:
        plain["retain_mode"] = retain["mode"]
    if isinstance(mission, dict) and "retainStructuredChunkSize" in mission:
        plain["retain_structured_chunk_size"] = mission["retainStructuredChunkSize"]
    return plain


def recall_mode(value: object) -> Settings:
    """``decision`` asks the decision layer before a plain recall; the rest are our own modes."""
    if value == "decision":
        return {"recall.mode": "plain", "decision.inject_gate": True}
    return {"recall.mode": value}


def bank_mode(value: object) -> Settings:
    """``decision`` asks which banks to read; ``all`` reads all."""
    if value not in ("decision", "all"):
        raise ValueError("'decision' or 'all'")
    return {"decision.bank_gate": value == "decision"}


def before_enqueue(value: object) -> Settings:
    """``{command, timeoutMs}``."""
    table = _table(value)
    found = {"retain.before_enqueue": table.get("command", [])}
    if "timeoutMs" in table:
        found["retain.before_enqueue_timeout_ms"] = table["timeoutMs"]
    return found


def apply_mode(value: object) -> Settings:
    """``all`` was the older word for opt-out (oc/O-CFG-7)."""
    return {"agent_mode": "opt-out" if value == "all" else value}


def retain_mode(value: object) -> Settings:
    """How much one retained document holds."""
    forms = {"full-session": "session", "last-turn": "turns"}
    if value not in forms:
        raise ValueError("'full-session' or 'last-turn'")
    return {"retain.document": forms[str(value)]}


def every_turns(value: object) -> Settings:
    """At least one turn: the older plugin had no word for never (oc/O-CFG-5)."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError("a whole number of at least 1")
    return {"memorize.every_turns": value}


def store(value: object) -> Settings:
    """The vector store; the JSON file's place is taken by the embedded bank."""
    adapter, config = _adapter(value)
    if adapter == "qdrant":
        found = {"bank.backend": "qdrant"}
        pairs = {"url": "qdrant.url", "collection": "qdrant.collection"}
        pairs["apiKeyEnv"] = "qdrant.api_key_env"
        return found | {pairs[key]: item for key, item in config.items() if key in pairs}
    return {"bank.backend": "sqlite" if adapter == "json" else adapter}


def embedding(value: object) -> Settings:
    """An embedder and its options."""
    adapter, config = _adapter(value)
    found: dict[str, object] = {"embeddings.provider": adapter}
    return found | {f"embeddings.{snake(key)}": item for key, item in config.items()}


def fast_model(value: object) -> Settings:
    """The candidates become the first model and the chain of both purposes."""
    table = _table(value)
    config = _table(table.get("config", table))
    names = config.get("candidates", [config["model"]] if "model" in config else [])
    if not isinstance(names, list) or not names:
        raise ValueError("a list of candidates that is not empty")
    found: dict[str, object] = {}
    for purpose in ("recall", "retain"):
        found[f"models.{purpose}"], found[f"models.{purpose}_chain"] = names[0], names[1:]
    if "thinking" in config:
        found["models.reasoning"] = config["thinking"]
    if "maxTokens" in config:
        found["models.max_tokens"] = config["maxTokens"]
    return found


def prompts(value: object) -> Settings:
    """Prompt keys of the older plugin and stages of ours alike."""
    found: dict[str, object] = {}
    for key, item in _table(value).items():
        if key == "tools":
            for tool, parts in _table(item).items():
                found |= {
                    f"prompts.tools/{snake(tool)}.{k}": _text(v) for k, v in _table(parts).items()
                }
        elif key == "jsonOnly":
            found |= {f"prompts.{stage}.system": item for stage in _ASKED}
        elif isinstance(item, dict):
            found |= {f"prompts.{key}/{name}": text for name, text in item.items()}
        else:
            found[f"prompts.{_PROMPTS.get(key, key)}"] = item
    return found


def _text(value: object) -> object:
    return "\n".join(map(str, value)) if isinstance(value, list) else value


def _adapter(value: object) -> tuple[str, Mapping[str, object]]:
    table = _table(value)
    name = table.get("adapter", table.get("provider"))
    if not isinstance(name, str) or not name:
        raise ValueError("a table with an adapter")
    rest = {key: item for key, item in table.items() if key not in ("adapter", "provider")}
    return name, _table(rest.get("config", rest))


def _table(value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueError("a table")
    return value
