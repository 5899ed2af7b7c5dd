"""One's own policy, asked before every backend: secrets of the house stay in the house."""

from __future__ import annotations

from hindsight_core import hookimpl


@hookimpl
async def hindsight_decide(request):
    """Nothing is read and nothing written while the word is said; else the backends decide."""
    if "confidential" in request.last_user_message.lower():
        return dict.fromkeys(request.questions, False)
    return None
