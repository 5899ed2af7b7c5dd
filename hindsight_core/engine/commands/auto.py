"""``/mem-auto``: switch what runs by itself, for this session only (pi/U-03)."""

from __future__ import annotations

from hindsight_core.engine.commands.base import Command, CommandResult, UsageError

_CONTOURS = {"recall": "recall", "retain": "memorize", "memorize": "memorize"}
_SWITCH = {"on": True, "off": False}
USAGE = "usage: /mem-auto [on|off|status|recall|retain], or recall on|off, retain on|off"


class MemAuto(Command):
    """On and off; nothing is written to disk."""

    name = "mem-auto"
    description = "automatic recall and memorizing, for this session"
    argument_hint = "[on|off|recall|retain] [on|off]"

    async def run(self, arguments: str) -> CommandResult:
        """Switches, and says how both stand."""
        words = arguments.lower().split()
        auto = self.live.auto
        match words:
            case [] | ["status"]:
                pass
            case [("on" | "off") as switch]:
                auto.recall = auto.memorize = _SWITCH[switch]
            case [name] if name in _CONTOURS:
                contour = _CONTOURS[name]
                setattr(auto, contour, not getattr(auto, contour))
            case [name, ("on" | "off") as switch] if name in _CONTOURS:
                setattr(auto, _CONTOURS[name], _SWITCH[switch])
            case _:
                raise UsageError(USAGE)
        self.live.watch.changed()
        return CommandResult(self._status())

    def _status(self) -> str:
        live = self.live
        said = [
            f"automatic recall {_named(live.brings_back)}",
            f"automatic memorizing {_named(live.memorizes)}",
        ]
        if live.auto.recall and not live.brings_back:
            said.append("recall stays off here: recall.mode is off, or the session is tools only")
        if live.auto.memorize and not live.memorizes:
            said.append("memorizing stays off here: read-only bank, sub-agent, or tools only")
        return " · ".join(said)


def _named(switch: object) -> str:
    return "on" if switch else "off"
