"""A profile as one page of HTML: a flame graph that opens by itself, and tables below it.

The page loads nothing and sends nothing, which its policy says, too.  Frames are nested elements,
as wide as their times, so that it can be read without its script; the script enlarges a frame that
is clicked and marks those that a search finds.  Names come from programs that nobody need trust:
all texts are escaped, and the script handles text alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Final

from .tables import Told, island_text, stretch_text, time_text

__all__ = ["page"]

NARROWEST: Final = 0.0005
"""The share of the whole below which a frame is left out: it would be no pixel wide."""


def page(data: Told) -> str:
    """The page of a profile's plain values (`Profile.data`); these are in it as JSON as well."""
    tree = data["tree"]
    whole = tree["us"] or 1.0
    told = (
        f"{time_text(data['usual_us'])} a call, {time_text(data['first_us'])} the first; below: "
        f"one call operator by operator on the machine, {time_text(data['timed_us'])}"
    )
    parts = [
        _HEAD.replace("TITLE", escape(f"Profile of {data['name']}")),
        f"<h1>{escape(str(data['name']))}</h1><p>{escape(told)}</p>",
        '<p><input id="search" type="search" placeholder="search" aria-label="search"> '
        '<button id="reset" type="button">whole</button> <output id="found"></output></p>',
        '<div id="flame">',
        *_frame(tree, whole, whole),
        "</div>",
        *_functions(data["functions"]),
        *_sums("operator", data["operators"], whole),
        *_sums("line", data["lines"], whole),
        *_sums("module", data["modules"], whole),
        f'<script type="application/json" id="data">{_script_text(data)}</script>',
        _TAIL,
    ]
    return "\n".join(parts) + "\n"


def _script_text(data: Mapping[str, object]) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(data).replace("<", "\\u003c").replace("&", "\\u0026")


def _frame(frame: Told, outer: float, whole: float) -> Iterator[str]:
    """A frame, as wide as its share of the one around it, and those inside it."""
    width = 100 * frame["us"] / outer if outer else 100
    told = " · ".join(
        each
        for each in (
            frame["name"],
            frame["place"],
            f"module {frame['module']}" if frame["module"] else "",
            f"{time_text(frame['us'])} ({100 * frame['us'] / whole:.1f} %)",
            f"{frame['calls']:g} calls" if frame["calls"] else "",
        )
        if each
    )
    yield (
        f'<div class="frame {frame["kind"]}" style="width:{width:.3f}%">'
        f'<b tabindex="0" title="{escape(told)}">{escape(frame["name"])}</b><div class="inside">'
    )
    for each in frame["inside"]:
        if each["us"] >= NARROWEST * whole:
            yield from _frame(each, frame["us"], whole)
    yield "</div></div>"


def _functions(rows: Sequence[Told]) -> Iterator[str]:
    yield "<h2>Functions</h2>"
    names = ("function", "calls", "tier", "why no plan", "why not native")
    keys = ("name", "calls", "tier", "not_plan", "not_native")
    yield from _table(names, [[str(row[key]) for key in keys] for row in rows])
    for row in rows:
        for stretch in row["stretches"]:
            yield f"<p>{escape(stretch_text(stretch))}</p>"
        for island in row["islands"]:
            yield f"<p>{escape(island_text(island))}</p>"


def _sums(what: str, rows: Sequence[Told], whole: float) -> Iterator[str]:
    yield f"<h2>By {what}</h2>"
    cells = [
        [
            time_text(row["us"]),
            f"{100 * row['us'] / whole:.1f} %",
            f"{row['calls']:g}",
            row["name"] or "(root)",
            row.get("text", ""),
        ]
        for row in rows
    ]
    yield from _table(("time", "share", "calls", what, ""), cells)


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "<table><thead><tr>" + "".join(f"<th>{escape(each)}</th>" for each in names)
    yield "</tr></thead><tbody>"
    for row in rows:
        yield "<tr>" + "".join(f"<td>{escape(each)}</td>" for each in row) + "</tr>"
    yield "</tbody></table>"


_HEAD: Final = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>TITLE</title>
<style>
body { font: 14px system-ui, sans-serif; margin: 1.5em; color: #222; background: #fff }
h1 { font-size: 1.3em } h2 { font-size: 1.1em; margin-top: 1.5em }
.inside { display: flex; align-items: flex-start }
.frame { min-width: 0; flex: 0 0 auto; overflow: hidden; box-sizing: border-box }
.frame.hidden { display: none }
.frame b { display: block; font: 12px/18px ui-monospace, monospace; white-space: nowrap;
  overflow: hidden; text-overflow: clip; padding: 0 3px; cursor: pointer; border: 1px solid #fff;
  border-width: 0 1px 1px 0; box-sizing: border-box }
.function > b { background: #f6c177 } .line > b { background: #f3dfa2 }
.operator > b { background: #ea9d7c } .frame > b.match { background: #9b8fe8 }
table { border-collapse: collapse } th { text-align: left }
td, th { padding: 2px 12px 2px 0; font: 13px ui-monospace, monospace; vertical-align: top }
</style></head><body>
"""

_TAIL: Final = """<script>
"use strict";
const flame = document.getElementById("flame");
const found = document.getElementById("found");
const frames = [...flame.querySelectorAll(".frame")];
const widths = new Map(frames.map(each => [each, each.style.width]));
function reset() {
  for (const each of frames) {
    each.classList.remove("hidden");
    each.style.width = widths.get(each);
  }
}
function enlarge(frame) {
  reset();
  for (let each = frame; each !== flame; each = each.parentElement.closest(".frame, #flame")) {
    each.style.width = "100%";
    for (const other of each.parentElement.children) {
      if (other !== each) other.classList.add("hidden");
    }
  }
}
function chosen(event) {
  const frame = event.target.closest(".frame");
  if (frame) enlarge(frame);
}
flame.addEventListener("click", chosen);
flame.addEventListener("keydown", event => { if (event.key === "Enter") chosen(event) });
document.getElementById("reset").addEventListener("click", reset);
document.getElementById("search").addEventListener("input", event => {
  const wanted = event.target.value.toLowerCase();
  let count = 0;
  for (const each of frames) {
    const name = each.firstElementChild;
    const is = wanted !== "" && name.title.toLowerCase().includes(wanted);
    name.classList.toggle("match", is);
    count += is;
  }
  found.textContent = wanted === "" ? "" : count + " found";
});
</script></body></html>"""
