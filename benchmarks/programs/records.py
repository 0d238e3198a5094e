"""NamedTuples, enumerations, values that may be None, modules with state, texts of numbers.

PyTorch reads the fields of NamedTuples as they are, so annotations are no texts here.
"""

from enum import Enum
from typing import Dict, List, NamedTuple, Optional, Tuple

import rushlight as torch


class Token(NamedTuple):
    kind: str
    text: str
    place: int


class Beam(NamedTuple):
    score: float
    words: List[int]


class State(Enum):
    OUTSIDE = 0
    WORD = 1
    NUMBER = 2


def tokens(text: str) -> List[Token]:
    found: List[Token] = []
    at = 0
    while at < len(text):
        start = at
        if text[at].isdigit():
            while at < len(text) and text[at].isdigit():
                at += 1
            found.append(Token("number", text[start:at], start))
        elif text[at].isalpha():
            while at < len(text) and text[at].isalnum():
                at += 1
            found.append(Token("name", text[start:at], start))
        else:
            at += 1
            if not text[start].isspace():
                found.append(Token("mark", text[start], start))
    return found


def changes_of_state(text: str) -> Tuple[int, int]:
    state = State.OUTSIDE
    changes = 0
    numbers = 0
    for letter in text:
        after = State.OUTSIDE
        if letter.isdigit():
            after = State.WORD if state == State.WORD else State.NUMBER
        elif letter.isalpha():
            after = State.WORD
        if after != state:
            changes += after.value + 1
            if after == State.NUMBER:
                numbers += 1
        state = after
    return changes, numbers


def way_back(edges: List[Tuple[int, int]], count: int, goal: int) -> List[int]:
    parents: List[Optional[int]] = []
    for _ in range(count):
        parents.append(None)
    for _ in range(3):
        for one, other in edges:
            if other != 0 and parents[other] is None:
                if one == 0 or parents[one] is not None:
                    parents[other] = one
    path: List[int] = []
    where: Optional[int] = goal
    for _ in range(count):
        if where is not None:
            path.append(where)
            where = parents[where]
    return path


def beams(scores: List[List[float]], width: int) -> Beam:
    kept = [Beam(0.0, [0])]
    for row in scores:
        ranked: List[Tuple[float, int, int]] = []
        for number in range(len(kept)):
            for word in range(len(row)):
                ranked.append((kept[number].score + row[word], number, word))
        ranked.sort(reverse=True)
        after: List[Beam] = []
        for score, number, word in ranked[:width]:
            after.append(Beam(score, kept[number].words + [word]))
        kept = after
    return kept[0]


def report(names: List[str], values: List[float]) -> str:
    lines: List[str] = []
    for i, name in enumerate(names):
        share = values[i] / 4
        lines.append(f"{i}: {name.rjust(8)} " + "{} of {}".format(share, values[i]))
    return "\n".join(lines)


class Words(torch.nn.Module):
    """A vocabulary of several thousand words, as tokenizers have."""

    numbers: Dict[str, int]

    def __init__(self, size: int) -> None:
        super().__init__()
        self.numbers = {f"word{i}": i for i in range(size)}
        self.unknown = size

    def forward(self, text: str) -> List[int]:
        found: List[int] = []
        for word in text.split(" "):
            found.append(self.numbers[word] if word in self.numbers else self.unknown)
        return found


class Totals(torch.nn.Module):
    """Counts that are kept from call to call."""

    counts: Dict[str, int]
    last: Optional[str]

    def __init__(self) -> None:
        super().__init__()
        self.counts = {}
        self.last = None

    def forward(self, words: List[str]) -> int:
        repeated = 0
        for word in words:
            last = self.last
            if last is not None and last == word:
                repeated += 1
            self.counts[word] = self.counts.get(word, 0) + 1
            self.last = word
        return repeated


SOURCE = "def area(w3, h): return (w3 * h + 250) / 2 # of a box\n" * 12
EDGES = [(i * 7 % 150, (i * 11 + 5) % 150) for i in range(600)]
SCORES = [[float((i * 37 + j * 11) % 29) for j in range(24)] for i in range(12)]
NAMES = [f"item{i}" for i in range(60)]
VALUES = [i * 0.5 + 0.25 for i in range(60)]  # whose texts are the same everywhere
TEXT = " ".join(f"word{i * 31 % 9000}" for i in range(250))
REPEATED = [f"w{i * i // 7 % 40}" for i in range(300)]

PROGRAMS = {
    "tokens": lambda: (tokens, torch.jit.script(tokens), (SOURCE,)),
    "changes_of_state": lambda: (
        changes_of_state,
        torch.jit.script(changes_of_state),
        (SOURCE,),
    ),
    "way_back": lambda: (way_back, torch.jit.script(way_back), (EDGES, 150, 149)),
    "beams": lambda: (beams, torch.jit.script(beams), (SCORES, 5)),
    "report": lambda: (report, torch.jit.script(report), (NAMES, VALUES)),
    "words": lambda: (Words(8000), torch.jit.script(Words(8000)), (TEXT,)),
    "totals": lambda: (Totals(), torch.jit.script(Totals()), (REPEATED,)),
}
