// opencode's end of the memory bridge: sends events, does what comes back. All policy is in the core.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Bridge } from "./client.js";

const HERE = dirname(fileURLToPath(import.meta.url));
const SHARED = Symbol.for("hindsight-mem.opencode");
const COMMAND = "hindsight:";
const FIRST_MS = 3000;
const START_MS = 30_000;
const GRACE_MS = 1000;
const KNOWN = 1000;
const HEAD = 200;

// opencode makes an instance for each directory; all of them share one process of ours.
function shared() {
  if (globalThis[SHARED]) return globalThis[SHARED];
  const launch = JSON.parse(readFileSync(join(HERE, "launch.json"), "utf8"));
  const hub = { instances: new Set(), limits: undefined, told: false };
  const each = work => { for (const instance of hub.instances) work(instance); };
  hub.bridge = new Bridge({
    command: launch.command, env: launch.env ?? {},
    onRequest: () => { throw new Error("not offered here"); },
    onNotify: (method, params) => { if (method === "notify") first(hub)?.tell(params.level, params.text); },
    onDown: why => { each(one => { one.opening = undefined; }); hub.trouble(`Memory stopped (${why}); it is started again at a later turn.`); },
  });
  // The memory process is one cause of trouble: told once, and once more when it is over.
  hub.trouble = text => { if (!hub.told) first(hub)?.tell("warning", text); hub.told = true; };
  hub.over = () => { if (hub.told) { hub.told = false; first(hub)?.tell("info", "Memory answers again."); } };
  return (globalThis[SHARED] = hub);
}
const first = hub => hub.instances.values().next().value;

// No provider may see a block of ours: agents' options are sent to it as model options.
function takeBlocks(config) {
  const blocks = {}, agents = {};
  for (const [name, agent] of Object.entries(config.agent ?? {})) {
    const { hindsight, ...rest } = agent ?? {};
    const { hindsight: inOptions, ...options } = rest.options ?? {};
    if (hindsight === undefined && inOptions === undefined) { agents[name] = agent; continue; }
    blocks[name] = { ...hindsight, ...inOptions };
    agents[name] = rest.options ? { ...rest, options } : rest;
  }
  if (config.agent) config.agent = agents;
  return blocks;
}

export default async function hindsight(input, options) {
  const hub = shared();
  const self = { opening: undefined, tell };
  const sessions = new Map(), asked = new Map(), idle = new Set(), pending = new Set();
  const hooks = {};
  let blocks = {}, hidden;
  hub.instances.add(self);

  // opencode's own log has every line; what is more than a note is shown too. Neither may fail.
  function log(level, text) {
    try { Promise.resolve(input.client.app.log({ body: { service: "hindsight", level, message: text } })).catch(() => {}); }
    catch { try { process.stderr.write(`hindsight: ${text}\n`); } catch {} }
  }
  function tell(level, text) {
    log(level === "warning" ? "warn" : level, text);
    toast(level, text);
  }
  function toast(variant, message) {
    try { Promise.resolve(input.client.tui.showToast({ body: { title: "Memory", message, variant } })).catch(() => {}); } catch {}
  }

  // One that starts slowly costs the first turn FIRST_MS, later ones nothing until it is there.
  async function open() {
    if (!hub.bridge.start()) return false;
    if (!self.opening) {
      const payload = { directory: input.directory, worktree: input.worktree, options: options ?? {}, agents: blocks };
      const opening = self.opening = { done: false };
      opening.wait = hub.bridge.call("event", { name: "config", payload }, { timeoutMs: START_MS })
        .then(reply => { opening.done = true; hub.over(); apply(reply.actions ?? []); }, error => { if (self.opening === opening) self.opening = undefined; failed(error); });
    }
    const opening = self.opening;
    if (!opening.done) await Promise.race([opening.wait, new Promise(resolve => setTimeout(resolve, FIRST_MS).unref?.())]);
    if (!opening.done && self.opening === opening) hub.trouble("Memory starts slowly; until it is there turns go on without it.");
    return opening.done;
  }

  async function send(name, payload, timeoutMs = (hub.limits?.turnStartMs ?? FIRST_MS) + GRACE_MS) {
    try {
      if (!(await open())) return [];
      const reply = await hub.bridge.call("event", { name, payload: { directory: input.directory, ...payload } }, { timeoutMs });
      hub.over();
      return apply(reply.actions ?? []);
    } catch (error) {
      failed(error);
      return [];
    }
  }

  // A child that does not keep its own limits hangs: the next turn must not wait for it again.
  function failed(error) {
    hub.trouble(`Memory did not answer; this turn goes on without it (${error.message}).`);
    if (error.late) { for (const one of hub.instances) one.opening = undefined; hub.bridge.kill(); }
  }

  function apply(actions) {
    for (const action of actions) {
      if (action.type === "limits") hub.limits = action.limits;
      else if (action.type === "tools") for (const tool of action.tools) addTool(tool);
      else if (action.type === "log") log(action.level, action.text);
      else if (action.type === "notify") tell(action.level, action.text);
      else if (action.type === "off") for (const name of Object.keys(hooks)) if (name !== "dispose") delete hooks[name];
    }
    return actions;
  }

  function addTool(tool) {
    hooks.tool[tool.name] = {
      description: tool.description, args: tool.parameters.properties ?? {},
      async execute(args, ctx) {
        const payload = { session: await info(ctx.sessionID), agent: ctx.agent, tool: tool.name, args };
        const reply = (await send("tool.execute", payload)).find(a => a.type === "result");
        return reply?.content ?? "Memory did not answer.";
      },
    };
    schemas.set(tool.name, tool.parameters);
  }
  const schemas = new Map();

  // -- what only the host knows ---------------------------------------------------------------
  // opencode's own agents (title, summary) are known by their prompts: their requests name none.
  async function isHousekeeping(prompt) {
    hidden ??= input.client.app.agents().then(reply => (reply.data ?? []).filter(a => a.hidden && a.prompt).map(a => a.prompt.slice(0, HEAD)), () => []);
    return (await hidden).some(head => prompt?.startsWith(head));
  }
  async function info(sessionID) {
    if (!sessions.has(sessionID)) {
      const reply = await input.client.session.get({ path: { id: sessionID } });
      if (!reply.data) return undefined;
      keep(reply.data);
    }
    return sessions.get(sessionID);
  }
  function keep({ id, parentID, directory, title, agent }) {
    sessions.set(id, { id, parentID, directory, title, agent });
    if (sessions.size <= KNOWN) return;
    const oldest = sessions.keys().next().value;
    for (const known of [sessions, asked, idle]) known.delete(oldest);
  }
  async function messages(sessionID) {
    const reply = await input.client.session.messages({ path: { id: sessionID } });
    return Array.isArray(reply) ? reply : reply.data;
  }

  // Each turn's end comes as two events: the session is busy before it is idle again.
  async function onIdle(sessionID) {
    if (idle.has(sessionID)) return;
    idle.add(sessionID);
    const last = asked.get(sessionID);
    await send("session.idle", { session: await info(sessionID), messages: await messages(sessionID), asked: last }, (hub.limits?.turnEndMs ?? 1000) + GRACE_MS);
  }

  async function onCommand(text) {
    const [command, sessionID, ...rest] = text.slice(COMMAND.length).split(" ");
    const payload = { session: await info(sessionID), messages: await messages(sessionID), command, arguments: rest.join(" ") };
    const result = (await send("command.execute", payload, hub.limits?.sessionEndMs ?? START_MS)).find(a => a.type === "result");
    toast(result?.level ?? "error", result?.text ?? "Memory did not answer.");
  }

  async function onEvent(type, props) {
    if (type === "session.created" || type === "session.updated") {
      if (!props.info?.id) return;
      keep(props.info);
      if (type === "session.created") await send(type, { session: sessions.get(props.info.id) });
    } else if (type === "session.deleted") {
      await send(type, { session: props.info }, hub.limits?.sessionEndMs);
      for (const known of [sessions, asked, idle]) known.delete(props.info?.id);
    } else if (type === "session.status" && props.status?.type === "busy") idle.delete(props.sessionID);
    else if (type === "session.idle" || (type === "session.status" && props.status?.type === "idle")) await onIdle(props.sessionID);
    else if (type === "session.compacted") await send(type, { sessionID: props.sessionID });
    else if (type === "tui.command.execute" && props.command?.startsWith?.(COMMAND)) await onCommand(props.command);
  }

  // Nothing of ours may throw: opencode answers 500 and does not store the message.
  const safely = run => async (...given) => { try { return await run(...given); } catch (error) { log("error", `${error?.message ?? error}`); } };
  // The host does not wait for events; `dispose` does.
  function track(work) {
    pending.add(work);
    work.finally(() => pending.delete(work));
  }

  return Object.assign(hooks, {
    tool: {},
    config: safely(async config => {
      blocks = takeBlocks(config);
      track(safely(open)());
    }),
    event: ({ event }) => { track(safely(onEvent)(event.type, event.properties ?? {})); },
    "chat.message": safely(async ({ sessionID }, { message, parts }) => {
      idle.delete(sessionID);
      asked.set(sessionID, message.id);
      await send("chat.message", { session: await info(sessionID), message: { id: message.id, agent: message.agent }, parts: parts.filter(p => p.type === "text") });
    }),
    "experimental.chat.messages.transform": safely(async (_, output) => {
      const sessionID = output.messages[0]?.info.sessionID;
      const listed = output.messages.map(m => ({ role: m.info.role, id: m.info.id }));
      for (const { type, message, text } of await send("experimental.chat.messages.transform", { sessionID, messages: listed }))
        if (type === "insert") output.messages.find(m => m.info.id === message)?.parts.push({ id: "prt_hindsight", sessionID, messageID: message, type: "text", text, synthetic: true });
    }),
    "experimental.chat.system.transform": safely(async ({ sessionID }, output) => {
      if (!sessionID) return;
      const payload = { sessionID, housekeeping: await isHousekeeping(output.system[0]) };
      for (const { type, text, own } of await send("experimental.chat.system.transform", payload))
        if (type === "system" && (own || !output.system.length)) output.system.push(text);
        else if (type === "system") output.system[0] += `\n\n${text}`;
    }),
    "experimental.session.compacting": safely(async ({ sessionID }, output) => {
      const payload = { session: await info(sessionID), messages: await messages(sessionID) };
      for (const { type, text } of await send("experimental.session.compacting", payload, (hub.limits?.compactMs ?? FIRST_MS) + GRACE_MS))
        if (type === "context") output.context.push(text);
    }),
    "tool.definition": safely(async ({ toolID }, output) => { if (schemas.has(toolID)) output.jsonSchema = schemas.get(toolID); }),
    dispose: safely(async () => {
      await Promise.allSettled([...pending]);
      if (self.opening?.done) await send("dispose", {}, (hub.limits?.sessionEndMs ?? FIRST_MS) + GRACE_MS);
      hub.instances.delete(self);
      if (!hub.instances.size) { await hub.bridge.stop(FIRST_MS); delete globalThis[SHARED]; }
    }),
  });
}
