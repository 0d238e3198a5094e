// Where the items of an area stand.  The page tells rows and orders (rows.py); this is the half that
// depends on sizes, and the same as places.py: each row takes the places nearest to its neighbours.

const LETTER = 7, LINE = 15, GAP = 18, ROW = 36, PAD = 12, HEAD = 24, SWEEPS = 6;

// The places nearest to those wanted (least squares) at which items keep their order and distance.
function spread(wanted, widths) {
  const distance = [];
  let sum = 0;
  widths.forEach((width, i) => {
    sum += i ? (widths[i - 1] + width) / 2 + GAP : 0;
    distance.push(sum);
  });
  const pools = [];
  wanted.forEach((x, i) => {
    let pool = { total: x - distance[i], count: 1 };
    while (pools.length && pools.at(-1).total / pools.at(-1).count > pool.total / pool.count) {
      const before = pools.pop();
      pool = { total: pool.total + before.total, count: pool.count + before.count };
    }
    pools.push(pool);
  });
  const places = [];
  for (const pool of pools)
    for (let i = 0; i < pool.count; i++) places.push(pool.total / pool.count + distance[places.length]);
  return places;
}

// `sizes` are [width, height] by item; bends have neither.
function place(area, sizes) {
  const size = (item) => sizes[item] || [0, 0];
  const above = new Map(), below = new Map();
  const join = (map, key, other) => (map.has(key) ? map.get(key).add(other) : map.set(key, new Set([other])));
  for (const [, source, target, , bends] of area.edges) {
    const way = [source, ...bends, target];
    for (let i = 1; i < way.length; i++) {
      join(above, way[i], way[i - 1]);
      join(below, way[i - 1], way[i]);
    }
  }
  const x = new Map();
  const settle = (row, neighbours) => {
    const wanted = row.map((item) => {
      const near = [...(neighbours.get(item) || [])].filter((n) => x.has(n)).map((n) => x.get(n));
      return near.length ? near.reduce((a, b) => a + b) / near.length : x.get(item) ?? 0;
    });
    spread(wanted, row.map((item) => size(item)[0])).forEach((at, i) => x.set(row[i], at));
  };
  for (const row of area.rows) settle(row, above);
  for (let sweep = 1; sweep < SWEEPS; sweep++) {
    if (sweep % 2) for (const row of [...area.rows].reverse()) settle(row, below);
    else for (const row of area.rows) settle(row, above);
  }
  let left = Infinity, right = -Infinity, y = 0;
  for (const [item, at] of x) {
    left = Math.min(left, at - size(item)[0] / 2);
    right = Math.max(right, at + size(item)[0] / 2);
  }
  const items = new Map();
  for (const row of area.rows) {
    const height = Math.max(0, ...row.map((item) => size(item)[1]));
    for (const item of row) {
      const [w, h] = size(item);
      items.set(item, { x: x.get(item) - left, y, w, h: w ? h : height, foot: y + height });
    }
    y += height + ROW;
  }
  return { items, width: x.size ? right - left : 0, height: Math.max(0, y - ROW) };
}

// The lines of the edges: from the foot of one item, through the bends, to the head of the other.
// Edges of one value share bends, and the second begins where the first has not drawn yet.
function lines(area, placed) {
  const ends = new Map();
  for (const edge of area.edges) {
    const [, source, target, , bends] = edge;
    const from = placed.items.get(bends.length ? bends.at(-1) : source).x;
    if (!ends.has(target)) ends.set(target, []);
    ends.get(target).push([from, edge]);
  }
  const heads = new Map();
  for (const [target, given] of ends) {
    given.sort((a, b) => a[0] - b[0]);
    const { x, w } = placed.items.get(target);
    const step = Math.min(14, w / (given.length + 1));
    given.forEach(([, edge], i) => heads.set(edge, x + (i - (given.length - 1) / 2) * step));
  }
  const drawn = new Map();
  return area.edges.map((edge) => {
    const [value, source, target, , bends] = edge;
    const key = `${value} ${source}`, before = Math.min(drawn.get(key) || 0, bends.length);
    drawn.set(key, Math.max(drawn.get(key) || 0, bends.length));
    const first = placed.items.get(before ? bends[before - 1] : source);
    let [x, y] = [first.x, first.y + first.h];
    let path = `M${x} ${y}`;
    if (first.foot > y) path += `V${(y = first.foot)}`; // past taller neighbours
    const to = (nx, ny) => {
      const middle = (y + ny) / 2;
      path += `C${x} ${middle} ${nx} ${middle} ${nx} ${ny}`;
      [x, y] = [nx, ny];
    };
    for (const bend of bends.slice(before)) {
      const at = placed.items.get(bend);
      to(at.x, at.y);
      if (at.h) path += `V${(y = at.y + at.h)}`;
    }
    to(heads.get(edge), placed.items.get(target).y);
    return { value, source, target, path };
  });
}
