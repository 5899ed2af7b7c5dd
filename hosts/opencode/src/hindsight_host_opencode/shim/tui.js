// The slash command in opencode's terminal: it asks the server's plugin, which knows agents and banks.
const COMMAND = "hindsight:";
const NAME = "hindsight-retain";

async function tui(api) {
  const toast = (variant, message) => api.ui.toast({ title: "Memory", variant, message });
  const ours = item => { const spec = Array.isArray(item) ? item[0] : item; return typeof spec === "string" && /hindsight|shims[\\/]opencode/.test(spec); };

  async function run() {
    try {
      const route = api.route.current, sessionID = route?.name === "session" ? route.params?.sessionID : undefined;
      if (!sessionID) return toast("warning", "Open a session first: there is nothing to keep here.");
      if (!(api.state.config?.plugin ?? []).some(ours)) return toast("error", "Memory's plugin is missing in opencode.json; run `hindsight-mem install opencode`.");
      toast("info", "Keeping this session ...");
      await api.client.tui.publish({ body: { type: "tui.command.execute", properties: { command: `${COMMAND}${NAME} ${sessionID}` } } });
    } catch (error) {
      toast("error", `Memory could not be asked: ${error?.message ?? error}`);
    }
  }

  const title = "Keep this session in memory";
  if (api.keymap?.registerLayer) api.keymap.registerLayer({ commands: [{ name: NAME, title, category: "Memory", namespace: "palette", slashName: NAME, run }], bindings: [] });
  else api.command?.register(() => [{ title, value: NAME, slash: { name: NAME }, onSelect: run }]);
}

export default { id: "hindsight-mem", tui };
