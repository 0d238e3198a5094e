"""Compare random programs in rushlight and in real torch, in every way to run them.

    python tools/fuzz_programs.py PYTHON_WITH_TORCH [--count N] [--seed S] [--families NAMES]

Values, types, strides, printed text, the arguments as a call leaves them, and the class and text of
errors must agree.  A program that differs is cut down and shown, unless `DEVIATIONS` explains it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import programs
from fuzz_all import FAMILIES
from fuzz_deviations import LOOSER, explained, loosened
from fuzz_grammar import Program, random_program
from fuzz_worker import CHANGED

A_BATCH = 200
SECONDS = 600
_BOTH = ("torch", "rushlight")

Found = dict[str, Any]


class Sides:
    """The two interpreters; each batch is one process a side."""

    def __init__(self, torch: str) -> None:
        self.pythons = {"torch": torch, "rushlight": sys.executable}
        self.runs = 0

    def results(
        self, texts: Sequence[str], names: Sequence[str] = _BOTH
    ) -> list[tuple[Found, ...]]:
        """What both, or those named, make of programs."""
        each = [self._side(name, list(texts)) for name in names]
        return list(zip(*each, strict=True))

    def _side(self, name: str, texts: list[str]) -> list[Found]:
        """One side's results; a program that ends the process is told, and those after it run."""
        found: list[Found] = []
        while len(found) < len(texts):
            with tempfile.TemporaryDirectory() as folder:
                given, wanted = Path(folder, "programs.json"), Path(folder, "results.json")
                given.write_text(json.dumps(texts[len(found) :]), encoding="utf-8")
                worker = str(ROOT / "tools" / "fuzz_worker.py")
                command = [self.pythons[name], worker, name, str(given), str(wanted)]
                ended = "was stopped"
                try:
                    done = subprocess.run(
                        command, capture_output=True, timeout=SECONDS, check=False
                    )
                    ended = f"ended with {done.returncode}"
                except subprocess.TimeoutExpired:
                    pass
                lines = wanted.read_text(encoding="utf-8").splitlines() if wanted.exists() else []
            found += [json.loads(line) for line in lines]
            if len(found) < len(texts):
                found.append({"scripted": [{"raises": ["crash", ended, ""]}]})
        return found


def difference(torch: Found, own: Found) -> str:
    """Where two results of one program differ first; empty if they agree.

    Torch's own ways may disagree (its optimizer changes some results): each is accepted.
    """
    accepted = [found for way, found in torch.items() if way not in CHANGED]
    if "INTERNAL ASSERT FAILED" in json.dumps(accepted):
        return ""  # a fault of torch's
    torch = {way: found for way, found in torch.items() if "INTERNAL A" not in json.dumps(found)}
    if "raises" in accepted[0][0] and accepted[0][0]["raises"][0] == "crash":
        return ""
    for way, results in own.items():
        if way in CHANGED and way not in torch:
            continue
        refused = torch.get(way, [{}])[0].get("refused")
        if refused and any(_told(result) == _neutral(refused[1]) for result in results):
            continue  # an archive that torch cannot load fails here when it is called
        if refused and any(_agree(each[: len(results)], results[: len(each)]) for each in accepted):
            return f"{way}\n  torch refuses {refused}\n  rushlight {_text(results)}"
        possible = [torch.get(way, [])] if way in CHANGED else accepted
        if not any(_agree(wanted, results) for wanted in possible):
            for wanted, got in zip(
                torch[way if way in CHANGED else "scripted"], results, strict=False
            ):
                if not _same(wanted, got):
                    return f"{way}\n  torch     {_text(wanted)}\n  rushlight {_text(got)}"
            return f"{way}\n  torch     {_text(accepted)}\n  rushlight {_text(results)}"
    return ""


def why(source: str, told: str, torch: Found, own: Found) -> str:
    """Why a difference is meant; empty if it is not."""
    reason = explained(source, told)
    if reason:
        return reason
    reasons = []
    for program, where, change, reason in LOOSER:
        if re.search(program, source) and re.search(where, told):
            if not difference(loosened(torch, change), loosened(own, change)):
                return reason
            torch, own = loosened(torch, change), loosened(own, change)
            reasons.append(reason)
            if not difference(torch, own):
                return "; ".join(reasons)
    if not _agree(torch["scripted"], torch.get("again", torch["scripted"])):
        return "torch gives another result where the same calls are made again"
    return ""


def races(sides: Sides, source: str, own: Found) -> str:
    """Why torch's results may differ: a task and its caller touch the same; empty if they do not.

    What rushlight gave must be among what torch gives when it runs the program again and again.
    """
    if "fork(" not in source:
        return ""
    seen: Found = {}
    for number, torch in enumerate(sides.results([source] * 10, ["torch"])):
        seen |= {way if way in CHANGED else f"{way} {number}": r for way, r in torch[0].items()}
    if difference({**seen, "scripted": seen["scripted 0"]}, own):
        return ""
    return "torch runs a task beside its caller, and which of them is first differs between runs"


def _told(result: Found) -> str:
    """What an error says, whose class may be a subclass of torch's."""
    found = result.get("refused") or result.get("raises") or ("", "")
    return _neutral(found[1])


def _agree(wanted: list[Found], got: list[Found]) -> bool:
    return len(wanted) == len(got) and all(map(_same, wanted, got))


def _same(wanted: Any, got: Any) -> bool:
    """Whether results agree: texts and elements of tensors within rounding, all else exactly."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        return wanted.keys() == got.keys() and all(_same(wanted[k], got[k]) for k in wanted)
    if isinstance(wanted, list) and isinstance(got, list):
        return len(wanted) == len(got) and all(map(_same, wanted, got))
    if isinstance(wanted, str) and isinstance(got, str):
        return programs.same(_neutral(wanted), _neutral(got))
    return type(wanted) is type(got) and wanted == got


def _neutral(text: str) -> str:
    """A text without what depends on the process."""
    text = re.sub(r" \(of Python compilation unit at: \w+\)", "", text)
    text = re.sub(r"program\d+", "program", text).removesuffix(":")
    return re.sub(r"0x[0-9a-f]{6,}|rushlight(?=\.)", "torch", text)


def _text(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False)[:900]


def smaller(sides: Sides, program: Program, most: int = 8) -> Program:
    """The program without statements that the difference does not need."""
    for _ in range(most):
        tries = [program.without(n) for n in range(len(program.statements))]
        if not tries:
            break
        results = sides.results([t.source for t in tries])
        wrong = [t for t, r in zip(tries, results, strict=True) if _still(*r)]
        if not wrong:
            break
        program = min(wrong, key=lambda t: len(t.source))
    return program


def _still(torch: Found, own: Found) -> bool:
    refused = "refused" in torch["scripted"][0]
    return not refused and bool(difference(torch, own))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("python", help="an interpreter that has torch")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--families", default=",".join(FAMILIES))
    parser.add_argument("--shown", type=int, default=10, help="how many differences are cut down")
    options = parser.parse_args()
    sides, counts, left = Sides(options.python), Counter[str](), options.shown
    by_family = Counter[tuple[str, str]]()
    families = options.families.split(",")
    chosen = [(families[n % len(families)], options.seed * 10**6 + n) for n in range(options.count)]
    for start in range(0, len(chosen), A_BATCH):
        batch = [random_program(*each) for each in chosen[start : start + A_BATCH]]
        results = sides.results([program.source for program in batch])
        for each, program, (torch, own) in zip(chosen[start:], batch, results, strict=False):
            counts["refused by torch"] += "refused" in torch["scripted"][0]
            counts["torch crashes or has no end"] += "crash" in torch["scripted"][0].get(
                "raises", ()
            )
            told = difference(torch, own)
            body = program.source.removeprefix(FAMILIES[program.family].header)
            reason = why(body, told, torch, own) if told else ""
            if told and not reason:
                reason = races(sides, program.source, own)
            what = "explained: " + reason if reason else "differ" if told else "equal"
            counts[what] += 1
            by_family[each[0], what] += 1
            if told and not reason:
                if left > 0 and _still(torch, own):
                    program = smaller(sides, program)
                    told = difference(*sides.results([program.source])[0]) or told
                left -= 1
                body = program.source.removeprefix(FAMILIES[program.family].header)
                print(f"--- {each[0]} {each[1]}\n{body}\n{told}\n", flush=True)
    for key, count in counts.most_common():
        print(f"{count:6} {key}")
    for (family, what), count in sorted(by_family.items()):
        print(f"{family:12} {count:6} {what}")
    return 1 if counts["differ"] else 0


if __name__ == "__main__":
    sys.exit(main())
