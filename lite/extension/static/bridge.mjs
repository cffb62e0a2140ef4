/**
 * Generic crossings between Python and the page, for what would cost too much one attribute at a
 * time. Nothing in here knows Jupyter and nothing decides: what to read comes in as text.
 * No code is made from text, so a site's Content-Security-Policy needs no 'unsafe-eval'.
 */

/** "a.b().c(0,9)" as a function of the root; null where a part is missing or throws. */
function planPath(path) {
  const steps = path.split(".").map((part) => {
    const [, name, , numbers] = /^([^(]*)(\(([\d,]*)\))?$/.exec(part);
    return { name, call: name !== part, args: numbers ? numbers.split(",").map(Number) : [] };
  });
  return (root) => {
    try {
      let value = root;
      for (const { name, call, args } of steps) {
        if (value === null || value === undefined) return null;
        value = call ? value[name](...args) : value[name];
      }
      return value === undefined ? null : value;
    } catch {
      return null;
    }
  };
}

/** Items `from <= i < to` of an array-like, an iterable or the values of an object, mapped. */
function mapItems(items, each, from, to) {
  if (typeof items.length !== "number") {
    items = typeof items[Symbol.iterator] === "function" ? Array.from(items) : Object.values(items);
  }
  const stop = Math.min(to, items.length);
  const found = [];
  for (let index = from; index < stop; index += 1) found.push(each(items[index]));
  return found;
}

function planSpec(spec) {
  if (typeof spec === "string") return spec === "" ? (root) => root ?? null : planPath(spec);
  if ("$of" in spec) {
    const of = planPath(spec.$of);
    const each = planSpec(spec.$each);
    return (root, from, to) => {
      const items = of(root);
      return items === null ? null : mapItems(items, each, from, to);
    };
  }
  const parts = Object.entries(spec).map(([name, part]) => [name, planSpec(part)]);
  return (root, from, to) => {
    const found = {};
    for (const [name, read] of parts) found[name] = read(root, from, to);
    return found;
  };
}

/**
 * A function of `(root, from, to)` that gives the JSON text of the parts of `root` which a spec names.
 * A spec is a path "a.b().c(0,9)" of attributes and calls, with numbers if any (missing: null; "":
 * root itself), an object {name: spec}, or {"$of": path, "$each": spec} for each item of a list, of which
 * `from` and `to` (exclusive) choose a part.
 */
export function reader(specText) {
  const read = planSpec(JSON.parse(specText));
  return (root, from = 0, to = Infinity) => crossing(JSON.stringify(read(root, from, to)));
}

const LONG = 100_000; // characters

/**
 * A JSON text for Python: a long one as UTF-8, which crosses in a tenth of the time. Nothing gets
 * lost, because JSON.stringify escapes lone surrogates.
 */
function crossing(text) {
  return text?.length > LONG ? new TextEncoder().encode(text) : text;
}

/** JSON text of a value, as `reader` gives it; undefined for what JSON does not know. */
export function json(value) {
  return crossing(JSON.stringify(value));
}

/**
 * Connect to a Lumino signal, call back with the JSON text of the parts of {sender, args} that a
 * spec names, and only for emissions where each path of `whenText` ({path: [values]}) has one of
 * its values: a flood of other emissions never enters Python. Answers the way to disconnect.
 */
export function listen(signal, specText, whenText, callback) {
  const conditions = Object.entries(JSON.parse(whenText)).map(([path, values]) => [
    planPath(path),
    new Set(values),
  ]);
  const pick = planSpec(JSON.parse(specText));
  const slot = (sender, args) => {
    const root = { sender, args };
    if (conditions.every(([read, values]) => values.has(read(root)))) {
      callback(JSON.stringify(pick(root)));
    }
  };
  signal.connect(slot);
  return () => signal.disconnect(slot);
}

/**
 * Call a method once for each list of arguments, all at the same time; the JSON text of what they
 * (or their promises) give, null where one fails or gives what JSON does not know.
 */
export async function callEach(target, method, argumentListsText) {
  const results = JSON.parse(argumentListsText).map(async (args) => target[method](...args));
  const settled = await Promise.allSettled(results);
  return `[${settled.map(({ value }) => plainText(value) ?? "null").join(",")}]`;
}

/** JSON text of a value made of plain objects, arrays and scalars only, else null. */
export function plainText(value) {
  const isPlain = (part, depth) => {
    if (part === null || ["string", "number", "boolean", "undefined"].includes(typeof part)) {
      return true;
    }
    if (typeof part !== "object" || depth > 100) return false;
    const prototype = Object.getPrototypeOf(part);
    if (![Object.prototype, Array.prototype, null].includes(prototype)) return false;
    return Object.values(part).every((inner) => isPlain(inner, depth + 1));
  };
  return value !== undefined && isPlain(value, 0) ? JSON.stringify(value) : null;
}

/**
 * Call a method and await what it gives. What it fails with that is no Error becomes one: a text or
 * nothing at all cannot be raised in Python, and whoever awaits it there would wait for ever.
 */
export async function invoke(target, method, ...args) {
  try {
    return await target[method](...args);
  } catch (error) {
    throw error instanceof Error ? error : new Error(String(error ?? "no reason was given"));
  }
}

/** A function that does nothing, for callbacks that JavaScript insists on. */
export function nothing() {}

let emissions = 0;

/**
 * An object whose `count` grows with every emission of a Lumino signal. No two objects ever have the same
 * count: what was noted of a notebook that was closed does not pass for the state of one opened later.
 */
export function counter(signal) {
  const seen = { count: (emissions += 1) };
  signal.connect(() => {
    seen.count = emissions += 1;
  });
  return seen;
}

/** A call's input as JSON text. What has none (a cycle) gives a text that is no JSON: Python refuses it. */
function inputText(input) {
  if (typeof input === "string") return input;
  try {
    return JSON.stringify(input ?? {});
  } catch (error) {
    return String(error);
  }
}

/**
 * Register tools on a WebMCP model context: descriptors as JSON text, `call(name, argumentsText,
 * signal, settle)` the one function behind all of them, which calls `settle(resultText)` once.
 * Answers, per tool, null or {name, message} of the failure, as JSON text; `options.signal`
 * unregisters them.
 */
export async function registerTools(context, descriptorsText, call, options) {
  const register = async (descriptor) => {
    const execute = (input, client) =>
      new Promise((resolve) => {
        call(descriptor.name, inputText(input), client?.signal ?? null, (result) => resolve(JSON.parse(result)));
      });
    try {
      await context.registerTool({ ...descriptor, execute }, options);
      return null;
    } catch (error) {
      return { name: error?.name ?? "Error", message: String(error?.message ?? error) };
    }
  };
  return JSON.stringify(await Promise.all(JSON.parse(descriptorsText).map(register)));
}

/**
 * A door for the page's scripts: facts, and `connect(onMessage)`, which opens a conversation and
 * answers {send(text), close()}. `open(post)` begins one on Python's side and answers {take, end};
 * null where there is only a reason in the facts' `error`.
 */
export function door(factsText, open) {
  const facts = JSON.parse(factsText);
  const connect = (onMessage) => {
    if (facts.error) throw new Error(facts.error);
    if (typeof onMessage !== "function") throw new TypeError("connect wants a function");
    // Not within what sends it: the receiver may throw, or send something itself.
    let conversation = open((text) => queueMicrotask(() => onMessage(text)));
    return Object.freeze({
      send(text) {
        if (!conversation) throw new Error("This session is closed");
        conversation.take(String(text));
      },
      close() {
        conversation?.end();
        conversation = null;
      },
    });
  };
  return Object.freeze({ ...facts, connect });
}

/** Hold a Web Lock for as long as the page lives; resolves when it is held. */
export function hold(locks, name) {
  return new Promise((resolve, reject) => {
    const held = () => {
      resolve();
      return new Promise(() => {});
    };
    locks.request(name, held).catch(reject);
  });
}

/**
 * An IndexedDB database with the stores {name: {keyPath, indexes}} of a layout's version. It is closed
 * for a tab that brings a newer layout; whoever uses it then gets an error.
 */
export function openDatabase(factory, name, version, storesText) {
  return new Promise((resolve, reject) => {
    const request = factory.open(name, version);
    request.onupgradeneeded = () => {
      for (const [store, { keyPath, indexes }] of Object.entries(JSON.parse(storesText))) {
        const made = request.result.createObjectStore(store, { keyPath });
        for (const index of indexes) made.createIndex(index, index);
      }
    };
    request.onsuccess = () => {
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = () => {
      const { name, message } = request.error;
      reject(new Error(`${name}: ${message}`));
    };
    request.onblocked = () => reject(new Error("another tab holds an older layout of it"));
  });
}
