"""`rushlight view`: pages, SVG and DOT of archives, and what of a file may not get into them."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import rushlight as torch
from rushlight.__main__ import main

nn = torch.nn
TIMES = "\N{MULTIPLICATION SIGN}"
PAGE = Path(__file__).parents[2] / "rushlight" / "pictures" / "page"


class Gate(nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, x: torch.Tensor, steps: int) -> torch.Tensor:
        parts: list[torch.Tensor] = []
        for _ in range(steps):
            x = self.linear(x)
            parts.append(x)
        x = x.relu() if steps > 2 else x.sigmoid() * 2
        return torch.cat([x, torch.cat(parts)])


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate(4)
        self.head = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.gate(x, 3))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("view") / "m.pt"
    torch.manual_seed(0)
    torch.jit.script(Model()).save(path)
    return path


class Elements(HTMLParser):
    """The elements of a page in order, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.texts: list[str] = []
        self.policy = self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        found = dict(attrs)
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        if self.inside in ("script", "style", "title"):
            self.texts.append(data)

    @property
    def data(self) -> Any:
        return json.loads(next(text for text in self.texts if text.startswith('{"models"')))


def page(tmp_path: Path, *words: object) -> tuple[str, Elements]:
    target = tmp_path / "page.html"
    assert main(["view", *map(str, words), "-o", str(target), "--no-open", "--force"]) == 0
    text = target.read_text(encoding="utf-8")
    return text, Elements(text)


def boxes(area: Any) -> list[Any]:
    found = []
    for box in area["boxes"]:
        found.append(box)
        for inner in box["areas"]:
            found += boxes(inner)
    return found


def drawing(model: Any, path: str) -> Any:
    return model["drawings"][model["methods of"][path]["forward"]]


def test_a_page_holds_modules_graphs_code_and_weights(archive: Path, tmp_path: Path) -> None:
    model = page(tmp_path, archive)[1].data["models"][0]
    assert [m["path"] for m in model["modules"]["modules"]] == ["gate", "head"]
    head = model["modules"]["modules"][1]
    weight = next(t for t in head["tensors"] if t["name"] == "weight")
    state = torch.jit.load(archive).state_dict()["head.weight"]
    assert weight["shape"] == [2, 4]
    assert sum(weight["bars"]) == weight["looked at"] == 8
    assert weight["min"] == pytest.approx(state.min().item())
    assert weight["mean"] == pytest.approx(state.mean().item())
    assert weight["deviation"] == pytest.approx(state.std(correction=0).item())
    root = boxes(drawing(model, "")["area"])
    assert [box["lines"][0] for box in root] == ["gate: Gate", "head: Linear"]
    assert [box["owner"] for box in root] == ["gate", "head"]
    gate = drawing(model, "gate")
    kinds = {box["kind"]: box for box in boxes(gate["area"])}
    assert [area["title"] for area in kinds["prim::If"]["areas"]] == ["then", "else"]
    loop = kinds["prim::Loop"]["areas"][0]
    assert "aten::append" in [box["kind"] for box in loop["boxes"]]
    source, line = kinds["aten::relu"]["at"]
    assert "torch.relu(" in model["sources"][source]["lines"][line - 1]


def test_who_reads_what_a_loop_has_changed_comes_after_the_loop(archive: Path) -> None:
    from rushlight.ir.functions.define import graph_of
    from rushlight.pictures.drawing import Drawing
    from rushlight.pictures.rows import rows_of

    function = torch.jit.load(archive).gate._c.cls.method("forward")
    area = Drawing(graph_of(function), function.owner).area
    kinds = [box.node.kind for box in area.boxes]
    first = len(area.inputs)
    found = rows_of(area)
    ends = {
        (e.source - first, e.target - first)
        for e in found.edges
        if e.value in area.boxes[0].outputs
    }
    assert kinds[0] == "prim::ListConstruct"
    assert (kinds.index("prim::Loop"), kinds.index("aten::cat")) in ends


def test_rows_lead_down_and_bends_stand_between(archive: Path) -> None:
    from rushlight.pictures.drawing import Area, Picture
    from rushlight.pictures.rows import rows_of

    picture = Picture()
    picture.draw(torch.jit.load(archive)._c.cls.method("forward"))
    areas: list[Area] = []
    for each in picture.drawings:
        areas += [each.area, *(area for box in each.boxes for area in box.areas)]
    assert len(areas) > 5
    for area in areas:
        found = rows_of(area)
        row = {item: number for number, items in enumerate(found.rows) for item in items}
        assert len(row) == sum(map(len, found.rows))
        for edge in found.edges:
            way = [row[item] for item in (edge.source, *edge.bends, edge.target)]
            assert way == list(range(way[0], way[0] + len(way)))


def test_the_run_tells_sizes_in_each_call(archive: Path, tmp_path: Path) -> None:
    model = page(tmp_path, archive, "--input", "5,4")[1].data["models"][0]
    assert model["failure"] is None
    assert model["ran"] == "forward"
    root, gate = drawing(model, ""), drawing(model, "gate")
    (inside, _) = root["area"]["boxes"]
    told = model["contexts"]
    assert told[""][str(inside["outputs"][0])] == f"float32 20{TIMES}4"
    context = told[f"/{inside['number']}"]
    by_kind = {box["kind"]: box for box in boxes(gate["area"])}
    assert context[str(by_kind["prim::Loop"]["outputs"][0])] == f"float32 5{TIMES}4"
    assert context[str(by_kind["aten::relu"]["outputs"][0])] == f"float32 5{TIMES}4"
    assert str(by_kind["aten::sigmoid"]["outputs"][0]) not in context  # that way was not taken
    (call,) = (box for box in boxes(gate["area"]) if box["call"] is not None)
    assert f"/{inside['number']}/{call['number']}" in told


def test_a_run_that_fails_is_told_and_the_page_is_there(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = page(tmp_path, archive, "--input", "5,7")[1].data["models"][0]
    assert "mat1 and mat2" in model["failure"]
    assert "mat1 and mat2" in capsys.readouterr().err
    assert model["contexts"][""]["0"] == f"float32 5{TIMES}7"


def test_two_archives_are_compared(archive: Path, tmp_path: Path) -> None:
    class Other(Model):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.gate(x, 3)).tanh()

    other = Other()
    other.load_state_dict(torch.jit.load(archive).state_dict())
    with torch.no_grad():
        other.head.bias[1] += 0.5
    torch.jit.script(other).save(tmp_path / "other.pt")
    data = page(tmp_path, archive, tmp_path / "other.pt")[1].data
    first, second = data["models"]
    assert [m["name"] for m in data["models"]] == ["m.pt", "other.pt"]
    marks = {m["path"]: m.get("change") for m in first["modules"]["modules"]}
    assert marks == {"gate": None, "head": "changed"}
    bias = next(t for t in second["modules"]["modules"][1]["tensors"] if t["name"] == "bias")
    assert bias["largest difference"] == pytest.approx(0.5)
    assert bias["differ"] == 1
    changed = [
        (b["kind"], b["change"]) for b in boxes(drawing(second, "")["area"]) if "change" in b
    ]
    assert changed == [("aten::tanh", "added")]
    assert any(
        "+" in line and "tanh" in line for f in data["changes"]["code"] for line in f["lines"]
    )


def test_an_archive_does_not_differ_from_itself(archive: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.pt"
    shutil.copy(archive, copy)
    text, found = page(tmp_path, archive, copy)
    assert found.data["changes"] == {"code": []}
    assert '"change":' not in text


ATTACKS = (
    "</script><script>document.title='taken'</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]><svg onload=alert(1)>",
    "\" onload=alert(1) x='",
    "&lt;script&gt;",
    "${document} $data $policy",
    "\u202emoc.live\u2066 \u2028 \x07 \ufffe",
)


def attacked(folder: Path, *texts: str) -> Path:
    """An archive whose names, constants and file name are such texts."""

    class Held(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, str]:
            return x + 1, WORDS

    source = "".join(f"    words.append({text!r})\n" for text in texts)
    unit = torch.jit.CompilationUnit(
        f"def f(x):\n    words = ['']\n{source}    return (x, words)\n"
    )
    unit.f.save(str(folder / "f.pt"))
    return folder / "f.pt"


WORDS = "harmless"


@pytest.mark.parametrize("form", ["page", "svg", "dot"])
def test_nothing_of_a_file_becomes_markup(form: str, tmp_path: Path) -> None:
    evil = tmp_path / '<img src=x onerror=alert(1)>&".pt'
    shutil.copy(attacked(tmp_path, *ATTACKS), evil)
    (tmp_path / "plain").mkdir()
    plain = attacked(tmp_path / "plain", *("x" for _ in ATTACKS))
    if form == "page":
        (bad, found), (_, usual) = page(tmp_path, evil), page(tmp_path, plain)
        assert found.tags == usual.tags
        assert len(found.texts) == len(usual.texts)
        lines = [box["texts"] for box in boxes(found.data["models"][0]["drawings"][0]["area"])]
        assert any("</script>" in text for texts in lines for _, text in texts)  # it is shown
        assert "\u202e" not in bad
        assert "\\u202e" not in bad
        return
    assert main(["view", str(evil), f"--{form}", "-o", str(tmp_path / "o")]) == 0
    text = (tmp_path / "o").read_text(encoding="utf-8")
    assert not set("\u202e\u2066\u2028\x07\ufffe") & set(text)
    if form == "svg":
        tags = {each.tag.rpartition("}")[2] for each in ET.fromstring(text).iter()}
        assert tags == {"svg", "title", "style", "g", "rect", "text", "path"}
        assert not any(
            name.startswith("on") for each in ET.fromstring(text).iter() for name in each.attrib
        )
    else:
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)  # without what stands in quotes
        assert not re.search(r"alert|script|onload|<", bare)


def test_the_page_runs_its_own_script_alone_and_asks_nothing_of_the_network(
    archive: Path, tmp_path: Path
) -> None:
    _, found = page(tmp_path, archive)
    assert found.policy.startswith("default-src 'none'; ")
    for inside in found.texts:
        if inside.startswith('{"models"') or "\n" not in inside:
            continue
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in found.policy
    names = {name for _, attributes in found.tags for name in attributes}
    assert not names & {"src", "href", "srcset", "action"}
    assert not [name for name in names if name.startswith("on")]
    own = "".join(path.read_text(encoding="utf-8") for path in sorted(PAGE.iterdir()))
    for way in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function("):
        assert way not in own
    assert "url(http" not in own
    assert "@import" not in own


def test_svg_shows_blocks_in_boxes_and_sizes(archive: Path, tmp_path: Path) -> None:
    target = tmp_path / "m.svg"
    words = ["view", str(archive), "--svg", "--depth", "2", "--input", "5,4", "-o", str(target)]
    assert main(words) == 0
    root = ET.fromstring(target.read_text(encoding="utf-8"))
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    for word in (
        "gate: Gate",
        "loop",
        "each round",
        "then",
        "else",
        "relu",
        f"20{TIMES}4",
        "return",
    ):
        assert word in texts
    assert main([*words[:4], "0", "-o", str(tmp_path / "closed.svg")]) == 0
    assert "relu" not in (tmp_path / "closed.svg").read_text(encoding="utf-8")


def test_dot_has_clusters_and_edges_between_things_that_are_there(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", str(archive), "--dot", "--depth", "1"]) == 0
    text = capsys.readouterr().out
    assert text.count("{") == text.count("}")
    nodes = set(re.findall(r"^ *(r[_\w]*) \[", text, re.MULTILINE))
    ends = set(re.findall(r"(r[_\w]*) -> (r[_\w]*)", text))
    assert ends
    assert all(end in nodes for pair in ends for end in pair)
    clusters = set(re.findall(r"subgraph (cluster_\w+)", text))
    assert set(re.findall(r"l(?:head|tail)=(\w+)", text)) <= clusters


def test_what_cannot_be_shown_is_refused(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refusal(*words: str) -> str:
        assert main(["view", *words]) == 2
        return capsys.readouterr().err

    assert "no such file" in refusal(str(tmp_path / "none.pt"))
    assert "compares two" in refusal(str(archive), str(archive), "--svg")
    assert "there is no method `backwards`" in refusal(
        str(archive), "--method", "backwards", "-o", str(tmp_path / "x.html"), "--no-open"
    )
    assert not (tmp_path / "x.html").exists()
    (tmp_path / "there.html").write_text("mine")
    assert "--force" in refusal(str(archive), "-o", str(tmp_path / "there.html"))
    assert (tmp_path / "there.html").read_text() == "mine"
    (tmp_path / "broken.pt").write_bytes(archive.read_bytes()[:300])
    assert refusal(str(tmp_path / "broken.pt"), "--no-open")


def test_a_program_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    @torch.jit.script
    def forever(x: torch.Tensor) -> torch.Tensor:
        while True:
            x = x + 1
        return x

    forever.save(str(tmp_path / "f.pt"))
    from rushlight.interpreter.bounds.guard import Bounds, Guard

    module = torch.jit.load(str(tmp_path / "f.pt"), trust="none")
    function = module._c.cls.method("forward")
    guard = function.guard
    assert isinstance(guard, Guard)
    guard.bounds = Bounds(instructions=1000, memory=1 << 28, seconds=20, output=1000)
    from rushlight.pictures.document import describe
    from rushlight.summary import inputs_without_data, without_data

    document, failure = describe(
        module._c, "f", inputs=inputs_without_data([3]), bare=without_data(module._c)
    )
    assert "instructions" in str(failure)
    assert document["contexts"][""][0] == "float32 3"


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def in_a_browser(file: Path) -> str:
    """The document that a browser makes of a page."""
    assert CHROMIUM is not None
    words = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    done = subprocess.run(
        [
            *(CHROMIUM, *words.split(), f"--user-data-dir={file.parent}"),
            *("--dump-dom", file.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout


PRESSED = """<script>
const told = [];
const keys = "t ? t Escape t ? ? / ArrowDown ArrowDown Enter";
for (const key of keys.split(" ")) {
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  const dark = document.documentElement.classList.contains("dark");
  const at = document.activeElement;
  told.push([key, dark, document.getElementById("keys").open, at.id || at.textContent]);
}
document.title = JSON.stringify(told);
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="there is no browser")
def test_keys_change_what_is_in_front(archive: Path, tmp_path: Path) -> None:
    """While the list of keys is open, keys only close it."""
    page(tmp_path, archive)
    file = tmp_path / "page.html"
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    text, policies = policy.subn("", file.read_text(encoding="utf-8"))
    assert policies == 1  # which would not let the test's script run
    file.write_text(text + PRESSED, encoding="utf-8")
    title = re.search(r"<title>(.*?)</title>", in_a_browser(file))
    assert title is not None
    pressed = json.loads(html.unescape(title.group(1)))
    assert [dark != pressed[0][1] for _, dark, _, _ in pressed[:5]] == [False] * 4 + [True]
    assert [at for at, (_, _, is_open, _) in enumerate(pressed) if is_open] == [1, 2, 5]
    assert pressed[7][3] == "search"
    rows = [where for *_, where in pressed[8:]]
    assert ["self" in rows[0], rows[1] == rows[0], rows[2] == rows[1]] == [True, False, True]


@pytest.mark.skipif(CHROMIUM is None, reason="there is no browser")
def test_a_browser_draws_what_svg_shows(archive: Path, tmp_path: Path) -> None:
    """The page's own layout puts boxes where that of `places.py` does."""
    page(tmp_path, archive, "--input", "5,4")
    shown = in_a_browser(tmp_path / "page.html")
    stage = re.search(r'<svg id="graph".*?</svg>', shown, re.DOTALL)
    assert stage is not None, shown
    assert (
        main(["view", str(archive), "--svg", "--input", "5,4", "-o", str(tmp_path / "m.svg")]) == 0
    )
    drawn = (tmp_path / "m.svg").read_text(encoding="utf-8")
    edges = [re.findall(r'<path d="([^"]*)" class="edge"', stage.group())]
    edges.append(re.findall(r'<path class="edge" d="([^"]*)"', drawn))
    numbers = [[list(map(float, re.findall(r"-?[\d.]+", d))) for d in side] for side in edges]
    assert len(numbers[0]) == len(numbers[1]) > 10
    for one, other in zip(*numbers, strict=True):
        assert len(one) == len(other)
    assert "each round" in stage.group()
    assert "float32" not in stage.group()
    assert f"20{TIMES}4" in stage.group()
