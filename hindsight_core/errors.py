"""Every error that this package raises on purpose.

::

    HindsightError
    ├── ConfigError        the user can fix it: a setting, a file, an argument
    ├── TranscriptError    a transcript file that cannot be read
    ├── PromptError        names the template, and the variable where there is one
    ├── PluginError        names the distribution
    ├── StorageError       a local file of ours: full disk, read-only, corrupt, newer
    │   ├── StorageBusy    another process holds the lock; retryable
    │   └── StorageNewer   written by a newer version of this program
    ├── BankError          the bank failed; `retryable` says whether a later try can help
    ├── ProviderError      a model or an embedder failed (never an empty text)
    │   ├── AnswerError    the answer could not be read, even after one repair
    │   └── BreakerOpen    not called: it failed repeatedly a moment ago
    ├── BudgetExceeded     automatic work waits; explicit commands go on
    └── MemoryOff          memory is off, dormant or read-only here, with the reason
        └── WriteVetoed    the user's own command decided against this very write

A message says what happened, names what it happened to, and ends with what to do.
"""

from __future__ import annotations


class HindsightError(Exception):
    """Root of the tree; nothing raises it directly."""


class ConfigError(HindsightError):
    """A setting, configuration file or command argument that the user can correct."""


class TranscriptError(HindsightError):
    """A transcript that cannot be read: missing, not text, not a known format."""


class PromptError(HindsightError):
    """A template that cannot be found or rendered.

    Attributes:
        stage: The template's path without suffix, such as ``recall/judge``.
    """

    def __init__(self, message: str, *, stage: str) -> None:
        super().__init__(message)
        self.stage = stage


class PluginError(HindsightError):
    """A plugin that is broken, duplicate or misspelt.

    Attributes:
        distribution: The distribution that ships the plugin.
    """

    def __init__(self, message: str, *, distribution: str) -> None:
        super().__init__(message)
        self.distribution = distribution


class StorageError(HindsightError):
    """A local file of ours cannot be read or written."""


class StorageBusy(StorageError):
    """Another process holds the write lock longer than the caller could wait."""


class StorageNewer(StorageError):
    """The file was written by a newer version of this program; it is left untouched."""


class BankError(HindsightError):
    """A bank did not do what it was asked.

    Attributes:
        retryable: True when the same call may succeed later (down, busy, rate limited).
        retry_after: Seconds the bank asked us to wait, when it did.
    """

    def __init__(
        self, message: str, *, retryable: bool = True, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class ProviderError(HindsightError):
    """A model or an embedder failed.

    Attributes:
        retryable: True when the same call may succeed later.
        retry_after: Seconds the provider asked us to wait, when it did.
    """

    def __init__(
        self, message: str, *, retryable: bool = True, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class AnswerError(ProviderError):
    """A model answered, but not in the form its stage needs, and the repair failed too."""


class BreakerOpen(ProviderError):
    """Not called at all, because it failed several times in a row a moment ago."""


class BudgetExceeded(HindsightError):
    """The token or call budget is used up: automatic work waits, explicit commands go on."""


class MemoryOff(HindsightError):
    """Memory is off, dormant or read-only here; the message is the reason for the user."""


class WriteVetoed(MemoryOff):
    """The user's own command decided against a write: it is left out for good."""
