"""Settings of the bank: which one, where it is, which part of it is ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, SecretStr, StringConstraints

from hindsight_core.config.settings.base import Ms, Names, Positive, Section, Url


class BankEntry(Section):
    """One bank of several (spec s1, S-CFG-3)."""

    id: str = Field(description="Name of the bank.")
    role: str = Field("coding", description="What it is for: coding, life or a word of your own.")
    purpose: str | None = Field(
        None, description="What it holds, in a few words, for who decides about it."
    )
    access: Literal["read", "write", "both"] = Field(
        "both", description="What may be done with it."
    )
    enabled: bool = Field(default=True, description="False leaves it out.")
    retain_mode: Literal["always", "decision", "explicit-only"] | None = Field(
        None,
        description="When it is written; by default always for role coding, else explicit-only.",
    )
    retain_structured_chunk_size: Positive | None = Field(
        None, description="Chunk size given to the server when the bank is created."
    )

    @property
    def readable(self) -> bool:
        """Whether recall may search it."""
        return self.enabled and self.access != "write"

    @property
    def writable(self) -> bool:
        """Whether anything may be stored in it."""
        return self.enabled and self.access != "read"

    @property
    def writes(self) -> Literal["always", "decision", "explicit-only"]:
        """The effective `retain_mode`."""
        return self.retain_mode or ("always" if self.role == "coding" else "explicit-only")


class Bank(Section):
    """Which bank this project uses."""

    id: str | None = Field(
        None, description="A name, or `auto` for the project's own; empty switches memory off here."
    )
    naming: Literal["slug", "verbatim"] = Field(
        "slug", description="Whether a declared name is turned into a slug or used as written."
    )
    backend: str = Field(
        "auto", description="`auto`, `sqlite`, `hindsight`, `qdrant`, or the name of a plugin's."
    )
    template: str | None = Field(
        None, description="Form of an automatic name, of `{project}`, `{host}` and `{agent}`."
    )
    paths: Mapping[str, str] = Field(
        default_factory=dict, description="Folder -> bank; the longest folder that fits counts."
    )
    opt_in_only: bool = Field(default=False, description="Memory only under `opt_in_paths`.")
    opt_in_paths: Names = Field((), description="Folders where memory is wanted.")
    read_only: bool = Field(default=False, description="Refuse every write.")
    user_id: Annotated[str, StringConstraints(strip_whitespace=True)] | None = Field(
        None, description="A second, personal bank across projects; empty for none."
    )
    entries: tuple[BankEntry, ...] = Field((), description="Several banks with roles and access.")


class Scope(Section):
    """Which part of a shared bank belongs to this project (spec s1, S-TAG)."""

    mode: Literal["isolated-bank", "domain-tagged"] = Field(
        "isolated-bank", description="A bank of its own, or tags inside a shared one."
    )
    project_id: str | None = Field(None, description="Project id used in tags.")
    project_id_strategy: Literal["remote", "basename"] = Field(
        "remote", description="Where the project id comes from when none is given."
    )
    include_shared_observations: bool = Field(
        default=False, description="Also recall observations without tags."
    )
    user_scope_tags: Names = Field(
        ("source:{host}", "harness:{host}"),
        description="Tags wanted in the user bank; `{host}` is the agent program; empty for all.",
    )
    unscoped_recall_banks: Names = Field((), description="Banks searched without a tag condition.")


class Hindsight(Section):
    """The Hindsight server."""

    base_url: Url = Field("http://localhost:8888", description="Address of the server.")
    namespace: str = Field("default", pattern=r"\S", description="Path segment after `/v1`.")
    token: SecretStr | None = Field(None, description="Bearer token; user's files only.")
    token_env: str | None = Field(None, description="Environment variable that holds the token.")
    token_file: str | None = Field(None, description="File with the token, read again after a 401.")
    timeout_ms: Ms = Field(15000, description="Limit of one request, in milliseconds.")


class Qdrant(Section):
    """A Qdrant server."""

    url: Url = Field("http://localhost:6333", description="Address of the server.")
    collection: str | None = Field(None, description="Collection; the bank's id when not given.")
    api_key_env: str | None = Field(None, description="Environment variable that holds the key.")
    timeout_ms: Ms = Field(15000, description="Limit of one request, in milliseconds.")
