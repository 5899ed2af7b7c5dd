// What a terminal host of pi's kind draws of memory: the widget, the panel, commands and their
// results. Keys go in, lines come out; what they mean is decided in the core.
const WIDGET = "hindsight";
const CALL_MS = 60_000;

export class Screen {
  // pi: the extension API; bridge: a Bridge; say(text, level): a notice; ready(): false while the
  // session is not opened; tools: the host's terminal helpers (parseKey, decodeKittyPrintable,
  // truncateToWidth), each optional.
  constructor({ pi, bridge, say, ready, tools = {} }) {
    Object.assign(this, { pi, bridge, say, ready, tools });
    this.names = new Set();
    this.changed = undefined;
  }

  // -- commands ---------------------------------------------------------------------------------
  register(commands) {
    for (const { name, description, argumentHint } of commands) {
      if (this.names.has(name)) continue;
      this.names.add(name);
      const handler = (args, ctx) => this.command(name, args, ctx);
      this.pi.registerCommand(name, { description: argumentHint ? `${description} · ${argumentHint}` : description, handler });
    }
  }

  async command(name, args, ctx) {
    if (!this.ready()) return this.say("Memory is not running; it is started with the next prompt.", "warning");
    try {
      const result = await this.bridge.call("command/run", { name, arguments: args ?? "" }, { timeoutMs: CALL_MS });
      if (result.text) this.say(result.text, result.level ?? "info");
      if (result.panel) await this.panel(ctx);
      if (result.prompt) this.prompt(result.prompt, ctx);
    } catch (error) { this.say(`/${name}: ${error.message}`, "error"); }
  }

  prompt(text, ctx) {
    const idle = ctx.isIdle?.() ?? true;
    this.pi.sendUserMessage(text, idle ? undefined : { deliverAs: "followUp" });
  }

  // -- widget -----------------------------------------------------------------------------------
  widget(ctx, { line, parts }) {
    if (!ctx?.hasUI) return;
    ctx.ui.setStatus(WIDGET, undefined);
    if (!line) return ctx.ui.setWidget(WIDGET, undefined);
    if (!terminal(ctx) || !parts) return ctx.ui.setWidget(WIDGET, [line]);
    ctx.ui.setWidget(WIDGET, (_tui, theme) => ({
      render: width => [this.fit(parts.map(({ text, tone }) => (tone ? theme.fg(tone, text) : text)).join(""), width)],
      invalidate() {},
    }));
  }

  // -- panel ------------------------------------------------------------------------------------
  take(method, params) {
    if (method !== "panel/changed") return false;
    this.changed?.(params);
    return true;
  }

  async panel(ctx) {
    if (!ctx.hasUI || !terminal(ctx)) return this.say("The panel needs a terminal: run `hindsight-mem panel` in one.", "warning");
    if (!this.ready()) return this.say("Memory is not running; it is started with the next prompt.", "warning");
    try {
      let first = ["panel/open", { colour: true }];
      for (;;) {
        const end = await ctx.ui.custom((tui, _theme, _keys, done) => this.component(tui, first, done));
        if (end?.failed) throw end.failed;
        if (!end?.edit) break;
        const text = await ctx.ui.editor(end.edit.title, end.edit.text);
        first = ["panel/key", { key: "edited", text: text ?? null }];
      }
    } catch (error) { this.say(`Panel: ${error.message}`, "error"); }
    finally { this.ask("panel/close", {}).catch(() => {}); }
  }

  ask(method, params) {
    const size = { width: process.stdout.columns || 80, height: process.stdout.rows || 24 };
    return this.bridge.call(method, { ...size, ...params }, { timeoutMs: CALL_MS });
  }

  // It takes the keys from the start: the core answers in the order in which it was asked.
  component(tui, first, done) {
    let lines = [], drawn = process.stdout.columns || 80, over = false;
    const end = value => { if (!over) { over = true; this.changed = undefined; done(value); } };
    const show = reply => {
      if (over) return;
      if (reply.closed) return end();
      if (reply.edit) return end({ edit: reply.edit });
      lines = reply.lines;
      tui.requestRender();
    };
    const ask = (method, params) => this.ask(method, params).then(show, failed => end({ failed }));
    const key = params => ask("panel/key", params);
    this.changed = show;
    ask(...first);
    return {
      render: width => {
        if (width !== drawn) { drawn = width; key({ key: "", width }); }
        return lines.map(line => this.fit(line, width));
      },
      handleInput: data => { key({ key: this.key(data), width: drawn }); },
      invalidate() {},
    };
  }

  // A key's name where the host knows it; the core knows the raw sequences too.
  key(data) {
    if (!/[\x00-\x1f\x7f]/.test(data)) return data;
    return this.tools.decodeKittyPrintable?.(data) ?? this.tools.parseKey?.(data) ?? data;
  }

  // No line may be wider than the screen: during a resize lines are still those of the old width.
  fit(line, width) {
    return this.tools.truncateToWidth ? this.tools.truncateToWidth(line, width) : line;
  }
}

const terminal = ctx => (ctx.mode ?? "tui") === "tui";
