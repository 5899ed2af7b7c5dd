"""Decides by rules: small talk needs no memory, a bank is read when it or its purpose is named."""

from __future__ import annotations

import re

from hindsight_core import hookimpl

SMALL_TALK = {"hi", "hello", "hey", "thanks", "thank", "you", "ok", "okay", "yes", "no", "go", "on"}


def words(text):
    """The words of a text, in lower case."""
    return set(re.findall(r"\w+", text.lower()))


class Rules:
    """Answers without a model."""

    def answer(self, state, questions):
        """True for what bears on the message or, with words in common, on the open task."""
        said = words(state.last_user_message)
        matters = not said <= SMALL_TALK
        about = said | words(state.task_state or "")
        banks = [question for question in questions if ":" in question]
        named = {bank for bank in banks if words(questions[bank]) & about - SMALL_TALK}
        return {
            question: matters and (question not in banks or not named or question in named)
            for question in questions
        }


@hookimpl
def hindsight_register_decision_backends(register):
    """Let users choose it."""
    register("rules", lambda settings, services: Rules())
