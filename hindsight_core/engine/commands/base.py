"""What a slash command is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from hindsight_core.errors import HindsightError

if TYPE_CHECKING:
    from hindsight_core.config.settings import Settings
    from hindsight_core.engine.live import LiveSession

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What the host does after a command.

    Attributes:
        text: Shown to the user.
        level: How it is shown.
        prompt: Sent to the agent as the user's next message.
        panel: The host opens the panel.
    """

    text: str | None = None
    level: Level = "info"
    prompt: str | None = None
    panel: bool = False

    def wire(self) -> dict[str, Any]:
        """The form of ``command/run``'s result."""
        result: dict[str, Any] = {}
        if self.text is not None:
            result.update(text=self.text, level=self.level)
        if self.prompt is not None:
            result["prompt"] = self.prompt
        if self.panel:
            result["panel"] = True
        return result


class SessionCommand(Protocol):
    """One slash command of one session."""

    @property
    def name(self) -> str:
        """Without the slash."""
        ...

    @property
    def description(self) -> str:
        """One line for the host's list."""
        ...

    @property
    def argument_hint(self) -> str | None:
        """How arguments look; None when it takes none."""
        ...

    async def run(self, arguments: str) -> CommandResult:
        """Do it; raises `UsageError` for wrong arguments, else `HindsightError`."""
        ...


class Command:
    """A built-in slash command; known to the host also where no bank is declared.

    Attributes:
        name: Without the slash.
        description: One line for the host's list.
        argument_hint: How arguments look; None when it takes none.
        opens_panel: It does no more than that, so it works without a bank.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    argument_hint: ClassVar[str | None] = None
    opens_panel: ClassVar[bool] = False

    def __init__(self, live: LiveSession) -> None:
        self.live = live

    @classmethod
    def offered(cls, settings: Settings) -> bool:
        """Whether these settings offer it."""
        return True

    async def run(self, arguments: str) -> CommandResult:
        """Do it; ``arguments`` has no space around it. Raises as `SessionCommand.run`."""
        raise NotImplementedError


class UsageError(HindsightError):
    """Arguments that the user can correct; the message says how."""
