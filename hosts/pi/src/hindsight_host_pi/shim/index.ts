// pi's end of the memory bridge: what pi does in its own way.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { FIRST_MS, extension } from "./extension.js";

const host = {
  complete: (ctx: any, model: any, { system, messages, options }: any) =>
    ctx.modelRegistry.complete(model, { systemPrompt: system, messages }, options),
  signal: (ctx: any) => ctx.signal,
  textOf: (prompt: string | undefined) => prompt,
  promptOf: (text: string) => text,
  sessionOf: (ctx: any) => ({ trusted: !!ctx.isProjectTrusted?.() }),
  tool: () => ({}),
  tui: () => import("@earendil-works/pi-tui"),
  stopMs: FIRST_MS,
};

export default function (pi: any) {
  extension(pi, { here: dirname(fileURLToPath(import.meta.url)), host });
}
