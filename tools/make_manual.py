"""Write the generated pages of the manual: `python tools/make_manual.py [--check]`.

docs/manual/commands.md is made of the parsers of the command line, docs/manual/json.md of the
schemas of what `--json` prints.  `--check` writes nothing and fails if they are out of date.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from rushlight.cli.parser import COMMANDS, all_parsers
from rushlight.cli.schemas import SCHEMAS

FOLDER = ROOT / "docs" / "manual"


def _name(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    taken = ""
    if action.choices is not None and action.metavar is None:
        taken = f" {{{','.join(map(str, action.choices))}}}"
    elif action.nargs != 0:
        taken = f" {action.metavar or action.dest.upper()}"
    return ", ".join(f"`{option}{taken}`" for option in action.option_strings)


def _help(action: argparse.Action) -> str:
    text = (action.help or "").replace("|", "\\|")
    if not action.option_strings and action.choices is not None:
        text = " or ".join(f"`{choice}`" for choice in action.choices)
    return text


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"\n## rushlight {name}\n"
    yield str(parser.description or COMMANDS[name]) + "\n"
    yield "| argument | |\n|---|---|"
    for action in parser._actions:
        if "--help" not in action.option_strings:
            yield f"| {_name(action)} | {_help(action)} |"


def commands_text() -> str:
    """The page of all commands."""
    lines = [
        "# Commands\n",
        "Made of the parsers by tools/make_manual.py. `rushlight COMMAND --help` says the same.\n",
        "Exit status: 0 all is well; 1 the program under the tool has errors, or two archives "
        "differ; 2 the tool was called wrongly or cannot read what it was given. `audit` has 3 for "
        "an archive that would reach outside.\n",
        "| command | what it does |\n|---|---|",
        *(f"| [`{name}`](#rushlight-{name}) | {line} |" for name, line in COMMANDS.items()),
    ]
    for name, parser in all_parsers().items():
        lines.extend(_command(name, parser))
    return "\n".join(lines) + "\n"


def json_text() -> str:
    """The page of the schemas."""
    parts = [
        "# What --json prints\n",
        "Made by tools/make_manual.py from rushlight/cli/schemas.py, which the tests hold every "
        "command to.\n",
        "Each line of the output is one JSON object, printed as soon as it is known. Errors go to "
        "standard error, and the exit status is the same as without `--json`. The schemas below "
        "([JSON Schema](https://json-schema.org), draft 2020-12) describe a line. Names may be "
        "added later; none is taken away or changes its meaning without a line in the changelog.\n",
    ]
    for name, schema in SCHEMAS.items():
        parts.append(f"## {name}\n\n```json\n{json.dumps(schema, indent=1)}\n```\n")
    return "\n".join(parts)


def main() -> int:
    """Write the pages, or compare them."""
    pages = {"commands.md": commands_text(), "json.md": json_text()}
    stale = []
    for name, text in pages.items():
        file = FOLDER / name
        if "--check" not in sys.argv:
            file.write_text(text, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"out of date: {', '.join(stale)}; run tools/make_manual.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
