"""`rushlight completions`: what has a shell complete commands, options and their words.

The scripts are made of the parsers, so that they are never out of date; they hold all words, and
call nothing when somebody completes.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Final

from .parser import COMMANDS, all_parsers
from .speech import tell

__all__ = ["execute"]


def execute(arguments: argparse.Namespace) -> int:
    """Run the command."""
    tell("\n".join(_SHELLS[arguments.shell](all_parsers())))
    return 0


_Parsers = dict[str, argparse.ArgumentParser]


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.option_strings]


def _words_of(parser: argparse.ArgumentParser) -> list[str]:
    """What may stand where an argument is wanted, besides files: words to choose from."""
    found = [a.choices for a in parser._actions if not a.option_strings and a.choices is not None]
    return [str(word) for choices in found for word in choices]


def _bash(parsers: _Parsers) -> Iterator[str]:
    yield "_rushlight() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""'
    yield "  if [ $COMP_CWORD -eq 1 ]; then"
    yield f'    words="{" ".join(COMMANDS)} --help --version"'
    yield "  else"
    yield '    case "${COMP_WORDS[1]} $before" in'
    for name, parser in parsers.items():
        for action in _options(parser):
            if action.choices is not None:
                for option in action.option_strings:
                    chosen = " ".join(map(str, action.choices))
                    yield f'      "{name} {option}") words="{chosen}" ;;'
    yield "    esac"
    yield '    if [ -z "$words" ]; then'
    yield '      case "${COMP_WORDS[1]}" in'
    for name, parser in parsers.items():
        options = [option for action in _options(parser) for option in action.option_strings]
        yield f'        {name}) words="{" ".join([*_words_of(parser), *options])}" ;;'
    yield "      esac"
    yield "    fi"
    yield "  fi"
    yield '  COMPREPLY=($(compgen -W "$words" -- "$word"))'
    yield "}"
    yield "complete -o default -o bashdefault -F _rushlight rushlight"


_LONGEST: Final = 80
"""Letters of a text beside a word, at most."""


def _plain(text: str | None) -> str:
    """A help text without what shells read: one short sentence."""
    sentence = (text or "").split(";")[0]
    head = sentence.partition(":")[0]
    words = re.sub(r"[^\w .,;/()%-]", "", head if " " in head else sentence)
    if len(words) <= _LONGEST:
        return words
    comma = words.rfind(",", 0, _LONGEST)
    return words[: comma if comma > _LONGEST // 2 else words.rfind(" ", 0, _LONGEST)]


def _zsh(parsers: _Parsers) -> Iterator[str]:
    yield "#compdef rushlight"
    yield "_rushlight() {"
    yield "  local -a commands"
    yield "  commands=("
    for name, line in COMMANDS.items():
        yield f"    '{name}:{_plain(line)}'"
    yield "  )"
    yield "  if (( CURRENT == 2 )); then _describe command commands; return; fi"
    yield "  local command=$words[2]"
    yield "  shift words; (( CURRENT-- ))"
    yield "  case $command in"
    for name, parser in parsers.items():
        parts = []
        for action in _options(parser):
            for option in action.option_strings:
                told = f"'*{option}[{_plain(action.help)}]"
                if action.choices is not None:
                    told += f":word:({' '.join(map(str, action.choices))})"
                elif action.nargs != 0:
                    told += ":word:_files"
                parts.append(told + "'")
        words = _words_of(parser)
        parts.append(f"'*:word:({' '.join(words)})'" if words else "'*:file:_files'")
        yield f"    {name}) _arguments {' '.join(parts)} ;;"
    yield "  esac"
    yield "}"
    # in a folder of $fpath the file is loaded when the function is called first
    yield 'if [ "$funcstack[1]" = "_rushlight" ]; then'
    yield '  _rushlight "$@"'
    yield "else"
    yield "  compdef _rushlight rushlight"
    yield "fi"


def _fish(parsers: _Parsers) -> Iterator[str]:
    for name, line in COMMANDS.items():
        yield (f"complete -c rushlight -n __fish_use_subcommand -f -a {name} -d '{_plain(line)}'")
    for name, parser in parsers.items():
        head = f"complete -c rushlight -n '__fish_seen_subcommand_from {name}'"
        if words := _words_of(parser):
            yield f"{head} -f -a '{' '.join(words)}'"
        for action in _options(parser):
            names = " ".join(
                f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
                for option in action.option_strings
            )
            takes = ""
            if action.choices is not None:
                takes = f" -x -a '{' '.join(map(str, action.choices))}'"
            elif action.nargs != 0:
                takes = " -r"
            yield f"{head} {names}{takes} -d '{_plain(action.help)}'"


_SHELLS: Final = {"bash": _bash, "zsh": _zsh, "fish": _fish}
