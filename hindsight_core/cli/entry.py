"""Entry point of ``hindsight-mem``: errors become one line and an exit code."""

from __future__ import annotations

import os
import sys

DONE, OUTSIDE_FAILED, USAGE = 0, 1, 2


def main() -> None:
    """Run the command line; exits 0 done, 1 the outside failed, 2 usage or configuration."""
    # Before everything else is imported: an agent waits for each of its hooks.
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv[2:4]):
        _hook(sys.argv[2:])
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def _hook(arguments: list[str]) -> None:
    """Answer an agent's hook; nothing that breaks here may become its trouble (br/BR-01)."""
    try:
        from hindsight_core.daemon.client import main as hook

        hook(arguments)
    except BaseException:
        os.write(1, b"{}")
    os._exit(DONE)


def run(arguments: list[str]) -> int:
    """Run one command and give its exit code."""
    import click

    from hindsight_core.cli.main import cli
    from hindsight_core.errors import HindsightError

    try:
        result = cli.main(arguments, prog_name="hindsight-mem", standalone_mode=False)
    except click.exceptions.Exit as leave:
        return leave.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code if error.exit_code != 1 else USAGE
    except click.Abort:
        return _say("stopped", 130)
    except BrokenPipeError:
        # The reader has gone (``| head``); Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except HindsightError as error:
        return _say(str(error), USAGE if _is_the_users(error) else OUTSIDE_FAILED)
    except Exception as error:
        return _other(error)
    return result if isinstance(result, int) else DONE


def _is_the_users(error: Exception) -> bool:
    from hindsight_core.errors import (
        ConfigError,
        MemoryOff,
        PluginError,
        PromptError,
        TranscriptError,
    )

    return isinstance(error, ConfigError | TranscriptError | PromptError | PluginError | MemoryOff)


def _other(error: Exception) -> int:
    if isinstance(error, FileNotFoundError) and error.filename is None and not _is_somewhere():
        return _say("the current folder is gone; change into one that exists", USAGE)
    if isinstance(error, OSError):
        return _say(f"{error.strerror or error}: {error.filename or ''}", OUTSIDE_FAILED)
    if os.environ.get("HINDSIGHT_MEM_TRACE"):
        raise error
    kind, text = type(error).__name__, " ".join(str(error).split())[:300]
    hint = "this is a defect, please report it; HINDSIGHT_MEM_TRACE=1 shows where it arises"
    return _say(f"unexpected {kind}: {text} ({hint})", OUTSIDE_FAILED)


def _is_somewhere() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _say(text: str, code: int) -> int:
    print(f"hindsight-mem: {text}", file=sys.stderr)
    return code
