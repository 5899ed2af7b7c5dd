// omp's end of the memory bridge: what omp does in its own way.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { extension } from "./extension.js";
import { offering } from "./offer.ts";

const STATUS_MS = 5000;
const SLOW_START_MS = 15_000;
const later = (ms: number, value: unknown) => new Promise(resolve => { setTimeout(() => resolve(value), ms).unref(); });

// omp's own memory: one that is off says so at once.
async function memory(ctx: any) {
  if (!ctx.memory) return undefined;
  try { return await Promise.race([ctx.memory.status(), later(STATUS_MS, { backend: "no answer" })]); }
  catch (error: any) { return { backend: `failed: ${error.message}` }; }
}

const host = {
  async complete(ctx: any, model: any, { system, messages, options }: any) {
    const { completeSimple }: any = await import("@oh-my-pi/pi-ai");
    const apiKey = await ctx.modelRegistry.getApiKey(model);
    return completeSimple(model, { systemPrompt: [system], messages }, { ...options, apiKey });
  },
  signal: () => undefined,
  textOf: (prompt: string[] | undefined) => prompt?.join("\n\n"),
  promptOf: (text: string) => [text],
  async sessionOf(ctx: any) {
    const status: any = await memory(ctx);
    const own = status && { backend: status.backend };
    return { parent: ctx.sessionManager.getHeader?.()?.parentSession, memory: own };
  },
  // Others are offered only to an agent that looks for them.
  tool: (tool: any) => ({ loadMode: "essential", approval: tool.approval }),
  tui: () => import("@oh-my-pi/pi-tui"),
  stopMs: 400,
};

export default function (pi: any) {
  const own = { ...host, offer: offering() };
  const session = extension(pi, { here: dirname(fileURLToPath(import.meta.url)), host: own });
  if (!session) return;
  // omp waits for this one, but not for agent_end. Where nobody types the turn is the whole session.
  pi.on("session_stop", async (event: any, context: any) => {
    if (context.mode === "print" || context.mode === "json") await session.started(SLOW_START_MS);
    await session.settle(event, context);
  });
  for (const change of ["switch", "branch"]) {
    pi.on(`session_before_${change}`, (event: any, context: any) => session.end(`session_before_${change}`, event, context));
    pi.on(`session_${change}`, (event: any, context: any) => session.begin(`session_${change}`, event, context));
  }
}
