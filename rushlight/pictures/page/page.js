// The page: which archive, which module's graph, what is open and chosen; keys and search.

const page = JSON.parse(document.getElementById("data").textContent);
const byId = (name) => document.getElementById(name);
const state = { model: page.models[0], path: "", open: new Map(), chosen: null };
const FOUND = 60, SEARCHED = 20000, SMALL = 60;

function* modules(module) {
  yield module;
  for (const child of module.modules) yield* modules(child);
}

const moduleAt = (path) => [...modules(state.model.modules)].find((each) => each.path === path) || null;

function tensorAt(path) {
  if (path === null) return null;
  const dot = path.lastIndexOf(".");
  const module = moduleAt(dot < 0 ? "" : path.slice(0, dot));
  return module ? module.tensors.find((each) => each.name === path.slice(dot + 1)) || null : null;
}

// The call in which the run came to a module's method, so that its sizes are known there.
function contextOf(path, method) {
  const { model } = state;
  if (!model.ran) return null;
  if (path === "") return method === model.ran ? "" : null;
  const start = { drawing: model.drawings[model.methods[model.ran]], context: "", path: "", way: "" };
  const wanted = (model["methods of"][path] || {})[method];
  const walker = new GraphWalk(model, start);
  for (const { box, where } of walker.boxes())
    if (box.call === wanted && joined(where.path, box.owner) === path) return `${where.context}/${box.number}`;
  return null;
}

class GraphWalk {
  constructor(model, start) {
    Object.assign(this, { model, start });
  }
  *boxes() {
    const waiting = [[this.start, this.start.drawing.area]];
    let count = 0;
    while (waiting.length && count < SEARCHED) {
      const [where, area] = waiting.shift();
      for (const box of area.boxes) {
        count++;
        yield { box, where };
        for (const inner of box.areas) waiting.push([where, inner]);
        const context = `${where.context}/${box.number}`;
        if (box.call !== null && context in this.model.contexts) {
          const drawing = this.model.drawings[box.call];
          waiting.push([{ drawing, context, path: joined(where.path, box.owner) }, drawing.area]);
        }
      }
    }
  }
}

function visit(path, method) {
  const methods = state.model["methods of"][path] || {};
  const name = method && method in methods ? method : Object.keys(methods)[0];
  const known = name !== undefined;
  Object.assign(state, { path, method: name, chosen: null, open: new Map() });
  state.drawing = known ? state.model.drawings[methods[name]] : EMPTY;
  state.context = known ? contextOf(path, name) : null;
  view.view = null;
  view.fitted = false;
  if ([...view.walk(SMALL + 1)].length <= SMALL) openAll(false);
  byId("method").replaceChildren(...Object.keys(methods).map((each) => html("option", { value: each, selected: each === name }, each)));
  const parts = path ? path.split(".") : [];
  byId("trail").replaceChildren(
    ...["self", ...parts].map((part, i) => {
      const link = html("button", {}, part);
      link.addEventListener("click", () => visit(parts.slice(0, i).join(".")));
      return link;
    }),
  );
  render();
}

const EMPTY = { values: [], source: null, line: 0, last: 0, area: { title: "", inputs: [], outputs: [], boxes: [], rows: [], edges: [] } };

function render() {
  view.draw();
  const tree = byId("tree"), focused = tree.contains(document.activeElement);
  tree.replaceChildren(treeOf(state.model.modules, { visit }, state.path));
  if (focused) tree.querySelector(".chosen")?.focus();
  choose(state.chosen);
}

function choose(way) {
  const found = view.choose(way);
  state.chosen = found ? way : null;
  const module = found ? moduleAt(joined(found.where.path, found.box.owner)) : moduleAt(state.path);
  byId("details").replaceChildren(...(found ? boxPanel(view, found, found.box.owner === null ? null : module, tensorAt) : module ? modulePanel(module) : []));
  const drawing = found ? found.where.drawing : state.drawing;
  const diff = page.changes && !found && state.path === "";
  byId("code").replaceChildren(...(diff ? diffPanel(page.changes, [...modules(state.model.modules)].filter((each) => each.change), { visit }) : codePanel(state.model, drawing, found && found.box, { line: chooseLine })));
  const here = byId("code").querySelector(".here") || byId("code").querySelector(".text:not(.outside)");
  if (here && !diff) byId("code").scrollTop = [...byId("code").children].indexOf(here) * 17 - 60;
}

function chooseLine(source, number) {
  const place = state.model.sources.indexOf(source);
  for (const [way, { box }] of view.shown)
    if (box.at && box.at[0] === place && box.at[1] === number) {
      choose(way);
      return view.bringIn(way);
    }
}

function toggle(way) {
  const found = view.shown.get(way);
  if (!found || !view.canOpen(found.box)) return;
  state.open.set(way, !view.isOpen(way, found.box));
  view.draw();
  choose(way);
  view.bringIn(way);
}

function openAll(draws = true) {
  for (const { box, way } of view.walk()) if (view.canOpen(box)) state.open.set(way, true);
  if (draws) refit();
}

function closeAll() {
  for (const { box, way } of view.walk()) if (view.canOpen(box)) state.open.set(way, false);
  refit();
}

function refit() {
  view.view = null;
  view.fitted = false;
  render();
}

function step(by) {
  const ways = [...view.shown.keys()];
  const at = ways.indexOf(state.chosen);
  const next = ways[at < 0 ? 0 : Math.min(ways.length - 1, Math.max(0, at + by))];
  if (next) {
    choose(next);
    view.bringIn(next);
  }
}

// Opens all that a box lies in, and goes there.
function goTo(path, method, way) {
  if (path !== state.path || (method && method !== state.method)) visit(path, method);
  const parts = way.split("/").slice(1);
  for (let i = 1; i < parts.length; i++) state.open.set("/" + parts.slice(0, i).join("/"), true);
  for (const { box, way: other } of view.walk()) if (box.areas.length && !state.open.has(other)) state.open.set(other, true);
  view.draw();
  choose(way);
  view.bringIn(way);
}

function search(words) {
  const wanted = words.trim().toLowerCase();
  const found = [];
  const has = (...texts) => texts.some((each) => each && each.toLowerCase().includes(wanted));
  if (wanted) {
    for (const module of modules(state.model.modules)) {
      if (has(module.path, module.class)) found.push([module.path || "self", module.class, () => visit(module.path)]);
      for (const tensor of module.tensors)
        if (has(tensor.name)) found.push([joined(module.path, tensor.name), tensor.shape.join("×"), () => visit(module.path)]);
      if (found.length > FOUND) break;
    }
    for (const { box, where, way } of view.walk(SEARCHED)) {
      if (found.length > FOUND) break;
      if (has(box.kind, ...box.lines)) found.push([box.lines[0], [where.path || "", ...box.texts.map((each) => each.join("="))].join(" "), () => goTo(state.path, state.method, way)]);
    }
  }
  byId("found").hidden = !wanted;
  byId("tree").hidden = Boolean(wanted);
  byId("found").replaceChildren(
    ...(found.length ? found.slice(0, FOUND) : [["nothing found", "", () => {}]]).map(([name, more, go]) => {
      const row = html("li", { className: "row", tabIndex: 0 }, html("span", {}, name), html("span", { className: "class" }, shortened(more, 30)));
      row.addEventListener("click", go);
      listen(row, { Enter: go });
      return row;
    }),
  );
}

function showSide(number) {
  const { path, method } = state;
  state.model = page.models[number];
  state.touched = touched(state.model.modules, new Set());
  byId("title").textContent = page.models.length > 1 ? "" : state.model.name;
  byId("remark").textContent = state.model.failure ? `the run ended: ${state.model.failure}` : "";
  byId("remark").title = state.model.failure || "";
  [...byId("sides").children].forEach((each, i) => each.setAttribute("aria-pressed", String(i === number)));
  visit(moduleAt(path) ? path : "", method);
}

// The paths of the modules that differ, or that hold one that does.
function touched(module, paths) {
  for (const child of module.modules) touched(child, paths);
  if (module.change || module.modules.some((child) => paths.has(child.path))) paths.add(module.path);
  return paths;
}

function setTheme(dark) {
  document.documentElement.classList.toggle("dark", dark);
  byId("theme").textContent = dark ? "light" : "dark";
}

const view = new GraphView(byId("graph"), state, { choose, toggle });
const KEYS = {
  "/": () => byId("search").focus(), ArrowDown: () => step(1), ArrowUp: () => step(-1), ArrowRight: () => step(1), ArrowLeft: () => step(-1),
  Enter: () => toggle(state.chosen), e: () => openAll(), c: closeAll, f: () => view.fit(), "+": () => view.zoom(1.25), "-": () => view.zoom(0.8),
  t: () => setTheme(!document.documentElement.classList.contains("dark")), "?": () => help.showModal(), Escape: () => choose(null),
  d: () => page.models.length > 1 && showSide(1 - page.models.indexOf(state.model)),
};
const help = byId("keys");
document.addEventListener("keydown", (event) => {
  if (help.open) {
    if (event.key === "Escape" || event.key === "?") help.close();
    return; // nothing changes behind the list of keys
  }
  const typing = event.target.matches("input, select");
  if (typing && event.key === "Escape") {
    byId("search").value = "";
    search("");
    event.target.blur();
  } else if (event.target.id === "search" && event.key === "Enter") {
    byId("found").firstElementChild?.click();
  } else if (event.target.id === "search" && event.key === "ArrowDown") {
    shownRows()[0]?.focus();
  } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key] && !(event.key === "Enter" && event.target.matches("button"))) {
    event.preventDefault();
    KEYS[event.key]();
  }
});
byId("search").addEventListener("input", (event) => search(event.target.value));
byId("method").addEventListener("change", (event) => visit(state.path, event.target.value));
byId("open-all").addEventListener("click", () => openAll());
byId("close-all").addEventListener("click", closeAll);
byId("fit").addEventListener("click", () => view.fit());
byId("theme").addEventListener("click", KEYS.t);
byId("help").addEventListener("click", KEYS["?"]);
help.addEventListener("click", () => help.close());
if (page.models.length > 1)
  byId("sides").replaceChildren(...page.models.map((model, i) => {
    const button = html("button", {}, model.name);
    button.addEventListener("click", () => showSide(i));
    return button;
  }));
setTheme(window.matchMedia("(prefers-color-scheme: dark)").matches);
showSide(0);
