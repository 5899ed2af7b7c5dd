"""What a sentence of the user does: state a rule, a decision, a fact; or ask, order, chat."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from hindsight_core.memorize.lexicon import content_stems
from hindsight_core.memorize.rules.cues import CueName, cue, has, opens

Act = Literal["explicit", "rule", "decision", "fact", "lesson", "agreed"]
KINDS: dict[Act, str] = {
    "explicit": "fact",
    "rule": "constraint",
    "decision": "decision",
    "fact": "fact",
    "lesson": "pitfall",
    "agreed": "decision",
}
_LEAD = re.compile(
    r"^(?:(?:and|also|so|then|but|ok(?:ay)?|hm+|ah|oh|yes|yep|btw|please|pls|now|next|actually|one more thing|another thing"
    r"|und|auch|also|dann|aber|ja|bitte|außerdem|ach|jetzt|eigentlich|и|а|но|да|ещё|также|пожалуйста|тогда|теперь"
    r"|et|aussi|alors|mais|oui|maintenant|y|también|entonces|pero|sí|ahora)(?:[,.:!]+\s*|\s+(?=\S))"
    r"|(?:no|right|good|great|well|plus|alright|nein|gut|нет|non|非)[,.:!]+\s*|[,.;:\-–—]+\s*)+",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^[^\W\d][\w /-]{1,30}:\s+(?=[^\W\d])")
_LABELLED = re.compile(
    r"\b(decision|entscheidung|решение|решили|décision|decisión)\b|(决定|结论)|\b(?:rule|convention|policy|constraint|regel|vorgabe|правило|règle|regla)\b|规则|约定|原则",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"(?<![\w'])(?:i|i'm|i'll|i've|i'd|my|ich|мне|я|je|j'|yo)(?![\w'])|我(?!们)", re.IGNORECASE
)
_CONCRETE = re.compile(r"`x`|\d|[\w-]+[./_:\\][\w./_:\\-]*\w|\w+\(\)|[a-z]+[A-Z]\w+|\b[A-Z]{2,}\w*|[\u3400-\u9fff]")
_NAMED = re.compile(
    r"\b(?:is|are)(?: (?:now|always|only|all|both))? (?:kept|stored|located|found|called|named|read|served|hosted|saved|defined|configured|deployed|owned|at|in|on|under|behind|set to)\b"
    r"|\b(?:lives?|sits?|resides?|goes|go|listens?|runs?|defaults?|expires?) (?:in|on|at|to|under|behind|after|every)\b"
    r"|\b(?:read|reads|configured|available|reachable) (?:it |them )?(?:through|via|from|under|at)\b"
    r"|\b(?:liegt|liegen|steht|heißt|läuft|wohnt|befindet sich|wird gelesen)\b"
    r"|(?:лежит|находится|называется|хранится|работает на)|\b(?:se trouve|s'appelle|est dans|tourne sur)\b"
    r"|\b(?:está en|se llama|vive en|se guarda)\b|(?:位于|叫做|在|放在|存在)",
    re.IGNORECASE,
)
_HABIT = re.compile(
    r"\b(?:is|are) (?:always |only |all |both )?(?:kept|stored|hosted|saved|defined|configured|deployed|owned|run|built|generated|managed|handled|written|signed|encrypted|versioned|published)"
    r" (?:in|on|at|with|by|from|under|via|through|as)\b",
    re.IGNORECASE,
)
_MODAL = re.compile(
    r"\b(?:must|may|should|shall|can(?:not)?|(?:has|have|needs?) to|darf|muss|soll|doit|debe)\b|должн|нельзя|必须|不得",
    re.IGNORECASE,
)
_WE = re.compile(r"(?:we|wir|мы|nous|nosotros|i|you)\b|我们", re.IGNORECASE)
_VALUE = re.compile(
    r"(?:\b(?:is|are|equals|ist|sind|beträgt|est|sont|es|son|равен|равно|это)\b(?: (?:now|jetzt|maintenant|ahora|теперь))?|[:：=]|是|为|改为|设为)\s*"
    r"(?:about |at |~)?(?:`x`|v?\d[\w.:,/-]*|(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|forty|fifty|sixty|hundred|[a-zäöüß]*zig|zwanzig|двадцать|vingt|veinte)\b|[\w-]+[./_\\][\w./_\\-]*\w|[A-Z]\w+(?=\s*$))",
    re.IGNORECASE,
)
_STATUS_SUBJECT = re.compile(
    r"^(?:the |our |this |that |a |an |der |die |das |le |la |el )?(?:log|logs|error|bug|problem|issue|test|tests|build|output|result|exception|question|pr|branch|commit|ci|pipeline|it|that|this|there|here|code|file|fehler|ausgabe|ergebnis|ошибка|erreur|salida|code)\b",
    re.IGNORECASE,
)
_PERMITTED = re.compile(
    r"\b(?:is|are) (?:fine|ok|okay|allowed|enough|acceptable)\b|\bmay be used\b|\bist (?:ok|in ordnung|erlaubt)\b|\bможно\b|可以",
    re.IGNORECASE,
)
_YOU_OR_I = re.compile(
    r"^(?:i|i'm|i'll|i've|i'd|you|you're|ich|du|я|ты|je|j'|tu|yo)(?![\w])|我(?!们)|你", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What stood before a sentence in the conversation.

    Attributes:
        corrects: The message opens by setting something right.
        question: The assistant's question that the message agrees to; empty without one.
        scoped: The message announced that what follows is worth knowing.
        revises: The sentence replaces something that the user said before.
    """

    corrects: bool = False
    question: str = ""
    scoped: bool = False
    revises: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    """A sentence worth keeping.

    Attributes:
        act: Why it is worth keeping.
        kind: The fact kind that goes with it.
        start: Where in the sentence the statement begins, behind lead-ins and cues.
        order: It is phrased as an order.
    """

    act: Act
    kind: str
    start: int
    order: bool


def strip_lead(masked: str) -> int:
    """Length of the interjections and connectives that a sentence opens with."""
    lead = _LEAD.match(masked)
    return lead.end() if lead else 0


def is_order(words: str) -> bool:
    """Whether a sentence without its lead-ins opens with an order."""
    adverb = opens("standing", words)
    if adverb and re.search(r"\b(?:must|gets?|needs?|has to|have to|should|goes|go)$", adverb.group()):
        return False
    rest = words[adverb.end() :].lstrip(" ,") if adverb else words
    names: tuple[CueName, ...] = ("task", "design", "negative_order")
    return any(opens(name, text) for name in names for text in (words, rest))


def read(masked: str, setting: Setting) -> Reading | None:
    """What a sentence states for good, or None when it states nothing of that sort."""
    lead = strip_lead(masked)
    words = masked[lead:]
    if not words or words.rstrip("\"')”» ").endswith(("?", "？")):
        return None
    explicit = opens("remember", masked) or opens("remember", words)
    if explicit:
        return _explicit(masked, explicit.end() + (0 if explicit.string is masked else lead))
    if opens("question", words) or _passing(masked) or _reports(masked):
        return None
    if setting.scoped and not opens("task", words) and not _YOU_OR_I.match(words):
        return Reading("explicit", kind_of(words), lead, is_order(words))
    act = _act(words, setting)
    return act and Reading(act, KINDS[act], lead, is_order(words))


def _reports(masked: str) -> bool:
    """Another's words: "the error is: ...", "he says: ..."."""
    head = re.match(r"([^:：]{1,60})[:：](?!:)\s", masked)
    return bool(head and has("quoting", head.group(1)))


def _passing(masked: str) -> bool:
    """For this moment only, or not said as a fact."""
    standing = bool(re.search(r"\bfrom (?:now|today) on|ab (?:jetzt|heute|sofort)|从现在|a partir de", masked, re.I))
    return (has("moment", masked) and not standing) or has("hedge", masked)


def _explicit(masked: str, start: int) -> Reading | None:
    cue_words = masked[:start]
    start += len(masked[start:]) - len(masked[start:].lstrip(" ,"))
    start += strip_lead(masked[start:])
    rest = masked[start:]
    if not content_stems(rest) or len(rest) < 4 or (_passing(rest) and not has("standing", rest)):
        return None
    kind = kind_of(rest)
    if kind == "fact" and (label := _LABELLED.search(cue_words)):
        kind = "decision" if any(label.groups()) else "constraint"
    return Reading("explicit", kind, start, is_order(rest))


def kind_of(words: str) -> str:
    """The fact kind that the words of a statement suggest."""
    names: tuple[tuple[CueName, str], ...] = (
        ("standing", "constraint"),
        ("obligation", "constraint"),
        ("bound", "constraint"),
        ("decision", "decision"),
        ("contrast", "decision"),
    )
    return next((kind for name, kind in names if has(name, words)), "fact")


def _act(words: str, setting: Setting) -> Act | None:
    if len(content_stems(words)) < 2:
        return None
    if opens("task", words):
        return _ordered_task(words, setting)
    if opens("negative_order", words) or opens("design", words):
        return _ordered_design(words, setting)
    if opens("chatter", words) and len(content_stems(words)) < 5:
        return None
    return _stated(words, setting)


def _ordered_task(words: str, setting: Setting) -> Act | None:
    """An order to do something now counts only when it sets a rule or revises a decision."""
    if setting.revises:
        return "decision"
    rule = re.search(r"\bfrom (?:now|today) on\b|\b(?:always|never|every time|whenever)\b", words, re.I)
    return "rule" if rule and not has("symptom", words) else None


def _ordered_design(words: str, setting: Setting) -> Act | None:
    if _FIRST_PERSON.search(words):
        return None
    if has("standing", words) or has("bound", words):
        return "rule"
    if opens("negative_order", words):
        universal = re.search(r"\b(?:ever|any\w*|at all|nie|überhaupt|никогда|jamais|nunca)\b|任何", words, re.I)
        return "rule" if universal or has("reason", words) or _is_cjk(words) else None
    if has("contrast", words) or has("reason", words) or has("practice", words) or setting.revises:
        return "decision"
    structural = re.match(r"(?:key|partition|shard|index|prefix|cluster|z-order|pin|name|call)\b", words, re.I)
    return "decision" if (structural and _CONCRETE.search(words)) or _is_cjk(words) else None


def _stated(sentence: str, setting: Setting) -> Act | None:
    words = _LABEL.sub("", sentence)
    mine = _personal(words)
    broken = has("symptom", words) and not _MODAL.search(words)
    if has("decision", words) and not broken:
        return None if opens("question", words) else "decision"
    if setting.corrects and not mine and (has("reason", words) or _CONCRETE.search(words)):
        return "lesson"
    if mine or broken:
        return "decision" if opens("practice", words) else None
    if has("standing", words) or has("obligation", words):
        return "rule"
    if opens("practice", words) or re.search(r"[,;] (?:das )?(?:machen|nutzen) wir", words):
        return "decision"
    if setting.revises or has("contrast", words):
        return "decision"
    if setting.question:
        return "agreed"
    if has("reason", words) and _CONCRETE.search(words):
        return "lesson"
    return _plain_fact(sentence)


def _personal(words: str) -> bool:
    """About the speaker or the agent rather than the project; a rule for the agent is not."""
    subject = _YOU_OR_I.match(words)
    if not subject or opens("practice", words):
        return False
    to_agent = re.match(r"(?:you|du|ты|tu|你)", words, re.IGNORECASE)
    return not (to_agent and has("standing", words))


def _plain_fact(words: str) -> Act | None:
    if re.search(r"\b(?:attached|running|being|getting)\b", words, re.I) or _WE.match(words):
        return None
    habit = _HABIT.search(words)
    if habit and _CONCRETE.search(words[habit.start() :]):
        return "fact"
    if _STATUS_SUBJECT.match(words):
        return None
    named = _NAMED.search(words)
    if named and _CONCRETE.search(words[named.start() :]):
        return "fact"
    if _VALUE.search(words):
        return "fact"
    return "fact" if _PERMITTED.search(words) and _CONCRETE.search(words) else None


def _is_cjk(words: str) -> bool:
    return bool(re.match(r"[\u3400-\u9fff]", words)) and bool(cue("contrast").search(words))
