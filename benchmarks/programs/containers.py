"""Lists, dicts, strings and objects, as decoders and parsers use them."""

from __future__ import annotations

from typing import Dict, List, Tuple

import rushlight as torch


def edit_distance(a: str, b: str) -> int:
    row: List[int] = []
    for j in range(len(b) + 1):
        row.append(j)
    for i in range(len(a)):
        before = row[0]
        row[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            best = min(min(row[j] + 1, row[j + 1] + 1), before + cost)
            before = row[j + 1]
            row[j + 1] = best
    return row[-1]


def game_of_life(size: int, rounds: int) -> int:
    cells: List[List[int]] = []
    for i in range(size):
        line: List[int] = []
        for j in range(size):
            line.append(1 if (i * 7 + j * 13) % 5 < 2 else 0)
        cells.append(line)
    for _ in range(rounds):
        after: List[List[int]] = []
        for i in range(size):
            line: List[int] = []
            for j in range(size):
                near = 0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        if di != 0 or dj != 0:
                            near += cells[(i + di) % size][(j + dj) % size]
                alive = near == 3 or (near == 2 and cells[i][j] == 1)
                line.append(1 if alive else 0)
            after.append(line)
        cells = after
    total = 0
    for line in cells:
        total += sum(line)
    return total


@torch.jit.script
class Cache:
    def __init__(self, limit: int):
        self.limit = limit
        self.clock = 0
        self.values: Dict[int, int] = {}
        self.used: Dict[int, int] = {}
        self.hits = 0

    def get(self, key: int) -> int:
        self.clock += 1
        if key in self.values:
            self.hits += 1
            self.used[key] = self.clock
            return self.values[key]
        if len(self.values) >= self.limit:
            oldest = -1
            least = self.clock
            for other, when in self.used.items():
                if when < least:
                    least = when
                    oldest = other
            self.values.pop(oldest)
            self.used.pop(oldest)
        self.values[key] = key * key
        self.used[key] = self.clock
        return self.values[key]


def lru_cache(n: int) -> Tuple[int, int]:
    cache = Cache(16)
    total = 0
    key = 1
    for i in range(n):
        key = (key * 1103515245 + 12345) % 2147483648
        total += cache.get((key // 65536) % 24)
    return total, cache.hits


def priority_queue(n: int) -> int:
    heap: List[Tuple[int, int]] = []
    key = 7
    total = 0
    for i in range(n):
        key = (key * 1103515245 + 12345) % 2147483648
        heap.append((key % 1000, i))
        at = len(heap) - 1
        while at > 0:
            up = (at - 1) // 2
            if heap[at][0] < heap[up][0]:
                kept = heap[at]
                heap[at] = heap[up]
                heap[up] = kept
                at = up
            else:
                break
    while len(heap) > 0:
        first = heap[0]
        last = heap.pop()
        total = (total * 31 + first[0] + first[1]) % 1000003
        if len(heap) > 0:
            heap[0] = last
            at = 0
            while True:
                child = 2 * at + 1
                if child >= len(heap):
                    break
                if child + 1 < len(heap) and heap[child + 1][0] < heap[child][0]:
                    child += 1
                if heap[child][0] < heap[at][0]:
                    kept = heap[at]
                    heap[at] = heap[child]
                    heap[child] = kept
                    at = child
                else:
                    break
    return total


def parse_records(text: str) -> Tuple[int, int, List[str]]:
    """Nested lists of numbers and quoted words, as in JSON."""
    depth = 0
    deepest = 0
    total = 0
    words: List[str] = []
    at = 0
    while at < len(text):
        mark = text[at]
        if mark == "[":
            depth += 1
            deepest = max(deepest, depth)
        elif mark == "]":
            depth -= 1
        elif mark == '"':
            end = at + 1
            while text[end] != '"':
                end += 1
            words.append(text[at + 1 : end])
            at = end
        elif mark.isdigit():
            value = 0
            while at < len(text) and text[at].isdigit():
                value = value * 10 + ord(text[at]) - 48
                at += 1
            total += value * depth
            continue
        at += 1
    return deepest, total, words


def longest_common(a: List[int], b: List[int]) -> int:
    table: List[List[int]] = []
    for i in range(len(a) + 1):
        table.append([0] * (len(b) + 1))
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def merge_pairs(words: List[str], merges: int) -> List[str]:
    """Byte-pair merges: the commonest pair of neighbours becomes one, again and again."""
    tokens: List[List[str]] = []
    for word in words:
        letters: List[str] = []
        for letter in word:
            letters.append(letter)
        tokens.append(letters)
    found: List[str] = []
    for _ in range(merges):
        counts: Dict[str, int] = {}
        for letters in tokens:
            for i in range(len(letters) - 1):
                pair = letters[i] + " " + letters[i + 1]
                counts[pair] = counts.get(pair, 0) + 1
        best = ""
        most = 0
        for pair, count in counts.items():
            if count > most or (count == most and pair < best):
                best = pair
                most = count
        if most < 2:
            break
        parts = best.split(" ")
        found.append(best)
        for number in range(len(tokens)):
            letters = tokens[number]
            merged: List[str] = []
            i = 0
            while i < len(letters):
                if i + 1 < len(letters) and letters[i] == parts[0] and letters[i + 1] == parts[1]:
                    merged.append(letters[i] + letters[i + 1])
                    i += 2
                else:
                    merged.append(letters[i])
                    i += 1
            tokens[number] = merged
    return found


def breadth_first(edges: List[Tuple[int, int]], count: int) -> List[int]:
    near: Dict[int, List[int]] = {}
    for one, other in edges:
        if one not in near:
            empty: List[int] = []
            near[one] = empty
        near[one].append(other)
    distance = [-1] * count
    distance[0] = 0
    queue = [0]
    at = 0
    while at < len(queue):
        one = queue[at]
        at += 1
        if one in near:
            for other in near[one]:
                if distance[other] < 0:
                    distance[other] = distance[one] + 1
                    queue.append(other)
    return distance


def greedy_words(scores: List[List[float]], letters: str) -> str:
    """Decoding: the best letter of each step, repeats and blanks left out."""
    text = ""
    last = -1
    for row in scores:
        best = 0
        for i in range(1, len(row)):
            if row[i] > row[best]:
                best = i
        if best != last and best > 0:
            text += letters[best - 1]
        last = best
    return text


def overlapping(boxes: List[Tuple[float, float, float, float]], limit: float) -> List[int]:
    """Boxes, the first ones first, that overlap none that is kept by more than a share."""
    kept: List[int] = []
    for i in range(len(boxes)):
        a = boxes[i]
        is_kept = True
        for j in kept:
            b = boxes[j]
            width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
            height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
            both = width * height
            one = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both
            if both > limit * one:
                is_kept = False
                break
        if is_kept:
            kept.append(i)
    return kept


RECORDS = '[["tea", 12, [3, 4]], ["milk", 250, []], [[[7]], "end"]]' * 20
WORDS = "low lower newest widest lowest new wide slow slower newer".split() * 4
EDGES = [(i, (i * 7 + k * 3 + 1) % 200) for i in range(200) for k in range(4)]
SCORES = [[float((i * 37 + j * 11) % 29) for j in range(28)] for i in range(100)]
BOXES = [
    (float(i * 13 % 90), float(i * 29 % 90), float(i * 13 % 90 + 20), float(i * 29 % 90 + 15))
    for i in range(150)
]

PROGRAMS = {
    "edit_distance": lambda: (
        edit_distance,
        torch.jit.script(edit_distance),
        ("the quick brown fox jumps over" * 2, "a lazy dog sleeps under the moon" * 2),
    ),
    "game_of_life": lambda: (game_of_life, torch.jit.script(game_of_life), (24, 4)),
    "lru_cache": lambda: (lru_cache, torch.jit.script(lru_cache), (1000,)),
    "priority_queue": lambda: (priority_queue, torch.jit.script(priority_queue), (500,)),
    "parse_records": lambda: (parse_records, torch.jit.script(parse_records), (RECORDS,)),
    "longest_common": lambda: (
        longest_common,
        torch.jit.script(longest_common),
        ([i * 7 % 11 for i in range(80)], [i * 5 % 11 for i in range(80)]),
    ),
    "merge_pairs": lambda: (merge_pairs, torch.jit.script(merge_pairs), (WORDS, 10)),
    "breadth_first": lambda: (breadth_first, torch.jit.script(breadth_first), (EDGES, 200)),
    "greedy_words": lambda: (
        greedy_words,
        torch.jit.script(greedy_words),
        (SCORES, "abcdefghijklmnopqrstuvwxyz'"),
    ),
    "overlapping": lambda: (overlapping, torch.jit.script(overlapping), (BOXES, 0.2)),
}
