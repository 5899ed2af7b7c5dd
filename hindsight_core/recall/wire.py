"""A hit as tools and the command line give it away (protocol.md, ``details.hits``)."""

from __future__ import annotations

from typing import Any

from hindsight_core.memory import Hit


def hit_wire(hit: Hit) -> dict[str, Any]:
    """``{id, text, score, bank, kind, timestamp}``; the text is what the search cleaned.

    ``missing`` and ``changed`` are there where the working tree speaks against the fact.
    """
    moment = hit.fact.timestamp
    against = {"missing": list(hit.missing), "changed": list(hit.changed)}
    return {
        "id": hit.id,
        "text": hit.fact.text,
        "score": round(hit.score, 4),
        "bank": hit.bank,
        "kind": hit.fact.kind,
        "timestamp": moment.isoformat() if moment else None,
        **{name: paths for name, paths in against.items() if paths},
    }
