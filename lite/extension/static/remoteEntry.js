// The loader, with bridge.mjs and dom.mjs the only JavaScript of pywebmcp: a module-federation
// container written by hand (no bundler) whose one plugin boots Pyodide beside the running JupyterLab
// and hands JupyterLab's objects to Python, once: `await pywebmcp.browser.activate(app, tokens, modules)`.
//
// tokens: the services listed in TOKENS, and
//   status   {set(state, reason, text?)}: ready or unavailable, the reason in words, what is shown
//   signal   an AbortSignal, aborted when the loader gave up waiting; nothing may be registered then
// modules: those listed in MODULES, and `bridge` and `dom`, the helpers of bridge.mjs and dom.mjs.
(() => {
  const NAME = "pywebmcp";
  const SELF = new URL(document.currentScript.src);
  const MANIFEST = new URL("boot/manifest.json", SELF);
  const BOOT_TIMEOUT = 60; // seconds; the page option pywebmcpBootTimeout overrides it

  // JupyterLab's services for Python, by the names Python sees. null where an app lacks one: the
  // notebooks app, for example, has no ILabShell and no IStatusBar.
  const TOKENS = {
    tracker: ["@jupyterlab/notebook", "INotebookTracker"],
    executor: ["@jupyterlab/notebook", "INotebookCellExecutor"],
    labShell: ["@jupyterlab/application", "ILabShell"],
    statusBar: ["@jupyterlab/statusbar", "IStatusBar"],
    settings: ["@jupyterlab/settingregistry", "ISettingRegistry"],
    rendermime: ["@jupyterlab/rendermime", "IRenderMimeRegistry"],
    defaultFileBrowser: ["@jupyterlab/filebrowser", "IDefaultFileBrowser"],
    palette: ["@jupyterlab/apputils", "ICommandPalette"],
    mainMenu: ["@jupyterlab/mainmenu", "IMainMenu"],
  };

  // JupyterLab's modules that Python, the status item or the browser tests use, by their last name;
  // null where the page does not share one. Each may be a file more to load at the boot.
  const MODULES = [
    "@jupyterlab/apputils", "@jupyterlab/codemirror", "@jupyterlab/notebook",
    "@jupyterlab/outputarea", "@lumino/widgets",
  ];

  // The share scope of module federation: {package: {version: {get, loaded, …}}}.
  let scope = {};

  /** The module that the page shares under a package's name, or null. */
  async function shared(name) {
    const versions = Object.values(scope[name] ?? {});
    // Where several versions are on offer, the one in use is the one JupyterLab's objects are of.
    const entry = versions.find((version) => version.loaded) ?? versions[0];
    return entry ? (await entry.get())() : null;
  }

  /** A value of jupyter-config-data, as PageConfig.getOption reads it. */
  function pageOption(name) {
    const data = document.getElementById("jupyter-config-data");
    return JSON.parse(data?.textContent || "{}")[name];
  }

  /**
   * The status a person reads in the status bar and a test at the document's element (apps without
   * a status bar have only that). Only `set` and `tell` write it; Python gets the same object.
   */
  function createStatus() {
    const node = document.createElement("div");
    node.className = "jp-StatusBar-TextItem";
    node.setAttribute("role", "status");
    node.setAttribute("aria-live", "polite");
    const status = {
      node,
      set(state, reason, text = `WebMCP ${state}`) {
        if (!["starting", "ready", "unavailable", "failed"].includes(state)) {
          throw new TypeError(`no such status: ${state}`);
        }
        status.idle = node.textContent = text;
        node.title = reason;
        node.dataset.pywebmcpStatus = state;
        document.documentElement.dataset.pywebmcpStatus = state;
      },
      /** What an agent is doing, in words; with none of them the state again. */
      tell(words) {
        node.textContent = words || status.idle;
      },
    };
    status.set("starting", "Python is starting in this page");
    return status;
  }

  /** The address of a file beside this one; the query, a hash of the folder, keeps to one build. */
  function beside(name) {
    return new URL(`${name}${SELF.search}`, SELF);
  }

  /** The looks of what Python shows. A file of its own: a site may forbid styles in the page. */
  function addStyle() {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = beside("style.css").href;
    document.head.append(link);
  }

  /** Wait for a promise; say what it was for when it fails. */
  async function explained(what, promise) {
    try {
      return await promise;
    } catch (error) {
      const lines = String(error?.message ?? error).trim().split("\n");
      // A Python error's message is its traceback, of which the last line says what happened.
      const message = error?.name === "PythonError" ? lines.at(-1) : lines.join(" ");
      throw new Error(`${what}: ${message}`, { cause: error });
    }
  }

  async function fetched(url, options) {
    const response = await fetch(url, options);
    if (!response.ok) {
      throw new Error(`${response.status} ${response.statusText}`.trim());
    }
    return response;
  }

  async function sha256Of(bytes) {
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** The bytes of a file of the manifest, checked against their SHA-256. */
  async function fetchPackage({ url, sha256 }) {
    const bytes = await (await fetched(new URL(url, MANIFEST))).arrayBuffer();
    // A page that is neither https nor local has no `subtle`, and no WebMCP; the rest works there.
    if (crypto.subtle && (await sha256Of(bytes)) !== sha256) {
      throw new Error("its content is not what the manifest says (SHA-256)");
    }
    return bytes;
  }

  /** A Pyodide with the manifest's packages, none of them imported yet. */
  async function startPyodide() {
    const manifest = await explained(
      `cannot read ${MANIFEST.pathname}`,
      fetched(MANIFEST, { cache: "no-cache" }).then((response) => response.json()),
    );
    const url = new URL(manifest.pyodide, MANIFEST);
    const wasm = new URL("pyodide.asm.wasm", url);
    const [{ loadPyodide }, packages] = await Promise.all([
      explained(`cannot load ${url.pathname}`, import(url.href)),
      Promise.all(
        manifest.packages.map((item) => explained(`cannot use ${item.url}`, fetchPackage(item))),
      ),
      // loadPyodide never settles where this fails (a broken file, a wrong type, a CSP without
      // wasm-unsafe-eval). The browser compiles it once: its second use is served from the first.
      explained(`cannot use ${wasm.pathname}`, WebAssembly.compileStreaming(fetched(wasm))),
    ]);
    const pyodide = await explained(
      "Pyodide did not start",
      loadPyodide({
        indexURL: new URL(".", url).href,
        stdout: (line) => console.log(`[${NAME}]`, line),
        stderr: (line) => console.warn(`[${NAME}]`, line),
      }),
    );
    for (const bytes of packages) {
      pyodide.unpackArchive(bytes, "wheel");
    }
    return pyodide;
  }

  async function gatherModules() {
    const modules = {};
    await Promise.all(
      MODULES.map(async (name) => {
        modules[name.split("/").at(-1)] = await shared(name);
      })
    );
    return modules;
  }

  async function gatherTokens(app) {
    const tokens = {};
    await Promise.all(
      Object.entries(TOKENS).map(async ([key, [name, token]]) => {
        const id = (await shared(name))?.[token];
        tokens[key] = id ? await app.resolveOptionalService(id) : null;
      })
    );
    return tokens;
  }

  /**
   * All of the boot, in the background. `signal` aborts when it is given up; `handOver` is called
   * when Python takes over.
   */
  async function boot(app, status, signal, handOver) {
    // Pyodide's start blocks the main thread for a second or two: the shell comes first.
    await app.restored;
    const [modules, tokens] = await Promise.all([gatherModules(), gatherTokens(app)]);
    if (tokens.statusBar) {
      const item = new modules.widgets.Widget({ node: status.node });
      tokens.statusBar.registerStatusItem(`${NAME}:status`, { item, align: "right", rank: 90 });
    }
    const helpers = ["bridge", "dom"].map(async (name) => {
      const url = beside(`${name}.mjs`);
      modules[name] = await explained(`cannot load ${url.pathname}`, import(url.href));
    });
    await Promise.all(helpers);
    const pyodide = await startPyodide();
    signal.throwIfAborted();
    if (pageOption("exposeAppInBrowser")) {
      // JupyterLab's own switch for tests and consoles: it puts the application at jupyterapp.
      globalThis.pywebmcp = { app, pyodide, tokens, modules };
    }
    handOver();
    const activated = (async () => {
      await pyodide.pyimport(`${NAME}.browser`).activate(app, { ...tokens, status, signal }, modules);
    })();
    await explained("Python", activated);
  }

  /** Start the boot and see that it ends: in ready or unavailable, which Python says, or failed. */
  function start(app) {
    const key = Symbol.for(NAME);
    if (globalThis[key]) {
      console.warn(`[${NAME}] is active on this page already; this activation does nothing`);
      return;
    }
    globalThis[key] = true;
    addStyle();
    const status = createStatus();
    const given = new AbortController();
    const fail = (error) => {
      if (!given.signal.aborted) {
        given.abort(error);
        status.set("failed", error.message);
        status.set = () => {}; // what comes late is no news
        console.error(`[${NAME}] the boot failed:`, error.message, error.cause ?? "");
      }
    };
    const seconds = Number(pageOption("pywebmcpBootTimeout") || BOOT_TIMEOUT);
    let timer;
    // The time limit, for the start of Pyodide first and then anew for what Python does with it: so
    // it cannot strike between the hand-over and Python's first step.
    const limit = () => {
      clearTimeout(timer);
      timer = setTimeout(
        () => fail(new Error(`Python was not ready within ${seconds} s`)),
        seconds * 1000,
      );
    };
    limit();
    boot(app, status, given.signal, limit)
      .catch(fail)
      .finally(() => clearTimeout(timer));
  }

  const plugin = {
    id: `${NAME}:plugin`,
    description: "Offers the open notebook to the agent of the browser.",
    autoStart: true,
    // Returns at once: a promise would hold up JupyterLab's own start.
    activate: (app) => start(app),
  };

  (globalThis._JUPYTERLAB ??= {})[NAME] = {
    init(shareScope) {
      scope = shareScope;
    },
    async get(module) {
      if (module !== "./extension") {
        throw new Error(`[${NAME}] has no module ${module}`);
      }
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();
