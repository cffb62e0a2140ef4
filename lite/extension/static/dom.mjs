/**
 * Elements from JSON: what a Python view wants to be on the page, made with `createElement` and text
 * nodes alone. No text becomes markup, and a tag, attribute or address that is not on a list below is
 * refused, so that nothing a notebook holds can run, load or look like a part of the page.
 *
 * A node is a text, or [tag, attributes, children]. Of the attributes
 *   key   tells an element from its siblings: with it, it stays the same element where it moves
 *   on    {event: [name, …]} is what to report, or for keydown {key: [name, …]} ("Control+Enter")
 * In the place of a node, {keep: key} stands for the element of that key as it is.
 */

const TAGS = new Set(
  ("article button code del div fieldset footer form h2 h3 h4 header img input ins label legend li " +
    "ol optgroup option p pre section select span strong textarea time ul").split(" "),
);
const ATTRIBUTES =
  /^(aria-[a-z]+|data-[a-z-]+|alt|autocomplete|class|datetime|dir|for|id|inputmode|max|min|name|placeholder|role|rows|spellcheck|step|tabindex|title|type)$/;
const PROPERTIES = new Set([
  "checked", "disabled", "hidden", "readOnly", "required", "selected", "value",
]);
const IMAGE = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*$/;
const EVENTS = ["click", "change", "focusin", "focusout", "input", "keydown", "submit"];

// What an element was made from: [tag, attributes, children].
const made = new WeakMap();

function setAttribute(element, name, value) {
  if (name === "key" || name === "on") return;
  if (PROPERTIES.has(name)) {
    // A person types into it and chooses in it: what it has now counts, not what it was given.
    if (element[name] !== value) element[name] = value;
  } else if (name === "src" && IMAGE.test(value)) {
    element.src = value;
  } else if (ATTRIBUTES.test(name)) {
    element.setAttribute(name, value);
  } else {
    throw new TypeError(`no such attribute here: ${name}`);
  }
}

function removeAttribute(element, name) {
  if (PROPERTIES.has(name)) element[name] = typeof element[name] === "boolean" ? false : "";
  else element.removeAttribute(name);
}

function create(node) {
  if (typeof node === "string") return document.createTextNode(node);
  if (!TAGS.has(node[0])) throw new TypeError(`no such element here: ${node[0]}`);
  const element = document.createElement(node[0]);
  change(element, node);
  return element;
}

function change(element, node) {
  if (typeof node === "string") {
    if (element.data !== node) element.data = node;
    return;
  }
  const [, before] = made.get(element) ?? [null, {}];
  const [, attributes, children] = node;
  made.set(element, node);
  for (const name of Object.keys(before)) {
    if (!(name in attributes)) removeAttribute(element, name);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (PROPERTIES.has(name) || before[name] !== value) {
      // The value of a select is one of its options: they come first.
      if (name !== "value") setAttribute(element, name, value);
    }
  }
  changeChildren(element, children);
  if ("value" in attributes) setAttribute(element, "value", attributes.value);
}

function changeChildren(parent, nodes) {
  const keyed = new Map();
  const others = [];
  for (const child of parent.childNodes) {
    const key = made.get(child)?.[1].key;
    if (key === undefined) others.push(child);
    else keyed.set(key, child);
  }
  let next = 0;
  const claim = (node) => {
    if (typeof node !== "string" && node.keep !== undefined) return keyed.get(node.keep);
    const key = typeof node === "string" ? undefined : node[1].key;
    const found = key === undefined ? others[next++] : keyed.get(key);
    const name = typeof node === "string" ? "#text" : node[0].toUpperCase();
    if (found?.nodeName !== name) return create(node);
    change(found, node);
    return found;
  };
  const wanted = nodes.map(claim);
  const staying = new Set(wanted);
  for (const child of [...parent.childNodes]) {
    if (!staying.has(child)) child.remove();
  }
  // What is in its place is not touched: moving an element takes the focus from it.
  let place = parent.firstChild;
  for (const child of wanted) {
    if (child === place) place = place.nextSibling;
    else parent.insertBefore(child, place);
  }
}

/** The report for an event at an element, or undefined; keys by their name with the modifiers. */
function reported(on, event) {
  const found = on?.[event.type];
  if (event.type !== "keydown" || !found) return found;
  const held = [["Control", event.ctrlKey || event.metaKey], ["Alt", event.altKey]];
  const keys = [...held.filter(([, down]) => down).map(([name]) => name), event.key];
  return found[keys.join("+")];
}

/**
 * Let an element show what `show(text)` is given, the JSON text of a list of nodes, and report
 * events as `report(text)`: JSON of [name, …, value], the value being that of the field it came from.
 */
export function view(root, report) {
  const listen = (event) => {
    // Where keys are no shortcuts, what is around hears nothing of them.
    if (event.type === "keydown" && "lmSuppressShortcuts" in root.dataset) event.stopPropagation();
    for (let at = event.target; at && at !== root; at = at.parentNode) {
      const told = reported(made.get(at)?.[1].on, event);
      if (!told) continue;
      // A form does not leave the page; a key that means something here means nothing else.
      if (event.type === "submit" || event.type === "keydown") {
        event.preventDefault();
        event.stopPropagation();
      }
      const value = at.type === "checkbox" ? at.checked : (at.value ?? null);
      report(JSON.stringify([...told, value]));
      return;
    }
  };
  for (const type of EVENTS) root.addEventListener(type, listen);
  return {
    show(text) {
      changeChildren(root, JSON.parse(text));
    },
    close() {
      for (const type of EVENTS) root.removeEventListener(type, listen);
      root.remove();
    },
  };
}
