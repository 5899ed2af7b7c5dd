// The bridge's client for JavaScript hosts: one child process, JSON-RPC 2.0, one object a line.
// No dependencies, no policy but time. Timers are unref'd: they never hold a host open.
import { spawn } from "node:child_process";

const RESTART_MS = 60_000;

export class Bridge {
  // command: argv; env: variables added to the host's; onRequest(method, params, signal) answers the
  // bridge's own requests; onNotify(method, params) takes its notifications; onDown(reason) is told
  // once for each child that ends by itself.
  constructor({ command, env = {}, onRequest, onNotify, onDown }) {
    Object.assign(this, { command, env, onRequest, onNotify, onDown });
    this.child = undefined;
    this.waiting = new Map();
    this.answering = new Map();
    this.next = 1;
    this.startedAt = -Infinity;
    this.stopping = false;
  }

  get alive() { return this.child !== undefined; }

  // Start the child unless it runs; a dead one is started again at most once a minute.
  start() {
    if (this.child) return true;
    if (Date.now() - this.startedAt < RESTART_MS) return false;
    this.startedAt = Date.now();
    this.stopping = false;
    const [program, ...args] = this.command;
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], env: { ...process.env, ...this.env } });
    this.child = child;
    child.on("error", error => this.#down(child, String(error.message ?? error)));
    child.on("exit", (code, signal) => this.#down(child, signal ? `ended by ${signal}` : `exit code ${code}`));
    child.stdin.on("error", () => {});
    child.stdout.setEncoding("utf8");
    let rest = "";
    child.stdout.on("data", text => {
      rest += text;
      for (let end; (end = rest.indexOf("\n")) >= 0; rest = rest.slice(end + 1)) this.#receive(rest.slice(0, end));
    });
    return true;
  }

  // Ask the bridge. Rejects on an error answer, after timeoutMs, when the signal aborts, or when the
  // child dies; a request that is given up is cancelled over there too.
  call(method, params, { timeoutMs = 0, signal } = {}) {
    if (!this.child) return Promise.reject(new Error("the memory process is not running"));
    const id = this.next++;
    return new Promise((resolve, reject) => {
      let timer;
      const settle = (finish, value) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        this.waiting.delete(id);
        finish(value);
      };
      const giveUp = (why, late = false) => {
        this.notify("$/cancel", { id });
        settle(reject, Object.assign(new Error(why), { gaveUp: true, late }));
      };
      const abort = () => giveUp("aborted");
      if (signal?.aborted) return reject(Object.assign(new Error("aborted"), { gaveUp: true }));
      signal?.addEventListener("abort", abort, { once: true });
      if (timeoutMs > 0) (timer = setTimeout(() => giveUp(`no answer to ${method} within ${timeoutMs} ms`, true), timeoutMs)).unref?.();
      this.waiting.set(id, { resolve: value => settle(resolve, value), reject: error => settle(reject, error) });
      this.#write({ id, method, params });
    });
  }

  notify(method, params) { this.#write({ method, params }); }

  // End a child that hangs; `start` gives a new one, later. The caller knows: it is not told.
  kill() {
    const child = this.child;
    if (!child) return;
    this.stopping = true;
    child.kill("SIGKILL");
    this.#down(child, "it did not answer");
  }

  // Close stdin and wait for the child to end; it is killed when it does not.
  async stop(timeoutMs) {
    const child = this.child;
    if (!child) return;
    this.stopping = true;
    const gone = new Promise(resolve => child.once("exit", resolve));
    child.stdin.end();
    const timer = new Promise(resolve => setTimeout(resolve, timeoutMs).unref?.());
    await Promise.race([gone, timer]);
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
  }

  #down(child, reason) {
    if (this.child !== child) return;
    this.child = undefined;
    for (const waiter of [...this.waiting.values()]) waiter.reject(new Error(`the memory process is gone: ${reason}`));
    for (const controller of this.answering.values()) controller.abort();
    this.answering.clear();
    if (!this.stopping) this.onDown?.(reason);
  }

  #write(record) {
    if (this.child?.stdin.writable) this.child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...record }) + "\n");
  }

  #receive(line) {
    let record;
    try { record = JSON.parse(line); } catch { return; }  // never let garbage reach the host
    if (record === null || typeof record !== "object") return;
    if (typeof record.method === "string") {
      if (record.method === "$/cancel") this.answering.get(record.params?.id)?.abort();
      else if (record.id === undefined) this.onNotify?.(record.method, record.params ?? {});
      else this.#answer(record);
      return;
    }
    const waiter = this.waiting.get(record.id);
    if (!waiter) return;
    if (record.error) waiter.reject(Object.assign(new Error(record.error.message), { code: record.error.code }));
    else waiter.resolve(record.result);
  }

  async #answer({ id, method, params }) {
    const controller = new AbortController();
    this.answering.set(id, controller);
    try {
      const result = await this.onRequest(method, params ?? {}, controller.signal);
      this.#write({ id, result });
    } catch (error) {
      this.#write({ id, error: { code: -32000, message: String(error?.message ?? error) } });
    } finally {
      this.answering.delete(id);
    }
  }
}
