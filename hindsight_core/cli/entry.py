"""Entry point of ``hindsight-mem``: errors become one line and an exit code."""

from __future__ import annotations

import os
import sys

from hindsight_core.errors import (
    ConfigError,
    HindsightError,
    MemoryOff,
    PluginError,
    PromptError,
    TranscriptError,
)

DONE, OUTSIDE_FAILED, USAGE = 0, 1, 2
USER_ERRORS = (ConfigError, TranscriptError, PromptError, PluginError, MemoryOff)


def main() -> None:
    """Run the command line; exits 0 done, 1 the outside failed, 2 usage or configuration."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command and give its exit code."""
    import click

    from hindsight_core.cli.main import cli

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
        return _say(str(error), USAGE if isinstance(error, USER_ERRORS) else OUTSIDE_FAILED)
    except Exception as error:
        return _other(error)
    return result if isinstance(result, int) else DONE


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
