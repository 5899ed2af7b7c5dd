"""What a rule for secrets is, and the tokens that are known by how they begin, as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SecretRule:
    """One shape of secret.

    Attributes:
        name: For messages and tests.
        pattern: A regular expression; its group ``secret``, or the whole match, is removed.
        needles: Lower-case texts; where none of them occurs the rule is not tried.
        accept: Says whether a match is a secret; None accepts every match.
        find: Instead of a pattern: gives the spans of the secrets in text[start:end].
        local: The rule is tried only on lines with a needle, and the line after each.
    """

    name: str
    pattern: str = ""
    needles: tuple[str, ...] = ()
    accept: Callable[[re.Match[str]], bool] | None = None
    find: Callable[[str, int, int], Iterable[Span]] | None = None
    local: bool = False


# Tokens that are known by how they begin: (name, beginnings, what follows).
_W = r"[A-Za-z0-9_-]"
_PREFIXES: tuple[tuple[str, str, str], ...] = (
    ("AWS access key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{12,}"),
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{20,}"),
    ("GitHub fine-grained token", "github_pat_", r"\w{20,}"),
    (
        "GitLab token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-",
        rf"{_W}{{16,}}",
    ),
    ("Slack token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", rf"{_W}{{10,}}"),
    ("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9]{10,}"),
    ("Anthropic key", "sk-ant-", rf"{_W}{{16,}}"),
    ("OpenAI key", "sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk-None-", rf"{_W}{{16,}}"),
    ("model API key", "sk-", r"[A-Za-z0-9]{20,}"),
    ("Google API key", "AIza", rf"{_W}{{30,}}"),
    ("Google OAuth secret", "GOCSPX-", rf"{_W}{{16,}}"),
    ("Google access token", "ya29.", rf"{_W}{{20,}}"),
    ("Google refresh token", "1//0", rf"{_W}{{20,}}"),
    ("Hugging Face token", "hf_ api_org_", r"[A-Za-z0-9]{20,}"),
    ("npm token", "npm_", r"[A-Za-z0-9]{20,}"),
    ("PyPI token", "pypi-AgE", rf"{_W}{{20,}}"),
    ("RubyGems key", "rubygems_", r"[a-f0-9]{20,}"),
    ("crates.io token", "cio", r"[A-Za-z0-9]{32}"),
    ("NuGet key", "oy2", r"[a-z0-9]{43}"),
    ("Docker token", "dckr_pat_ dckr_oat_", rf"{_W}{{20,}}"),
    ("SendGrid key", "SG.", rf"{_W}{{16,}}\.{_W}{{16,}}"),
    ("Mailgun key", "key-", r"[0-9a-f]{32}"),
    ("Brevo key", "xkeysib- xsmtpsib-", rf"{_W}{{20,}}"),
    ("Twilio key", "SK", r"[0-9a-f]{32}"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{32,}"),
    ("Heroku key", "HRKU-", rf"{_W}{{20,}}"),
    ("Vault token", "hvs. hvb. hvr.", rf"{_W}{{20,}}"),
    ("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.-]{20,}"),
    ("Linear key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{20,}"),
    ("Notion token", "ntn_", r"[A-Za-z0-9]{20,}"),
    ("Figma token", "figd_", rf"{_W}{{20,}}"),
    ("Atlassian token", "ATATT3 ATCTT3", r"[\w=-]{20,}"),
    ("Bitbucket token", "ATBB", r"[A-Za-z0-9]{20,}"),
    ("Databricks token", "dapi", r"[a-f0-9]{32}"),
    ("New Relic key", "NRAK- NRII- NRJS- NRRA-", rf"{_W}{{16,}}"),
    ("Grafana token", "glsa_ glc_", r"[\w=+/-]{20,}"),
    ("Sentry token", "sntrys_ sntryu_", r"[\w=+/-]{20,}"),
    ("Postman key", "PMAK-", rf"{_W}{{20,}}"),
    ("Pulumi token", "pul-", r"[a-f0-9]{32,}"),
    ("PlanetScale secret", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.-]{20,}"),
    ("Netlify token", "nfp_", r"[A-Za-z0-9]{20,}"),
    ("Vercel token", "vcp_ vci_ vck_", r"[A-Za-z0-9]{20,}"),
    ("Supabase token", "sbp_ sb_secret_", rf"{_W}{{20,}}"),
    ("Fly token", "fo1_ fm1r_ fm2_", r"[\w=+/-]{20,}"),
    ("Square token", "sq0atp- sq0csp- EAAAE", rf"{_W}{{20,}}"),
    ("Shopify token", "shpat_ shpss_ shppa_ shpca_", r"[a-fA-F0-9]{20,}"),
    ("Dropbox token", "sl.", rf"{_W}{{60,}}"),
    ("LaunchDarkly key", "sdk- mob-", r"[0-9a-f]{8}-[0-9a-f-]{20,}"),
    ("Groq key", "gsk_", r"[A-Za-z0-9]{20,}"),
    ("Replicate token", "r8_", r"[A-Za-z0-9]{20,}"),
    ("Perplexity key", "pplx-", r"[A-Za-z0-9]{20,}"),
    ("xAI key", "xai-", r"[A-Za-z0-9]{20,}"),
    ("NVIDIA key", "nvapi-", rf"{_W}{{20,}}"),
    ("LangSmith key", "lsv2_pt_ lsv2_sk_", r"\w{20,}"),
    ("Pinecone key", "pcsk_", r"\w{20,}"),
    ("Tailscale key", "tskey-", rf"{_W}{{16,}}"),
    ("Adafruit key", "aio_", r"[A-Za-z0-9]{20,}"),
    ("Duffel token", "duffel_test_ duffel_live_", rf"{_W}{{20,}}"),
    ("EasyPost key", "EZAK EZTK", r"[A-Za-z0-9]{40,}"),
    ("Flutterwave key", "FLWSECK", rf"{_W}{{16,}}"),
    ("Plaid token", "access-sandbox- access-development- access-production-", r"[0-9a-f-]{30,}"),
    ("Prefect key", "pnu_ pnb_", r"[A-Za-z0-9]{20,}"),
    ("ReadMe key", "rdme_", r"[a-z0-9]{40,}"),
    ("Shippo token", "shippo_live_ shippo_test_", r"[a-f0-9]{20,}"),
    ("1Password token", "ops_eyJ", r"[\w=+/-]{20,}"),
    ("Infracost key", "ico-", r"[A-Za-z0-9]{32}"),
    ("Buildkite token", "bkua_ bkct_", r"[a-f0-9]{20,}"),
    ("CircleCI token", "CCIPAT_ CCIPRJ_", r"\w{20,}"),
    ("Contentful token", "CFPAT-", rf"{_W}{{20,}}"),
    ("Clojars token", "CLOJARS_", r"[a-z0-9]{40,}"),
    ("Dynatrace token", "dt0c01. dt0s01.", r"[A-Z0-9]{20,}\.[A-Z0-9]{30,}"),
    ("Airtable token", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{40,}"),
    ("Mapbox secret", "sk.eyJ", r"[\w.-]{20,}"),
    ("age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{20,}"),
    ("Telegram bot token", "bot", r"\d{8,10}:[A-Za-z0-9_-]{30,}"),
    ("JFrog key", "AKCp", r"[A-Za-z0-9]{20,}"),
    ("HubSpot token", "pat-na1- pat-eu1-", r"[0-9a-f-]{30,}"),
)


def _prefixed() -> Iterator[SecretRule]:
    for name, beginnings, rest in _PREFIXES:
        heads = beginnings.split()
        either = "|".join(map(re.escape, heads))
        pattern = rf"(?<![A-Za-z0-9_])(?P<secret>(?:{either}){rest})"
        yield SecretRule(name, pattern, tuple(head.lower() for head in heads))


PREFIX_RULES: tuple[SecretRule, ...] = tuple(_prefixed())
