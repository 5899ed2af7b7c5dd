"""Quill, an agent with hooks in JSON: declared, not programmed."""

from hindsight_host_generic.agents import Agent, Event, Fields
from hindsight_host_generic.hosts import WiredHost
from hindsight_host_generic.install.wiring import Places, Wiring, home_folder


def emit(event, reply, payload):
    """Quill's reply: what is in `context` goes before the model; {} is nothing."""
    return {"context": reply.context} if reply.context and event.context else {}


AGENT = Agent(
    name="quill",
    title="Quill",
    events=(
        Event("sessionOpen", "session_start", context=True),
        Event("prompt", "prompt", context=True, timeout_s=30),
        Event("answer", "turn_end"),
        Event("beforeCompact", "compact_before"),
        Event("afterCompact", "compact_after"),
        Event("sessionClose", "session_end"),
    ),
    emit=emit,
    fields=Fields(session=("session",), prompt=("text",), reply=("answer",)),
)


def folder(env):
    return home_folder(env, ".quill", variable="QUILL_HOME")


def places(request):
    """Where Quill looks: a project's folder, or the user's."""
    base = request.project / ".quill" if request.project else folder(request.env)
    return Places(hooks=base / "hooks.json", servers=base / "mcp.json", skills=base / "skills")


def entry(command, event):
    """One hook in `hooks.json`, under the name of its event."""
    return {"run": command, "seconds": event.timeout_s}


WIRING = Wiring(places=places, folder=folder, programs=("quill",), entry=entry)
host = WiredHost("quill", wiring=WIRING, agent=AGENT)
