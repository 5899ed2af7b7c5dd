// The memory extension of pi and its kin: sends events, does what comes back. All policy is in the core.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Bridge } from "./client.js";
import { Screen } from "./screen.js";

const SHOWN = "hindsight-shown";
export const FIRST_MS = 3000;
const START_MS = 30_000;
const GRACE_MS = 1000;
const WRITING_MS = 500;
// Where this process's copy was loaded from: a second copy (one of the user's, one of the project's)
// would recall and store everything twice. The same file again is another session's.
const COPY = Symbol.for("hindsight-mem.copy");
// Whether any session of this process has a screen, and what was printed where none has.
const SCREEN = Symbol.for("hindsight-mem.screen");
const PRINTED = Symbol.for("hindsight-mem.printed");

const wait = ms => new Promise(resolve => setTimeout(resolve, ms).unref());

function print(text) {
  const printed = (globalThis[PRINTED] ??= new Set());
  if (globalThis[SCREEN] || printed.has(text)) return;
  printed.add(text);
  process.stderr.write(`hindsight-mem: ${text}\n`);
}

// pi: the extension API; here: the folder of the shim; host: what differs between the hosts:
//   complete(ctx, model, params, signal)  a reply of the host's model
//   signal(ctx)            the signal of the user's abort, where there is one
//   textOf(prompt), promptOf(text)  the system prompt as one text, and back
//   sessionOf(ctx)         what only this host tells about a session
//   tool(tool)             fields of a tool beside name, text and parameters
//   tui()                  the host's terminal helpers
//   offer(ctx, commands)   shows what can be typed, where registering a command does not
//   stopMs                 how long the end may wait for the memory process
export function extension(pi, { here, host }) {
  const process_ = globalThis;
  if ((process_[COPY] ??= here) !== here) return undefined;
  const launch = JSON.parse(readFileSync(join(here, "launch.json"), "utf8"));
  const shown = new Map(), marks = new Map();
  const told = new Set();
  const tools = new Set();
  let ctx, limits, sent, opened = false, opening, asOpened, onlyTools = false, settled = false;
  let progress = false, written = {}, wroteAt = 0;

  const bridge = new Bridge({
    command: launch.command, env: launch.env ?? {}, onRequest: answer, onNotify: take,
    onDown: why => { opened = false; trouble(`Memory stopped (${why}); it is started again at a later turn.`); },
  });

  const notify = (text, level) => {
    if (ctx?.hasUI) { process_[SCREEN] = true; ctx.ui.notify(text, level); }
    else if (level !== "info") print(text);
  };
  const screen = new Screen({ pi, bridge, say: notify, ready: () => opened });
  host.tui().then(helpers => { screen.tools = helpers; }, () => {});

  // The memory process is one cause of trouble: told once, and once more when it is over.
  function trouble(text) {
    if (!told.has("down")) notify(text, "warning");
    told.add("down");
  }
  function over() {
    if (told.has("down") && !told.has("over")) { told.add("over"); notify("Memory answers again.", "info"); }
  }

  function take(method, params) {
    if (method === "notify") notify(params.text, params.level);
    else if (method === "status/changed") screen.widget(ctx, params);
    else if (method === "telemetry") emit(params);
    else if (method === "shown/marked") marks.set(params.id, params.mark);
    else screen.take(method, params);
  }

  // Other extensions may listen; one that throws is not this turn's trouble.
  function emit(span) {
    try { pi.events?.emit?.(span.name, span.attributes); } catch {}
  }

  // -- what only the host knows ---------------------------------------------------------------
  async function answer(method, params, signal) {
    if (!ctx) throw new Error("no session");
    const registry = ctx.modelRegistry;
    const label = m => m && `${m.provider}/${m.id}`;
    if (method === "host/models")
      return { models: registry.getAvailable().map(m => ({ id: label(m), contextWindow: m.contextWindow })), current: label(ctx.model) ?? null };
    if (method === "host/entries") return { entries: branch(undefined).entries };
    if (method === "host/credentials") return { apiKey: await registry.getApiKeyForProvider(params.provider) };
    if (method === "host/tasks") return { kind: "unavailable" };
    if (method !== "host/complete") throw new Error(`unknown request ${method}`);
    const at = params.model ? params.model.indexOf("/") : -1;
    const model = params.model ? registry.find(params.model.slice(0, at), params.model.slice(at + 1)) : ctx.model;
    if (!model) throw new Error(`no model ${params.model ?? "in this session"}`);
    const text = content => [{ type: "text", text: content }];
    const messages = params.messages.map(m => ({ role: m.role, content: text(m.content), timestamp: Date.now() }));
    const options = {
      signal, maxTokens: params.maxTokens, temperature: params.temperature, sessionId: params.sessionId,
      cacheRetention: params.cache ? "long" : undefined, headers: { "X-Hindsight-Stage": params.stage },
    };
    const reply = await host.complete(ctx, model, { system: params.system, messages, options });
    const said = reply.content.filter(c => c.type === "text").map(c => c.text).join("");
    if (reply.stopReason === "error" || reply.stopReason === "aborted" || !said)
      throw new Error(reply.errorMessage || `the model gave no text (${reply.stopReason})`);
    return { text: said, model: label(model), usage: { inputTokens: reply.usage?.input ?? 0, outputTokens: reply.usage?.output ?? 0 } };
  }

  // The active branch: all of it, or what follows the entry that was sent last.
  function branch(since) {
    const all = ctx.sessionManager.getBranch();
    const at = since === undefined ? -1 : all.findIndex(e => e.id === since);
    return at < 0 ? { entries: all } : { since, entries: all.slice(at + 1) };
  }

  function delta() {
    const part = branch(sent);
    sent = part.entries.at(-1)?.id ?? sent;
    return part;
  }

  // -- events ---------------------------------------------------------------------------------
  async function send(name, payload, timeoutMs, signal) {
    try {
      const reply = await bridge.call("event", { name, payload }, { timeoutMs, signal });
      over();
      return apply(reply.actions ?? []);
    } catch (error) {
      if (!signal?.aborted) failed(error);
      return [];
    }
  }

  // A child that does not keep its own limits hangs: the next turn must not wait for it again.
  function failed(error) {
    trouble(`Memory did not answer; this turn goes on without it (${error.message}).`);
    if (error.late) { opened = false; bridge.kill(); }
  }

  function apply(actions) {
    for (const action of actions) {
      if (action.type === "limits") limits = action.limits;
      else if (action.type === "tools") action.tools.forEach(registerTool);
      else if (action.type === "notify") notify(action.text, action.level);
      else if (action.type === "progress") progress = action.on;
      else if (action.type === "offer") offer(action);
      else if (action.type === "commands") { screen.register(action.commands); host.offer?.(ctx, action.commands); }
      else if (action.type === "status") screen.widget(ctx, action);
      else if (action.type === "show" && pi.registerEntryRenderer) { shown.set(action.id, action.lines); pi.appendEntry(SHOWN, { id: action.id }); }
    }
    return actions;
  }

  // Other extensions may hand something over, as they did to an older one; the core says what becomes of it.
  function offer({ event, methods }) {
    const entry = method => [method, id => { send("offered", { method, id: String(id) }, FIRST_MS); }];
    try { pi.events?.emit?.(event, Object.fromEntries(methods.map(entry))); } catch {}
  }

  // What must be the same for a session to be still the one that was opened.
  async function described() {
    const id = ctx.sessionManager.getSessionId(), file = ctx.sessionManager.getSessionFile();
    return { id, file, ephemeral: file === undefined, onlyTools, ...(await host.sessionOf(ctx)) };
  }

  // One that starts slowly costs the first turn FIRST_MS, later ones nothing until it is there.
  async function open(name, reason) {
    if (opening || !bridge.start()) return false;
    const session = await described(), wanted = JSON.stringify(session);
    sent = undefined;
    const payload = { reason, cwd: ctx.cwd, session: { ...session, name: pi.getSessionName?.() }, systemPrompt: host.textOf(ctx.getSystemPrompt?.()), ...delta() };
    opening = bridge.call("event", { name, payload }, { timeoutMs: START_MS })
      .then(reply => { opened = true; asOpened = wanted; apply(reply.actions ?? []); over(); }, failed)
      .finally(() => { opening = undefined; });
    await started(FIRST_MS);
    if (opening) trouble("Memory starts slowly; until it is there turns go on without it.");
    return opened;
  }

  // A process that starts slowly, waited for so long.
  const started = ms => opening && Promise.race([opening, wait(ms)]);

  function registerTool(tool) {
    if (tools.has(tool.name)) return;
    tools.add(tool.name);
    pi.registerTool({
      name: tool.name, label: tool.name.replace("hindsight_", "memory "), description: tool.description, parameters: tool.parameters,
      promptSnippet: tool.snippet ?? tool.description.split(". ")[0], promptGuidelines: tool.guidelines, ...host.tool(tool),
      async execute(id, args, signal) {
        const reply = await bridge.call("tool/call", { name: tool.name, arguments: args, toolCallId: id }, { signal });
        if (reply.isError) throw new Error(reply.content);
        return { content: [{ type: "text", text: reply.content }], details: reply.details };
      },
    });
  }

  pi.registerFlag("mem-only-tools", { description: "memory tools only, nothing automatic", type: "boolean", default: false });
  pi.registerShortcut?.("alt+h", { description: "memory panel", handler: context => screen.panel(context) });
  pi.registerEntryRenderer?.(SHOWN, (entry, options, theme) => {
    // Asked at every drawing: a mark may come later than the lines.
    const lines = () => {
      const all = shown.get(entry.data?.id) ?? [], mark = marks.get(entry.data?.id);
      const marked = mark && all.length ? [`${mark} ${all[0]}`, ...all.slice(1)] : all;
      return options?.expanded ? marked : marked.slice(0, 1);
    };
    const cut = (line, room) => screen.fit([...line].slice(0, room).join(""), room);
    return { render: width => lines().map(line => theme.fg("dim", cut(line, Math.max(1, width - 1)))), invalidate() {} };
  });

  // A session begins, under the event's name; the end of one is told before another one begins.
  async function begin(name, event, context) {
    ctx = context;
    process_[SCREEN] ||= ctx.hasUI;
    onlyTools = pi.getFlag?.("mem-only-tools") === true;
    await open(name, event.reason);
  }
  async function end(name, event, context) {
    ctx = context;
    await started(host.stopMs);
    const { reason, withinMs } = event, was = opened;
    opened = false;
    if (was) await send(name, { reason, withinMs, ...delta() }, (withinMs ?? limits?.sessionEndMs ?? FIRST_MS) + GRACE_MS);
  }

  // A turn is over, told once; the core says when its session is, too.
  async function settle(event, context) {
    ctx = context;
    if (!opened || settled || event.willContinue) return;
    settled = true;
    const last = event.messages?.filter(m => m.role === "assistant").at(-1);
    const actions = await send("agent_end", { aborted: last?.stopReason === "aborted", mode: ctx.mode, ...delta() }, (limits?.turnEndMs ?? 1000) + GRACE_MS);
    const closing = actions.find(a => a.type === "end");
    if (closing) await end("session_shutdown", { reason: "quit", withinMs: closing.withinMs }, context);
  }

  pi.on("session_start", (event, context) => begin("session_start", event, context));
  pi.on("before_agent_start", async (event, context) => {
    ctx = context;
    settled = false;
    if (opened && JSON.stringify(await described()) !== asOpened) opened = false;
    if (!opened && !(await open("session_start", "resume"))) return;
    const systemPrompt = host.textOf(event.systemPrompt);
    const actions = await send("before_agent_start", { prompt: event.prompt, systemPrompt, ...delta() }, FIRST_MS);
    const system = actions.find(a => a.type === "system");
    if (system) return { systemPrompt: host.promptOf(system.text) };
  });
  pi.on("context", async (event, context) => {
    ctx = context;
    settled = false;
    if (!opened) return;
    const messages = event.messages.map(m => ({ role: m.role, timestamp: m.timestamp }));
    const actions = await send("context", { messages }, (limits?.turnStartMs ?? FIRST_MS) + GRACE_MS, host.signal(ctx));
    const inserts = actions.filter(a => a.type === "insert");
    if (!inserts.length) return;
    const out = [...event.messages];
    for (const { after, text, timestamp } of inserts.sort((a, b) => b.after - a.after))
      out.splice(after + 1, 0, { role: "user", content: [{ type: "text", text }], timestamp });
    return { messages: out };
  });
  // What the model writes, now and then and without holding it up; then each step that is over.
  pi.on("message_update", (event, context) => {
    const { type, delta } = event.assistantMessageEvent ?? {}, kind = { thinking_delta: "thinking", text_delta: "text" }[type];
    if (!opened || !progress || !kind || typeof delta !== "string") return;
    ctx = context;
    written[kind] = (written[kind] ?? "") + delta;
    if (Date.now() - wroteAt < WRITING_MS) return;
    wroteAt = Date.now();
    send("message_update", written, FIRST_MS);
  });
  pi.on("turn_end", async (_event, context) => {
    ctx = context;
    written = {};
    if (opened && progress) await send("turn_end", delta(), FIRST_MS);
  });
  pi.on("agent_end", settle);
  pi.on("session_before_compact", async (event, context) => {
    ctx = context;
    if (!opened) return;
    const kept = event.preparation?.firstKeptEntryId;
    await send("session_before_compact", { firstKeptEntryId: kept, reason: event.reason, ...delta() }, (limits?.compactMs ?? FIRST_MS) + GRACE_MS);
  });
  pi.on("session_compact", async (_event, context) => {
    ctx = context;
    if (opened) await send("session_compact", delta(), FIRST_MS);
  });
  pi.on("session_shutdown", async (event, context) => {
    await end("session_shutdown", event, context);
    if (event.reason === "reload") delete process_[COPY];
    await bridge.stop(host.stopMs);
  });
  return { begin, end, settle, started };
}
