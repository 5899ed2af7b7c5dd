"""Checks of ``doctor``: the real path end to end, and what to do where it does not hold."""

from __future__ import annotations

import uuid
from importlib.util import find_spec
from typing import TYPE_CHECKING

from hindsight_core.doctor.findings import Finding
from hindsight_core.errors import HindsightError, ProviderError, StorageError

if TYPE_CHECKING:
    from hindsight_core.runtime import Runtime


async def files(runtime: Runtime) -> list[Finding]:
    """The files that every session shares: ours, of this version, and sound."""
    found = []
    for database in (runtime.sessions.database, runtime.queue.database):
        name = database.path.name
        try:
            told = await database.read(lambda c: c.execute("PRAGMA quick_check(1)").fetchone()[0])
        except StorageError as error:
            found.append(Finding(name, "failed", str(error)))
            continue
        if database.set_aside is not None:
            text = f"{database.path} was broken and has been set aside as {database.set_aside}"
            advice = "A new file is in its place; run `hindsight-mem doctor` again."
            found.append(Finding(name, "failed", text, advice))
        # SQLite 3.40 reports NULLs that are none in tables without row ids.
        elif told != "ok" and not told.startswith("NULL value in"):
            advice = f"Move {database.path} away; a new one is started."
            found.append(Finding(name, "failed", told, advice))
        else:
            found.append(Finding(name, "ok", str(database.path)))
    return found


async def configuration(runtime: Runtime) -> list[Finding]:
    """Wrong values, kill switches, and whether a bank is declared here."""
    loaded = runtime.loaded
    findings = [
        Finding("configuration", "warning", text, "Run `hindsight-mem config check`.")
        for text in loaded.warnings
    ]
    if loaded.off:
        findings.append(Finding("configuration", "warning", f"memory is off: {loaded.off}"))
    if loaded.files:
        findings.append(Finding("configuration", "ok", ", ".join(map(str, loaded.files))))
    elif not loaded.warnings:
        findings.append(Finding("configuration", "ok", "no file, defaults only"))
    if not loaded.bank.declared:
        advice = (
            "Declare one with `hindsight-mem config set bank.id auto`; "
            "the command line works without."
        )
        findings.append(Finding("bank", "warning", loaded.bank.reason, advice))
    return findings


async def plugins(runtime: Runtime) -> list[Finding]:
    """Broken or shadowed plugins."""
    problems = runtime.hooks.problems
    if not problems:
        return [Finding("plugins", "ok", "all loaded")]
    advice = "See `hindsight-mem plugins`; block one with plugins.block."
    return [Finding("plugins", "warning", text, advice) for text in problems]


async def templates(runtime: Runtime) -> list[Finding]:
    """Overrides that cannot be used as written."""
    from hindsight_core.prompt_check import check

    problems = check(runtime.prompts.search)
    if not problems:
        return [Finding("templates", "ok", "every template renders")]
    advice = "See `hindsight-mem prompts check`."
    return [Finding("templates", "warning", str(text), advice) for text in problems]


async def model(runtime: Runtime) -> list[Finding]:
    """One short call for each purpose."""
    from hindsight_core.budget import work
    from hindsight_core.providers.base import CompletionRequest, Message

    models = runtime.models
    if not models.available("retain"):
        advice = (
            "Memory works without a model: it keeps what you state or ask to keep. For more set "
            "models.base_url and models.model."
        )
        return [Finding("model", "warning", models.reason, advice)]
    request = CompletionRequest(
        stage="doctor",
        messages=(Message("user", "ok?"),),
        system="(hindsight stage: doctor)",
        max_tokens=16,
    )
    findings = []
    for purpose in ("recall", "retain"):
        label = models.label(purpose)
        try:
            with work(explicit=True):
                await models.complete(request, purpose=purpose)
        except HindsightError as error:
            advice = "Check models.base_url, models.model and the key named by models.api_key_env."
            findings.append(Finding(f"model for {purpose}", "failed", f"{label}: {error}", advice))
        else:
            findings.append(Finding(f"model for {purpose}", "ok", f"{label} answered"))
    return findings


async def embedder(runtime: Runtime) -> list[Finding]:
    """One vector."""
    embedder = runtime.embedder
    if embedder is None:
        return [Finding("embedder", "ok", "none configured: search by words")]
    if find_spec("numpy") is None:
        advice = "pip install 'hindsight-core[vectors]'; until then words alone are searched."
        return [Finding("embedder", "failed", "vectors need numpy, which is not there", advice)]
    try:
        [vector] = await embedder.embed(["doctor"], kind="query")
    except ProviderError as error:
        advice = f"Correct or change embeddings.provider = {runtime.settings.embeddings.provider}."
        return [Finding("embedder", "failed", str(error), advice)]
    return [Finding("embedder", "ok", f"{embedder.identity}: {len(vector)} dimensions")]


async def bank(runtime: Runtime) -> list[Finding]:
    """A write, read back, deleted: what a session does."""
    from hindsight_core.identity import fact_id
    from hindsight_core.memory import Document, Fact, Query

    bank = runtime.bank
    stats = await bank.stats()
    where = f"{runtime.bank_id} ({runtime.loaded.bank.backend}), {stats.facts} facts"
    if runtime.read_only:
        return [Finding("bank", "ok", f"{where}, read-only: nothing was written")]
    word = f"doctor{uuid.uuid4().hex[:12]}"
    text = f"The check {word} wrote this and deletes it."
    document_id = f"doctor-{word}"
    fact = Fact(id=fact_id(text), text=text, document_id=document_id)
    await bank.retain(Document(id=document_id, text=text, facts=(fact,)))
    try:
        hits = await bank.recall(Query(text=word, limit=3))
    finally:
        await bank.delete_document(document_id)
    if not any(word in hit.fact.text for hit in hits):
        advice = "Run `hindsight-mem bank stats`; export the bank and import it into a new one."
        return [Finding("bank", "failed", f"{where}: a write was not found again", advice)]
    return [Finding("bank", "ok", f"{where}: written, read back, deleted")]


async def queue(runtime: Runtime) -> list[Finding]:
    """Writes that wait, and those that were given up."""
    counts = await runtime.queue.counts(runtime.bank_id)
    if counts.dead:
        advice = "See `hindsight-mem queue list`, then `hindsight-mem queue retry`."
        return [Finding("queue", "warning", f"{counts.dead} dead letters", advice)]
    if counts.pending:
        advice = "They are stored when the bank is back; `hindsight-mem queue flush` tries now."
        return [Finding("queue", "warning", f"{counts.pending} writes wait", advice)]
    return [Finding("queue", "ok", "empty")]
