// What stands beside the graph: the tree of modules, what is known of the chosen box, the code.

function html(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((each) => each !== null));
  return made;
}

const count = (number) => number.toLocaleString("en");

function bytes(number) {
  for (const unit of ["bytes", "KB", "MB", "GB"]) {
    if (number < 1000 || unit === "GB") return `${unit === "bytes" ? number : number.toFixed(1)} ${unit}`;
    number /= 1000;
  }
}

const short = (number) => (Number.isInteger(number) && Math.abs(number) < 1e6 ? String(number) : number.toPrecision(4));

const shownRows = () => [...document.querySelectorAll("nav .row")].filter((row) => row.offsetParent);

// Rows take the keys of a tree: up and down, Enter, right to open and left to close.
function listen(row, keys) {
  const move = (by) => shownRows()[shownRows().indexOf(row) + by]?.focus();
  const all = { ArrowDown: () => move(1), ArrowUp: () => move(-1), ...keys };
  row.addEventListener("keydown", (event) => {
    if (!all[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    all[event.key]();
  });
}

// The tree of modules with their sizes; a click shows the module's graph.
function treeOf(module, told, chosen, depth = 0) {
  const open = depth < 2 || chosen.startsWith(module.path + ".");
  const item = html("li", { role: "treeitem" });
  const inner = html("ul", { role: "group" });
  const twist = html("span", { className: "twist" }, module.modules.length ? (open ? "▾" : "▸") : "");
  const fill = () => inner.replaceChildren(...module.modules.map((child) => treeOf(child, told, chosen, depth + 1)));
  const row = html(
    "div",
    { className: `row ${module.change || ""} ${module.path === chosen ? "chosen" : ""}`, tabIndex: 0, title: `${count(module.bytes)} bytes` },
    twist,
    html("span", {}, module.name || "self"),
    html("span", { className: "class" }, module.class),
    html("span", { className: "size" }, module.parameters ? count(module.parameters) : ""),
  );
  const turn = (opening) => {
    if (!module.modules.length) return;
    twist.textContent = opening ? "▾" : "▸";
    opening ? fill() : inner.replaceChildren();
  };
  const visit = () => told.visit(module.path);
  row.addEventListener("click", visit);
  listen(row, { Enter: visit, ArrowRight: () => turn(true), ArrowLeft: () => turn(false) });
  twist.addEventListener("click", (event) => {
    event.stopPropagation();
    turn(twist.textContent === "▸");
  });
  if (open) fill();
  item.append(row, inner);
  return item;
}

function histogram(tensor) {
  const most = Math.max(...tensor.bars, 1), width = 100 / tensor.bars.length;
  const svg = element("svg", { class: "histogram", viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img" });
  svg.setAttribute("aria-label", `histogram of ${tensor.name}`);
  tensor.bars.forEach((bar, i) => {
    const height = (bar / most) * 40;
    const rect = element("rect", { x: i * width, y: 40 - height, width: width * 0.9, height });
    rect.append(element("title", {}, `${count(bar)} of ${count(tensor["looked at"])}`));
    svg.append(rect);
  });
  return svg;
}

function tensorPanel(tensor) {
  const rows = [];
  if (tensor.min !== undefined) {
    rows.push(`from ${short(tensor.min)} to ${short(tensor.max)}, mean ${short(tensor.mean)}, deviation ${short(tensor.deviation)}`);
    if (tensor.zeros) rows.push(`${count(tensor.zeros)} are zero`);
  }
  if (tensor["not finite"]) rows.push(`${count(tensor["not finite"])} are not finite`);
  if (tensor["looked at"] < tensor.elements) rows.push(`of ${count(tensor["looked at"])} elements at equal distances`);
  if (tensor["largest difference"] !== undefined)
    rows.push(`${count(tensor.differ)} elements differ, by ${short(tensor["largest difference"])} at most`);
  return html(
    "div",
    {},
    html(
      "div",
      { className: `mono ${tensor.change || ""}` },
      `${tensor.name}: ${tensor.dtype} ${tensor.shape.join("×") || "scalar"}`,
      html("span", { className: "faint" }, `  ${tensor.kind}, ${bytes(tensor.bytes)}`),
    ),
    ...rows.map((row) => html("div", { className: "faint" }, row)),
    tensor.bars ? histogram(tensor) : null,
  );
}

const titled = (words, change) => html("h2", { className: change || "" }, words);

function modulePanel(module) {
  const made = [titled(`${module.path || "self"}: ${module.class}`, module.change)];
  made.push(html("div", { className: "faint" }, `${count(module.parameters)} parameters, ${bytes(module.bytes)}`));
  return [...made, ...module.tensors.map(tensorPanel)];
}

// What is known of a box: operands by name, results, its place, and the weights it takes.
function boxPanel(view, found, module, tensorAt) {
  const { box, where } = found;
  const told = (value) => {
    const [, name, type] = where.drawing.values[value];
    const known = view.known(where.drawing, where.context, value);
    return html("td", { className: "mono" }, `%${name}: ${known || type}`);
  };
  const rows = [];
  const add = (head, cell) => rows.push(html("tr", {}, html("th", {}, head), cell));
  for (const [key, words] of box.texts) add(key || " ", html("td", { className: "mono" }, words));
  const area = areaOf(where.drawing.area, box);
  for (const [value, , target, name] of area.edges)
    if (area.boxes[target - area.inputs.length] === box) add(name || "uses", told(value));
  for (const value of box.outputs) add("gives", told(value));
  if (box.at) add("code", html("td", {}, `${view.model.sources[box.at[0]].name}, line ${box.at[1]}`));
  if (box.origin) add("source", html("td", {}, box.origin));
  const tensors = box.texts.map(([, words]) => words.match(/^self\.([\w.]+)$/)).filter(Boolean).map((match) => tensorAt(joined(where.path, match[1]))).filter(Boolean);
  const made = [titled(box.kind, box.change), html("table", {}, html("tbody", {}, ...rows))];
  if (box.call !== null && module) made.push(...modulePanel(module));
  return [...made, ...tensors.map(tensorPanel)];
}

function areaOf(area, box) {
  if (area.boxes.includes(box)) return area;
  for (const each of area.boxes)
    for (const inner of each.areas) {
      const found = areaOf(inner, box);
      if (found) return found;
    }
  return null;
}

// The code of a drawing's file; the lines of its function are plain, the others faint.
function codePanel(model, drawing, box, told) {
  if (drawing.source === null) return [html("div", { className: "faint" }, "there is no code of this graph")];
  const source = model.sources[box && box.at ? box.at[0] : drawing.source];
  const first = source.first, here = box && box.at ? box.at[1] : null;
  const own = model.sources[drawing.source] === source;
  const made = [html("div", { className: "head" }, source.name)];
  source.lines.forEach((words, i) => {
    const number = first + i;
    const outside = !own || number < drawing.line || number > drawing.last;
    const line = html(
      "div",
      { className: `text ${outside ? "outside" : ""} ${number === here ? "here" : ""}` },
      html("span", { className: "at" }, String(number)),
      words || " ",
    );
    line.addEventListener("click", () => told.line(source, number));
    made.push(line);
  });
  return made;
}

// What differs between two archives: the modules on this side, then the code of both.
function diffPanel(changes, found, told) {
  const rows = found.map((module) => {
    const row = html("div", { className: `row ${module.change}` }, `${module.change}: ${module.path || "self"}`, html("span", { className: "class" }, module.class));
    row.addEventListener("click", () => told.visit(module.path));
    return row;
  });
  if (!rows.length) rows.push(html("div", { className: "faint" }, "the modules are the same"));
  if (!changes.code.length) return [...rows, html("div", { className: "faint" }, "the code is the same")];
  return rows.concat(changes.code.flatMap((file) => [
    html("div", { className: "head" }, file.name),
    ...file.lines.map((line) => {
      const kind = line[0] === "+" ? "added" : line[0] === "-" ? "removed" : "";
      return html("div", { className: `text ${kind}` }, line || " ");
    }),
  ]));
}
