"""The script that runs in a measured page before the page's own ones.

It holds the stopwatch around executeTool, and a view of the live notebook that does not go through
the tools under test.
"""

PROBE = """(() => {
  if (window !== window.top || !document.modelContext) {
    return;
  }
  const context = document.modelContext;

  // When how many tools were there: [milliseconds since the navigation began, count].
  const arrivals = [];
  let looking = false;
  let changed = false;
  context.addEventListener("toolchange", async () => {
    changed = true;
    if (looking) {
      return;
    }
    looking = true;
    while (changed) {
      changed = false;
      const at = performance.now();
      arrivals.push([at, (await context.getTools()).length]);
    }
    looking = false;
  });

  let byName = new Map();
  const find = async name => {
    if (!byName.has(name)) {
      byName = new Map((await context.getTools()).map(tool => [tool.name, tool]));
    }
    if (!byName.has(name)) {
      throw new Error(`the page has no tool ${name}`);
    }
    return byName.get(name);
  };

  const panel = path => {
    const widgets = [...window.jupyterapp.shell.widgets("main")];
    return widgets.find(widget => widget.context?.path === path && widget.content?.model);
  };
  const model = path => panel(path).content.model.sharedModel;

  globalThis.probe = {
    loadedAt: count => arrivals.find(([, seen]) => seen >= count)?.[0] ?? null,
    toolCount: () => arrivals.at(-1)?.[1] ?? 0,

    descriptors: async () =>
      JSON.stringify(
        (await context.getTools()).map(({ name, description, inputSchema, annotations }) => {
          const schema = typeof inputSchema === "string" ? JSON.parse(inputSchema) : inputSchema;
          return { name, description, inputSchema: schema, annotations };
        })
      ),

    // {ms, text}, or {error}: a rejection and a call without answer in `limit` ms are no figures.
    call: async (name, input, limit) => {
      let timer;
      try {
        const tool = await find(name);
        // Browsers that hand out the schema as a string take the arguments as one.
        const given = typeof tool.inputSchema === "string" ? JSON.stringify(input) : input;
        const late = new Promise((_, reject) => {
          timer = setTimeout(() => reject(new Error(`no answer in ${limit} ms`)), limit);
        });
        const start = performance.now();
        const text = await Promise.race([context.executeTool(tool, given), late]);
        return { ms: performance.now() - start, text };
      } catch (error) {
        return { error: `${error.name}: ${error.message}` };
      } finally {
        clearTimeout(timer);
      }
    },

    // Whether the notebook is shown, all its cells are rendered, and its kernel session exists.
    isOpen: path => {
      const { content, sessionContext } = panel(path) ?? {};
      return Boolean(
        sessionContext?.session?.kernel &&
          content.widgets.length === content.model.cells.length &&
          content.widgets.every(cell => !cell.isPlaceholder())
      );
    },

    // Starts the kernel's own work once: what a first run pays is no tool's doing.
    warmKernel: async path => {
      const { kernel } = panel(path).sessionContext.session;
      await kernel.requestExecute({ code: "1", store_history: false }).done;
    },

    // Saving at some moment of a measurement would be noise.
    stopAutosave: async () => {
      const { commands } = window.jupyterapp;
      if (commands.isToggled("docmanager:toggle-autosave")) {
        await commands.execute("docmanager:toggle-autosave");
      }
    },

    count: path => model(path).cells.length,

    active: path => panel(path).content.activeCellIndex,

    cell: (path, id) => {
      const { cells } = model(path);
      const index = cells.findIndex(cell => cell.getId() === id);
      if (index < 0) {
        return null;
      }
      const { source, execution_count, outputs } = cells[index].toJSON();
      return { index, source, executionCount: execution_count, outputs };
    },

    sourceAt: (path, index) => model(path).cells[index]?.getSource() ?? null,

    removeAt: (path, index) => model(path).deleteCell(index),

    // Opens the Agent panel at a tab, with a thread on every second cell; false where there is none.
    openPanel: async (path, tab) => {
      const { commands } = window.jupyterapp;
      if (!commands.hasCommand("pywebmcp:show-agent-panel")) {
        return false;
      }
      await commands.execute("pywebmcp:show-agent-panel", { tab });
      await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
      const shared = model(path);
      const metadata = shared.getMetadata();
      if (metadata.pywebmcp) {
        return true;
      }
      const threads = shared.cells.flatMap((cell, index) => {
        if (index % 2) {
          return [];
        }
        const source = cell.getSource();
        const anchor = index % 4
          ? { kind: "cell", cellId: cell.getId(), sourceHash: "0", length: source.length }
          : { kind: "source-range", cellId: cell.getId(), exact: source.split("\\n")[0] };
        const message = `Is this as it should be in part ${index}?`;
        return [{ id: `thread-${index}`, anchor, comments: [{ author: { kind: "person" }, message }] }];
      });
      const comments = { version: 1, threads };
      shared.setMetadata({ ...metadata, pywebmcp: { comments } });
      return true;
    },

    // How long the panel takes to show a cell's new source: from the frame in which it is drawn to
    // the end of its layout. {ms, shown}: whether it shows it then.
    panelUpdate: (path, id, source) =>
      new Promise(resolve => {
        const node = document.querySelector(".pywebmcp-panel");
        const cell = model(path).cells.find(each => each.getId() === id);
        let start;
        requestAnimationFrame(() => {
          // The notebook's own layout is not the panel's.
          node.getBoundingClientRect();
          start = performance.now();
        });
        cell.setSource(source);
        requestAnimationFrame(() => {
          node.getBoundingClientRect();
          const ms = performance.now() - start;
          resolve({ ms, shown: node.textContent.includes(source.split("\\n")[0]) });
        });
      }),

    // Resolves when the main thread has had nothing to do for two idle periods on end.
    quiet: () =>
      new Promise(resolve => {
        let calm = 0;
        const look = deadline => {
          calm = deadline.timeRemaining() > 8 ? calm + 1 : 0;
          if (calm > 1) {
            resolve();
          } else {
            requestIdleCallback(look);
          }
        };
        requestIdleCallback(look);
      })
  };
})();
"""
