"""The keys of the four plugins that this program replaces, in one table.

A key that has the same name here in camelCase (``recall.maxTokens``) needs no line. Every other
key is either mapped to a setting, through a converter where its meaning differs, or answered with
an advice that says what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hindsight_core.config import convert as to

GONE = "is kept in the home folder now; remove the key"


@dataclass(frozen=True, slots=True)
class Old:
    """One key of a plugin.

    Attributes:
        key: Its dotted name in that plugin's file.
        new: The setting it is now; None when there is none.
        env: Its environment name, if it had one.
        convert: Turns its value into settings, `{setting: value}`; raises ValueError with what
            was expected.
        advice: Told to the user when the key is found.
        unless: A newer key of the same plugin whose presence makes this one void.
    """

    key: str
    new: str | None = None
    env: str | None = None
    convert: Callable[[object], Mapping[str, object]] | None = None
    advice: str | None = None
    unless: str | None = None


PI = (
    Old("bankId", "bank.id", "HINDSIGHT_BANK"),
    Old("userBankId", "bank.user_id", "HINDSIGHT_USER_BANK", to.user_bank),
    Old("baseUrl", "hindsight.base_url", "HINDSIGHT_BASE_URL"),
    Old("namespace", "hindsight.namespace", "HINDSIGHT_NAMESPACE"),
    Old("modelId", "models.model", "HINDSIGHT_MODEL"),
    Old("recallModelId", "models.recall", "HINDSIGHT_RECALL_MODEL"),
    Old("retainModelId", "models.retain", "HINDSIGHT_RETAIN_MODEL"),
    Old("recallModelChain", "models.recall_chain", "HINDSIGHT_RECALL_MODEL_CHAIN"),
    Old("retainModelChain", "models.retain_chain", "HINDSIGHT_RETAIN_MODEL_CHAIN"),
    Old("summaryMaxTokens", "memorize.summary_max_tokens", "HINDSIGHT_SUMMARY_MAX_TOKENS"),
    Old("recallMaxTokens", "recall.max_tokens", "HINDSIGHT_RECALL_MAX_TOKENS"),
    Old("recallBudget", "recall.budget", "HINDSIGHT_RECALL_BUDGET"),
    Old("recallMaxLines", "recall.max_lines", "HINDSIGHT_RECALL_MAX_LINES"),
    Old("recallContextTokens", "recall.context_tokens", "HINDSIGHT_RECALL_CONTEXT_TOKENS"),
    Old("recallEffort", "recall.effort", "HINDSIGHT_RECALL_EFFORT"),
    Old("recallMaxQueries", "recall.max_queries", "HINDSIGHT_RECALL_MAX_QUERIES"),
    Old("recallFilter", "recall.filter", "HINDSIGHT_RECALL_FILTER"),
    Old("taskDetect", "tasks.detect", "HINDSIGHT_TASK_DETECT"),
    Old("taskHistoryTurns", "tasks.history_turns", "HINDSIGHT_TASK_HISTORY_TURNS", to.least(2)),
    Old("taskTitleTail", "tasks.title_tail", "HINDSIGHT_TASK_TITLE_TAIL", to.least(0)),
    Old("deepRecallQueries", "tasks.deep_queries", "HINDSIGHT_DEEP_RECALL_QUERIES", to.least(1)),
    Old(
        "deepRecallMaxLines", "tasks.deep_max_lines", "HINDSIGHT_DEEP_RECALL_MAX_LINES", to.least(1)
    ),
    Old("bankReminder", "reminder.enabled", "HINDSIGHT_BANK_REMINDER"),
    Old("bankReminderTurns", "reminder.turns", "HINDSIGHT_BANK_REMINDER_TURNS"),
    Old("factCategories", "memorize.categories", convert=to.categories),
    Old("factInvalidation", "memorize.invalidate", "HINDSIGHT_FACT_INVALIDATION"),
    Old("autoRecall", "recall.enabled", "HINDSIGHT_AUTO_RECALL"),
    Old("autoMemorize", "memorize.enabled", "HINDSIGHT_AUTO_MEMORIZE"),
    Old("memoryLanguage", "memorize.language", "HINDSIGHT_MEMORY_LANGUAGE"),
    Old("retainMission", "memorize.retain_mission", "HINDSIGHT_RETAIN_MISSION"),
    Old("observationsMission", "memorize.observations_mission", "HINDSIGHT_OBSERVATIONS_MISSION"),
    Old("chunkInputFraction", "memorize.chunk_input_fraction", "HINDSIGHT_CHUNK_INPUT_FRACTION"),
    Old("countsRefreshMs", "status.refresh_ms", "HINDSIGHT_COUNTS_REFRESH_MS"),
    Old(
        "reviewAutoApproveDays",
        "review.auto_approve_days",
        "HINDSIGHT_REVIEW_AUTO_APPROVE_DAYS",
        to.least(0),
    ),
    Old("debug", "log.level", "HINDSIGHT_DEBUG", to.debug),
    Old("deltaDir", env="HINDSIGHT_DELTA_DIR", advice=f"the delta {GONE}"),
    Old("priorSummaryPath", env="HINDSIGHT_PRIOR_SUMMARY", advice=f"the rolling summary {GONE}"),
    Old("logPath", env="HINDSIGHT_LOG_PATH", advice=f"the log {GONE}, see `hindsight-mem log`"),
    Old("dispatchLogPath", env="HINDSIGHT_DISPATCH_LOG_PATH", advice=f"the dispatch log {GONE}"),
    Old(
        "reviewQueuePath",
        env="HINDSIGHT_REVIEW_QUEUE",
        advice=f"the review queue {GONE}, see `hindsight-mem review`",
    ),
    Old("queuePath", advice=f"the queue {GONE}, see `hindsight-mem queue`"),
    Old(
        "recallOperation",
        env="HINDSIGHT_RECALL_OPERATION",
        advice="recall always searches; for a composed answer use `hindsight-mem reflect`",
    ),
    Old("active", advice="a project is active when it declares a bank; set bank.id"),
)

S1 = (
    Old("setupComplete", advice="a project is active when it declares a bank; set bank.id"),
    Old("agentUse", advice="categories say what is kept; see memorize.categories"),
    Old("hindsight.apiKey", "hindsight.token", "HINDSIGHT_API_KEY", to.api_key),
    Old("hindsight.apiToken", "hindsight.token", "HINDSIGHT_API_TOKEN", to.api_key),
    Old("hindsight.apiKeyRef", "hindsight.token_env", "HINDSIGHT_API_KEY_REF", to.env_name),
    Old("banks", "bank.entries", convert=to.banks),
    Old("banksFallback", "decision.fallback_banks"),
    Old("globalRetain.mode", advice="set retain_mode of the entry in bank.entries"),
    Old("userRetain.mode", advice="set retain_mode of the entry in bank.entries"),
    Old("globalBankId", "bank.user_id", "PI_HINDSIGHT_GLOBAL_BANK_ID", to.user_bank),
    Old("userBankId", "bank.user_id", "PI_HINDSIGHT_USER_BANK_ID", to.user_bank),
    Old("projectBankId", "bank.id", "PI_HINDSIGHT_PROJECT_BANK_ID"),
    Old("enabled", "enabled", "PI_HINDSIGHT_ENABLED"),
    Old("minSemantic", "recall.min_scores.semantic", "PI_HINDSIGHT_MIN_SEMANTIC"),
    Old("minReranker", "recall.min_scores.reranker", "PI_HINDSIGHT_MIN_RERANKER"),
    Old("recall.mode", "recall.mode", convert=to.recall_mode),
    Old("recall.bankMode", "decision.bank_gate", convert=to.bank_mode),
    Old("recall.globalQueryPreamble", "recall.user_query_preamble"),
    Old("recall.storeLastRecall", advice="every recall is in `hindsight-mem log`; remove the key"),
    Old("recall.storeLastRecallFailures", advice="failures are in `hindsight-mem log`"),
    Old("recall.lastRecallPath", advice=f"the last recall {GONE}, see `hindsight-mem explain`"),
    Old("decision.fallback.recallBanks", "decision.fallback_recall_banks"),
    Old("decision.fallback.retainBanks", "decision.fallback_retain_banks"),
    Old("observations.enabled", advice="the server decides about observations; remove the key"),
    Old("observations.scopes", "retain.observation_scopes"),
    Old("retain.enabled", "memorize.enabled"),
    Old("retain.async", "retain.run_async"),
    Old("retain.redactSecrets", "security.redact_secrets"),
    Old("retain.queuePath", advice=f"the queue {GONE}, see `hindsight-mem queue`"),
    Old("retain.flushIntervalMs", "queue.flush_interval_ms"),
    Old("retain.periodicFlushMaxJobs", "queue.flush_max_jobs"),
    Old("retain.periodicFlushTimeoutMs", "queue.flush_timeout_ms"),
    Old("retain.shutdownFlushMaxJobs", "queue.shutdown_max_jobs"),
    Old("retain.shutdownFlushTimeoutMs", "queue.shutdown_timeout_ms"),
    Old("retain.postRetainReflect", "retain.post_reflect"),
    Old("retain.beforeEnqueue", "retain.before_enqueue", convert=to.before_enqueue),
    Old("retain.strip", advice="only the conversation's text is kept; remove the key"),
    Old("import", advice="importing is a command with options: `hindsight-mem import --help`"),
    Old("status.detail", advice="the status line has one form; see status.style"),
    Old("notifications.startup", "status.notify_startup"),
    Old("notifications.recall", "status.notify_recall"),
    Old("notifications.retain", "status.notify_retain"),
    Old("retainMission", "memorize.retain_mission"),
    Old("observationsMission", "memorize.observations_mission"),
    Old("reflectMission", advice="templates say how to reflect; see `hindsight-mem prompts`"),
)

OPENCODE = (
    Old("hindsightApiUrl", "hindsight.base_url", "HINDSIGHT_API_URL"),
    Old("hindsightApiToken", "hindsight.token", "HINDSIGHT_API_TOKEN"),
    Old("applyMode", "agent_mode", convert=to.apply_mode),
    Old("debug", "log.level", convert=to.debug),
    Old("bankId", "bank.id", "HINDSIGHT_BANK_ID"),
    Old("async", "retain.run_async"),
    Old("tags", "retain.tags"),
    Old("retainStrategy", "memorize.strategy"),
    Old("retainMode", "retain.document", convert=to.retain_mode),
    Old("retainEveryNTurns", "memorize.every_turns", convert=to.every_turns),
    Old("retainConversationExtras", "retain.extras"),
    Old("autoRetain", "memorize.enabled"),
    Old("autoRecall", "recall.enabled"),
    Old("sessionStartMentalModel", "recall.session_start_mental_model"),
    Old("sessionStartRecallPrompt", "recall.session_start_prompt"),
    Old("defaults.enabled", advice="agents are enabled by their own block; see agent_mode"),
    Old("autoRetainBank", advice="an agent has one bank: set its bankId"),
    Old("retainBanks", advice="an agent has one bank: set its bankId"),
    Old("autoRecallBanks", advice="an agent has one bank: set its bankId"),
    Old("recallBanks", advice="an agent has one bank: set its bankId"),
)

ACTIVE_MEMORY = (
    Old("providers.rag", "bank.backend", convert=to.store),
    Old("providers.embedding", "embeddings.provider", convert=to.embedding),
    Old("providers.llm", "models.recall", convert=to.fast_model),
    Old("database", "bank.backend", convert=to.store, unless="providers.rag"),
    Old("embedding", "embeddings.provider", convert=to.embedding, unless="providers.embedding"),
    Old("fastModel", "models.recall", convert=to.fast_model, unless="providers.llm"),
    Old("prompts", "prompts", convert=to.prompts),
    Old("assistantCapture", "investigation", convert=to.section("investigation")),
    Old("memoryLifecycle.enabled", "lifecycle.enabled"),
    Old("memoryLifecycle.confidence.initial", "lifecycle.initial_confidence"),
    Old("memoryLifecycle.confidence.deletionThreshold", "lifecycle.deletion_threshold"),
    Old("memoryLifecycle.confidence.minimum", "lifecycle.minimum_confidence"),
    Old("memoryLifecycle.confidence.maximum", "lifecycle.maximum_confidence"),
    Old("memoryLifecycle.confidence.usefulDelta", "lifecycle.useful_delta"),
    Old("memoryLifecycle.confidence.unhelpfulDelta", "lifecycle.unhelpful_delta"),
    Old("memoryLifecycle.decay.initialRate", "lifecycle.initial_decay_rate"),
    Old("memoryLifecycle.decay.minimumRate", "lifecycle.minimum_decay_rate"),
    Old("memoryLifecycle.decay.maximumRate", "lifecycle.maximum_decay_rate"),
    Old("memoryLifecycle.decay.usefulDelta", "lifecycle.decay_useful_delta"),
    Old("memoryLifecycle.feedback.maxPerMemoryPerSession", "lifecycle.max_feedback_per_session"),
    Old("memoryLifecycle.feedback.historyLimit", "lifecycle.history_limit"),
    Old("forgetting.enabled", "lifecycle.enabled", unless="memoryLifecycle"),
    Old(
        "forgetting.minimumConfidenceToKeep",
        "lifecycle.deletion_threshold",
        unless="memoryLifecycle",
    ),
    Old("feedback.initialConfidence", "lifecycle.initial_confidence", unless="memoryLifecycle"),
    Old("feedback.usefulDelta", "lifecycle.useful_delta", unless="memoryLifecycle"),
    Old("feedback.unhelpfulDelta", "lifecycle.unhelpful_delta", unless="memoryLifecycle"),
    Old("feedback.minimumConfidence", "lifecycle.minimum_confidence", unless="memoryLifecycle"),
    Old("feedback.maximumConfidence", "lifecycle.maximum_confidence", unless="memoryLifecycle"),
    Old(
        "feedback.maxFeedbackPerMemoryPerSession",
        "lifecycle.max_feedback_per_session",
        unless="memoryLifecycle",
    ),
    Old("feedback.historyLimit", "lifecycle.history_limit", unless="memoryLifecycle"),
    Old("compaction.similarityThreshold", "consolidation.similarity_threshold"),
    Old("compaction.maximumProposals", "consolidation.maximum_proposals"),
    Old(
        "recall",
        "steer",
        convert=to.section("steer", maxSteersPerMemoryPerSession="max_steers_per_memory"),
    ),
    Old("security.maxMemoryCharacters", "security.max_fact_characters"),
    Old("activityLog.enabled", "log.activity"),
    Old("activityLog.includeText", "log.include_text"),
)

TABLE: Mapping[str, tuple[Old, ...]] = {
    "pi-hindsight": PI,
    "s1enhanced": S1,
    "opencode-hindsight": OPENCODE,
    "active-memory": ACTIVE_MEMORY,
}
# Which plugins' keys a file of the given kind may hold; ours may hold any that is not ambiguous.
HINDSIGHT_FILE = (*PI, *S1)
OWN_FILE = tuple(row for row in (*OPENCODE, *S1, *ACTIVE_MEMORY, *PI) if row.key != "recall")

REMOVED_FILES: Mapping[str, str] = {
    "active-memory.config.*": "a configuration that is a program is not run: copy its values into "
    "active-memory.json or config.toml",
    "hindsight/retain-queue.jsonl": "an old write queue: bring what it holds over with "
    "`hindsight-mem import state`",
}
