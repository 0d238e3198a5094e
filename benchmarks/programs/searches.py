"""What decoders, parsers and searches over graphs do with texts, lists and dicts."""

from typing import Dict, List, Tuple

import rushlight as torch


def word_piece(text: str, vocabulary: Dict[str, int], longest: int) -> List[int]:
    found: List[int] = []
    for word in text.split(" "):
        start = 0
        pieces: List[int] = []
        bad = False
        while start < len(word):
            end = min(len(word), start + longest)
            piece = -1
            while start < end:
                part = word[start:end]
                if start > 0:
                    part = "##" + part
                if part in vocabulary:
                    piece = vocabulary[part]
                    break
                end -= 1
            if piece < 0:
                bad = True
                break
            pieces.append(piece)
            start = end
        if bad:
            found.append(0)
        else:
            found.extend(pieces)
    return found


def bpe(word: str, ranks: Dict[str, int]) -> List[str]:
    parts: List[str] = []
    for c in word:
        parts.append(c)
    while len(parts) > 1:
        best = 1000000
        at = -1
        for i in range(len(parts) - 1):
            rank = ranks.get(parts[i] + " " + parts[i + 1], 1000000)
            if rank < best:
                best = rank
                at = i
        if at < 0:
            break
        parts = parts[:at] + [parts[at] + parts[at + 1]] + parts[at + 2 :]
    return parts


def bpe_all(words: List[str], ranks: Dict[str, int]) -> int:
    cache: Dict[str, List[str]] = {}
    total = 0
    for w in words:
        if w not in cache:
            cache[w] = bpe(w, ranks)
        total += len(cache[w])
    return total


def ctc_beam(scores: List[List[float]], width: int) -> Tuple[str, float]:
    beams: Dict[str, Tuple[float, float]] = {"": (0.0, -1e9)}
    letters = "_abcdefgh"
    for t in range(len(scores)):
        row = scores[t]
        after: Dict[str, Tuple[float, float]] = {}
        for prefix, p in beams.items():
            pb, pnb = p
            total = max(pb, pnb)
            for c in range(len(row)):
                s = row[c]
                if c == 0:
                    b, nb = after.get(prefix, (-1e9, -1e9))
                    after[prefix] = (max(b, total + s), nb)
                else:
                    letter = letters[c]
                    longer = prefix + letter
                    b, nb = after.get(longer, (-1e9, -1e9))
                    if len(prefix) > 0 and prefix[-1] == letter:
                        after[longer] = (b, max(nb, pb + s))
                        b2, nb2 = after.get(prefix, (-1e9, -1e9))
                        after[prefix] = (b2, max(nb2, pnb + s))
                    else:
                        after[longer] = (b, max(nb, total + s))
        order: List[Tuple[float, str]] = []
        for k, v in after.items():
            order.append((-max(v[0], v[1]), k))
        order.sort()
        beams = torch.jit.annotate(Dict[str, Tuple[float, float]], {})
        for i in range(min(width, len(order))):
            beams[order[i][1]] = after[order[i][1]]
    best = ""
    score = -1e9
    for k2, v2 in beams.items():
        if max(v2[0], v2[1]) > score:
            score = max(v2[0], v2[1])
            best = k2
    return best, score


def json_numbers(text: str) -> float:
    total = 0.0
    i = 0
    depth = 0
    while i < len(text):
        c = text[i]
        if c == "[":
            depth += 1
            i += 1
        elif c == "]":
            depth -= 1
            i += 1
        elif c == "," or c == " ":
            i += 1
        else:
            j = i
            while j < len(text) and text[j] not in ",] ":
                j += 1
            total += float(text[i:j]) * depth
            i = j
    if depth != 0:
        raise ValueError("brackets")
    return total


def csv_columns_list(text: str) -> List[float]:
    lines = text.split("\n")
    names = lines[0].split(",")
    sums: Dict[str, float] = {}
    for name in names:
        sums[name.strip()] = 0.0
    for line in lines[1:]:
        cells = line.split(",")
        for i in range(len(cells)):
            sums[names[i].strip()] += float(cells[i])
    return list(sums.values())


def heap_push(heap: List[Tuple[float, int]], item: Tuple[float, int]) -> None:
    heap.append(item)
    i = len(heap) - 1
    while i > 0:
        parent = (i - 1) // 2
        if heap[parent][0] > heap[i][0]:
            t = heap[parent]
            heap[parent] = heap[i]
            heap[i] = t
            i = parent
        else:
            break


def heap_pop(heap: List[Tuple[float, int]]) -> Tuple[float, int]:
    top = heap[0]
    last = heap.pop()
    if len(heap) > 0:
        heap[0] = last
        i = 0
        n = len(heap)
        while True:
            left = 2 * i + 1
            small = i
            if left < n and heap[left][0] < heap[small][0]:
                small = left
            if left + 1 < n and heap[left + 1][0] < heap[small][0]:
                small = left + 1
            if small == i:
                break
            t = heap[small]
            heap[small] = heap[i]
            heap[i] = t
            i = small
    return top


def dijkstra(graph: Dict[int, List[Tuple[int, float]]], start: int, n: int) -> List[float]:
    far: List[float] = [1e18] * n
    far[start] = 0.0
    heap: List[Tuple[float, int]] = [(0.0, start)]
    while len(heap) > 0:
        d, u = heap_pop(heap)
        if d > far[u]:
            continue
        if u in graph:
            for edge in graph[u]:
                v, w = edge
                if d + w < far[v]:
                    far[v] = d + w
                    heap_push(heap, (far[v], v))
    return far


def bfs_grid(grid: List[str], sr: int, sc: int) -> int:
    h = len(grid)
    w = len(grid[0])
    dist: Dict[int, int] = {sr * w + sc: 0}
    queue: List[Tuple[int, int]] = [(sr, sc)]
    head = 0
    far = 0
    while head < len(queue):
        r, c = queue[head]
        head += 1
        d = dist[r * w + c]
        far = max(far, d)
        for dr, dc in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
            r2 = r + dr
            c2 = c + dc
            if 0 <= r2 and r2 < h and 0 <= c2 and c2 < w and grid[r2][c2] != "#":
                k = r2 * w + c2
                if k not in dist:
                    dist[k] = d + 1
                    queue.append((r2, c2))
    return far


@torch.jit.script
class Vec:
    def __init__(self, x: float, y: float):
        self.x = x
        self.y = y

    def add(self, o: "Vec") -> "Vec":
        return Vec(self.x + o.x, self.y + o.y)

    def scale(self, f: float) -> "Vec":
        return Vec(self.x * f, self.y * f)

    def dot(self, o: "Vec") -> float:
        return self.x * o.x + self.y * o.y


def particles(n: int, steps: int) -> float:
    where: List[Vec] = []
    speed: List[Vec] = []
    for i in range(n):
        where.append(Vec(float(i), float(i * i % 7)))
        speed.append(Vec(1.0, -0.5 * i))
    for s in range(steps):
        for i in range(n):
            where[i] = where[i].add(speed[i].scale(0.01))
            if where[i].dot(where[i]) > 100.0:
                speed[i] = speed[i].scale(-1.0)
    total = 0.0
    for v in where:
        total += v.x + v.y
    return total


def union_find(pairs: List[Tuple[int, int]], n: int) -> int:
    parent: List[int] = []
    for i in range(n):
        parent.append(i)
    for a, b in pairs:
        x = a
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        y = b
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        if x != y:
            parent[x] = y
    roots = 0
    for i in range(n):
        if parent[i] == i:
            roots += 1
    return roots


def topological(edges: Dict[str, List[str]]) -> List[str]:
    waits: Dict[str, int] = {}
    for k, v in edges.items():
        if k not in waits:
            waits[k] = 0
        for t in v:
            waits[t] = waits.get(t, 0) + 1
    ready: List[str] = []
    for k2, n in waits.items():
        if n == 0:
            ready.append(k2)
    order: List[str] = []
    while len(ready) > 0:
        u = ready.pop(0)
        order.append(u)
        if u in edges:
            for t in edges[u]:
                waits[t] -= 1
                if waits[t] == 0:
                    ready.append(t)
    return order


def string_methods(lines: List[str]) -> int:
    n = 0
    for line in lines:
        s = line.strip().lower()
        if s.startswith("the") or s.endswith("end"):
            n += 1
        s = s.replace("a", "bb")
        n += s.find("bb") + s.count("e")
        parts = s.split()
        n += len("-".join(parts))
        if s.isalpha():
            n += 100
        if parts[0].isdigit():
            n += int(parts[0])
    return n


def matrix_chain(dims: List[int]) -> int:
    n = len(dims) - 1
    m: List[List[int]] = []
    for i in range(n):
        m.append([0] * n)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            m[i][j] = 1 << 60
            for k in range(i, j):
                cost = m[i][k] + m[k + 1][j] + dims[i] * dims[k + 1] * dims[j + 1]
                if cost < m[i][j]:
                    m[i][j] = cost
    return m[0][n - 1]


def mandelbrot(w: int, h: int, most: int) -> int:
    total = 0
    for py in range(h):
        for px in range(w):
            x0 = px / w * 3.5 - 2.5
            y0 = py / h * 2.0 - 1.0
            x = 0.0
            y = 0.0
            n = 0
            while x * x + y * y <= 4.0 and n < most:
                x, y = x * x - y * y + x0, 2.0 * x * y + y0
                n += 1
            total += n
    return total


def drawn(seed: int, count: int, below: int) -> List[int]:
    """Whole numbers that are the same everywhere."""
    found: List[int] = []
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % 2147483648
        found.append((seed >> 8) % below)
    return found


def shares(seed: int, count: int) -> List[float]:
    """Numbers below 1."""
    return [number / 1000.0 for number in drawn(seed, count, 1000)]


WORDS = ["".join("abcdefgh"[k] for k in drawn(i + 3, 3 + i % 9, 8)) for i in range(60)]
PIECES = sorted({w[i:j] for w in WORDS for i in range(len(w)) for j in range(i + 1, i + 4)})
VOCABULARY = {piece: i + 1 for i, piece in enumerate(PIECES)}
VOCABULARY.update({f"##{piece}": i + 5000 for i, piece in enumerate(PIECES)})
RANKS = {
    f"{one} {other}": (i * 37 + j * 11) % 997
    for i, one in enumerate(["a", "b", "c", "ab", "bc", "d", "de"])
    for j, other in enumerate(["a", "b", "c", "d", "e", "f", "ab"])
}
ROADS: Dict[int, List[Tuple[int, float]]] = {}
for start, end, length in zip(drawn(7, 400, 100), drawn(8, 400, 100), shares(9, 400)):
    ROADS.setdefault(start, []).append((end, length))
PAIRS = list(zip(drawn(5, 150, 100), drawn(6, 150, 100)))
MAZE = ["".join("#" if each == 0 else "." for each in drawn(i + 50, 30, 4)) for i in range(30)]
NEEDS = {WORDS[i]: WORDS[i + 1 : i + 4] for i in range(60)}
LINES = ["The cat and a hat", "12 apples at the end", "  xyz  abc ", "word"] * 10
TABLE = "a, b,c\n" + "\n".join(
    f"{x},{y},{z}" for x, y, z in zip(shares(1, 60), shares(2, 60), shares(3, 60))
)
NESTED = "[[" + ", ".join(map(str, shares(3, 120))) + "], [1, 2.5e3]]"


def program(function, *arguments):
    """A function without tensors, and what it is called with."""
    return lambda: (function, torch.jit.script(function), arguments)


PROGRAMS = {
    "word_pieces": program(word_piece, " ".join(WORDS), VOCABULARY, 6),
    "merges_cached": program(bpe_all, WORDS * 2, RANKS),
    "ctc_beam": program(ctc_beam, [[-x for x in shares(i, 9)] for i in range(20)], 8),
    "nested_numbers": program(json_numbers, NESTED),
    "columns": program(csv_columns_list, TABLE),
    "shortest_ways": program(dijkstra, ROADS, 0, 100),
    "maze": program(bfs_grid, MAZE, 1, 2),
    "particles": program(particles, 20, 30),
    "union_find": program(union_find, PAIRS, 100),
    "order_of_needs": program(topological, NEEDS),
    "methods_of_texts": program(string_methods, LINES),
    "matrix_chain": program(matrix_chain, [5 + x for x in drawn(3, 25, 40)]),
    "mandelbrot": program(mandelbrot, 24, 16, 50),
}
