// omp offers, while one types, the commands that were there before the session began; ours come with it.
export function offering() {
  const known = new Map<string, any>();

  // One of ours that is exactly what is typed, omp's that begin so, ours, and what omp finds besides.
  function joined(found: any, text: string) {
    const typed = /^\/(\S*)$/.exec(text)?.[1];
    const begins = (item: any) => item.value.startsWith(typed), exact = (item: any) => item.value === typed;
    const own = typed === undefined ? [] : [...known.values()].filter(begins), theirs = found?.items ?? [];
    if (!own.length) return found;
    const others = own.filter(item => !exact(item));
    const items = [...own.filter(exact), ...theirs.filter(begins), ...others, ...theirs.filter((item: any) => !begins(item))];
    return { prefix: text, items };
  }

  const around = (inner: any) => new Proxy(inner, {
    get(target, key) {
      if (key === "getSuggestions")
        return async (lines: string[], line: number, column: number, signal?: AbortSignal) =>
          joined(await target.getSuggestions(lines, line, column, signal), (lines[line] ?? "").slice(0, column));
      if (key === "trySyncSlashCompletion") return (text: string) => joined(target.trySyncSlashCompletion?.(text) ?? null, text);
      const value = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

  return (ctx: any, commands: any[]) => {
    const isFirst = known.size === 0;
    for (const { name, description, argumentHint } of commands)
      known.set(name, { value: name, label: name, description, hint: argumentHint });
    if (isFirst && known.size && ctx.hasUI) ctx.ui.addAutocompleteProvider?.(around);
  };
}
