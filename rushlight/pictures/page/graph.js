// The graph: boxes with what is in them, drawn as SVG.  Texts of the program are text nodes, never
// markup.  A box is named by its way: the numbers of the calls that lead to it, and its own.

const SVG = "http://www.w3.org/2000/svg";
const WIDEST = 3000; // boxes that "open all" draws at most

function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const text = (x, y, words, kind = "") => element("text", { x, y, class: kind }, words);

const arrow = () =>
  element("marker", { id: "arrow", viewBox: "0 0 6 6", refX: 5, refY: 3, markerWidth: 6, markerHeight: 6, orient: "auto" },
    element("path", { d: "M0 0L6 3L0 6z", class: "arrow" }));

const joined = (path, name) => (path === null || name === null ? null : path && name ? `${path}.${name}` : path || name);

class GraphView {
  constructor(svg, state, told) {
    Object.assign(this, { svg, state, told, shown: new Map(), view: null });
    svg.addEventListener("click", (event) => {
      const box = event.target.closest(".box");
      if (!this.dragged) box ? told.choose(box.dataset.way) : told.choose(null);
    });
    svg.addEventListener("dblclick", (event) => {
      const box = event.target.closest(".box");
      if (box) told.toggle(box.dataset.way);
    });
    this.listenToPointer();
  }

  get model() {
    return this.state.model;
  }

  isOpen(way, box) {
    return this.state.open.get(way) ?? (box.areas.length > 0 && box.call === null);
  }

  canOpen(box) {
    return box.areas.length > 0 || box.call !== null;
  }

  // What is known of a value in the run: sizes, or its type where nothing ran.
  known(drawing, context, value) {
    return (this.model.contexts[context] || {})[value] ?? null;
  }

  draw() {
    this.shown.clear();
    const { drawing, context, path } = this.state;
    const root = this.area({ drawing, context, path, way: "" }, drawing.area);
    this.layer = element("g", {}, root.group);
    this.parts = root.parts;
    this.size = [root.width, root.height];
    this.height = this.svg.getBoundingClientRect().height;
    if (!this.view) this.fit();
    else this.apply(); // before it is on the page: what lies outside is never laid out
    this.svg.replaceChildren(element("defs", {}, arrow()), this.layer);
  }

  // An area: its items at their places, and the lines between them.
  area(where, area) {
    const { drawing } = where;
    const sizes = {}, contents = {};
    let item = 0;
    for (const value of area.inputs) {
      const name = drawing.values[value][0];
      sizes[item] = [Math.min(name.length, 24) * LETTER + 18, 20];
      contents[item++] = () => this.port(name);
    }
    for (const box of area.boxes) {
      const made = this.box(where, box);
      sizes[item] = made.size;
      contents[item++] = () => made;
    }
    if (area.outputs.length) {
      const name = area.title ? "result" : "return";
      sizes[item] = [name.length * LETTER + 18, 20];
      contents[item++] = () => this.port(name);
    }
    const placed = place(area, sizes);
    const group = element("g");
    const parts = []; // what is in it, and from where to where it reaches
    const put = (node, from, to) => {
      group.append(node);
      parts.push([node, from, to]);
    };
    const labelled = new Map(); // of every item the values whose sizes stand below it
    for (const line of lines(area, placed)) {
      const edge = element("path", { d: line.path, class: "edge", "data-value": line.value, "marker-end": "url(#arrow)" });
      put(edge, placed.items.get(line.source).y, placed.items.get(line.target).y);
      const told = this.known(drawing, where.context, line.value);
      if (!labelled.has(line.source)) labelled.set(line.source, new Set());
      const values = labelled.get(line.source);
      if (told && !values.has(line.value)) {
        values.add(line.value);
        const from = placed.items.get(line.source);
        const y = from.y + from.h + 1 + values.size * 11;
        put(text(from.x + 5, y, shortened(told.replace("float32 ", ""), 34), "sizes"), y - LINE, y);
      }
    }
    for (const [number, make] of Object.entries(contents)) {
      const at = placed.items.get(Number(number));
      if (!at) continue;
      const made = make(at);
      const [w, h] = sizes[number];
      made.group.setAttribute("transform", `translate(${at.x - w / 2} ${at.y})`);
      put(made.group, at.y, at.y + h);
    }
    return { group, parts, width: placed.width, height: placed.height };
  }

  port(name) {
    const words = shortened(name, 24);
    const frame = element("rect", { class: "frame", width: words.length * LETTER + 18, height: 20, rx: 10 });
    return { group: element("g", { class: "port" }, frame, text(9, 14, words)) };
  }

  box(where, box) {
    const way = `${where.way}/${box.number}`;
    const opened = this.canOpen(box) && this.isOpen(way, box);
    const classes = ["box", box.family];
    if (opened) classes.push("opened");
    const change = box.change || (box.owner && this.state.touched.has(joined(where.path, box.owner)) && "changed");
    if (change) classes.push(`is-${change}`);
    if (way === this.state.chosen) classes.push("chosen");
    const group = element("g", { class: classes.join(" "), "data-way": way, "aria-label": box.lines.join(", ") });
    this.shown.set(way, { box, where, group });
    const mark = this.canOpen(box) ? (opened ? "− " : "+ ") : "";
    if (!opened) {
      const size = [box.size[0] + (mark ? 2 * LETTER : 0), box.size[1]];
      group.append(element("rect", { class: "frame", width: size[0], height: size[1], rx: 4 }));
      box.lines.forEach((line, i) => group.append(text(10, 17 + i * LINE, i ? line : mark + line, i ? "operand" : "")));
      return { group, size };
    }
    const inner = this.inside(where, box, way);
    const made = inner.map(([there, area]) => [area, this.area(there, area)]);
    const titled = made.some(([area]) => area.title) ? 16 : 0;
    const title = mark + box.lines[0];
    const content = made.reduce((sum, [, each]) => sum + Math.max(each.width, 40) + PAD, 0);
    const width = Math.max(title.length * LETTER + 20, content + PAD);
    const height = HEAD + titled + Math.max(...made.map(([, each]) => each.height), 8) + PAD;
    group.append(element("rect", { class: "frame", width, height, rx: 6 }), text(10, 17, title));
    let x = PAD;
    for (const [area, each] of made) {
      if (area.title) group.append(text(x, HEAD + 10, area.title, "area-title"));
      each.group.setAttribute("transform", `translate(${x + Math.max(0, 40 - each.width) / 2} ${HEAD + titled})`);
      group.append(each.group);
      x += Math.max(each.width, 40) + PAD;
    }
    return { group, size: [width, height] };
  }

  // The areas in an open box, and where they are: those of a call are another drawing's.
  inside(where, box, way) {
    if (box.call === null) return box.areas.map((area) => [where, area]);
    const drawing = this.model.drawings[box.call];
    const context = where.context === null ? null : `${where.context}/${box.number}`;
    return [[{ drawing, context, path: joined(where.path, box.owner), way }, drawing.area]];
  }

  // Every box below a drawing with its way and place, the outer before the inner, up to a number.
  *walk(most = WIDEST) {
    const { drawing, context, path } = this.state;
    const waiting = [[{ drawing, context, path, way: "" }, drawing.area]];
    let count = 0;
    while (waiting.length) {
      const [where, area] = waiting.shift();
      for (const box of area.boxes) {
        if (++count > most) return;
        const way = `${where.way}/${box.number}`;
        yield { box, where, way };
        if (this.canOpen(box)) waiting.push(...this.inside(where, box, way));
      }
    }
  }

  choose(way) {
    for (const { group } of this.shown.values()) group.classList.remove("chosen");
    for (const edge of this.svg.querySelectorAll(".edge.chosen")) edge.classList.remove("chosen");
    const found = this.shown.get(way);
    if (!found) return null;
    found.group.classList.add("chosen");
    for (const value of found.box.outputs)
      for (const edge of found.group.parentNode.children)
        if (edge.dataset.value === String(value)) edge.classList.add("chosen");
    return found;
  }

  // -- moving

  fit() {
    const { width, height } = this.svg.getBoundingClientRect();
    const [w, h] = this.size;
    const zoom = Math.min(1.25, Math.max(0.02, Math.min(width / (w + 60), height / (h + 60))));
    const readable = Math.max(zoom, Math.min(0.8, width / (w + 60))); // long graphs begin at their top
    const used = this.fitted ? zoom : readable;
    this.fitted = true;
    this.view = { x: (width - w * used) / 2, y: Math.max(30, (height - h * used) / 2), zoom: used };
    if (h * used > height) this.view.y = 30;
    this.apply();
  }

  apply() {
    const { x, y, zoom } = this.view;
    this.layer.setAttribute("transform", `translate(${x} ${y}) scale(${zoom})`);
    const [top, bottom] = [(-200 - y) / zoom, (this.height + 200 - y) / zoom];
    for (const part of this.parts) {
      const hidden = part[2] < top || part[1] > bottom;
      if (hidden !== part[3]) part[0].style.display = (part[3] = hidden) ? "none" : "";
    }
  }

  zoom(factor, at) {
    const { left, top, width, height } = this.svg.getBoundingClientRect();
    const [px, py] = at ? [at[0] - left, at[1] - top] : [width / 2, height / 2];
    const zoom = Math.min(4, Math.max(0.02, this.view.zoom * factor));
    const scale = zoom / this.view.zoom;
    this.view = { x: px - (px - this.view.x) * scale, y: py - (py - this.view.y) * scale, zoom };
    this.apply();
  }

  bringIn(way) {
    const found = this.shown.get(way);
    if (!found) return;
    for (const part of this.parts) if (part[0].contains(found.group)) part[0].style.display = ""; // to be measured
    const box = found.group.getBoundingClientRect(), stage = this.svg.getBoundingClientRect();
    const inside = box.top >= stage.top && box.bottom <= stage.bottom && box.left >= stage.left && box.right <= stage.right;
    if (inside) return;
    this.view.x += stage.left + stage.width / 2 - (box.left + box.width / 2);
    this.view.y += stage.top + Math.min(stage.height / 2, stage.height / 2) - (box.top + Math.min(box.height, stage.height) / 2);
    this.apply();
  }

  listenToPointer() {
    let last = null;
    this.svg.addEventListener("pointerdown", (event) => {
      last = [event.clientX, event.clientY];
      this.dragged = false;
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (!last || !event.buttons) return;
      const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
      if (!this.dragged && Math.abs(dx) + Math.abs(dy) < 4) return;
      this.dragged = true;
      this.view.x += dx;
      this.view.y += dy;
      last = [event.clientX, event.clientY];
      this.apply();
    });
    this.svg.addEventListener("pointerup", () => (last = null));
    this.svg.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY / 400), [event.clientX, event.clientY]);
    }, { passive: false });
  }
}

const shortened = (words, most) => (words.length > most ? words.slice(0, most - 1) + "…" : words);
