"""What records a call of an operator, or makes the node of one that a script noted, and what walks
back through it, written for its arguments.

They are made of one text for an overload and the types of its arguments, so that a call does
nothing but what its node needs: where tensors came from, what of them is kept, and the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...eager.calls import finish
from ...memory.quiet import QUIET, enter, leave
from ...memory.versions import owner_of, written
from ...table.grad_mode import ANOMALY, RUNNING, is_recording
from ...tensors.tape_port import MISSED
from ...tensors.tensor import Parameter, Tensor
from ..nodes.autograd import TURN, Saved, edge_of, edge_within, node_class, packed
from ..nodes.bound import Bound, Recorder, Replay, RowNode
from ..nodes.kept_arguments import kept_list
from ..nodes.packing import PACKING
from ..nodes.pooled import pooled
from ..nodes.removable import SEQUENCE
from ..nodes.view_rules import check_in_place
from ..table.rules import Meta
from .back_texts import back_of, back_of_list
from .native_records import Described
from .recorder_parts import (
    are_new,
    are_whole,
    edges_of,
    forms_of,
    give_node,
    handles_of,
    idle_view,
    is_among,
    is_behind,
)
from .undifferentiated import check_refused
from .writes import as_it_was, copied_before, rebase

__all__ = ["MISSED", "recorder_for", "replayer_for"]

_PLAIN: Final = frozenset(
    {Tensor, Parameter, int, float, bool, complex, str, type(None), list, tuple}
)
_NOTED: Final = (_PLAIN - {Tensor, Parameter}) | {np.ndarray}
_TENSORS: Final = (Tensor, Parameter, np.ndarray)
_LISTS: Final = (list, tuple)
_UNREAD: Final = Meta(np.empty(0))
"""Stands for a tensor that is not kept, of which nothing is read."""

_EDGE: Final = """
 if not (wanted := a{d}._requires_grad):
  e{d} = None
 elif (
  wanted is not True
  or (a{d}._view_of is not None and is_behind(a{d}, values[{d}]))
  or (node := a{d}._grad_node) is None
 ):
  e{d} = edge_of(a{d})
 else:
  e{d} = node, a{d}._output_number"""

_OTHERS: Final = """
 if {strange}:
  return like(values)({given})"""

_LISTED: Final = """
 if not are_whole(a{at}, values[{at}]):
  return MISSED"""

_REFUSED: Final = """
 if a{at}._requires_grad:
  check_refused(bound, values, args)"""

_EDGES: Final = """
 e{at} = edges_of(a{at}, values[{at}])
 if e{at} is None:
  return MISSED"""

_NODE: Final = """
 node = new({cls})
 node.attached = None
 node.bounds = running.bounds
 node.sequence = next(SEQUENCE)
 node.edges = {ends}
 node._bound = bound
 node._places = {places}
 node._shapes = {shapes}
 node.lie = {lie}
 version_of = running.version_of
 keep = packed if PACKING.used else Saved
 node._arguments = ({arguments},)
 node.back = back{end}"""

_ALONE: Final = """
 node.count = 1
 made._requires_grad = True
 made._grad_node = node{view}
 node._results = {results}"""

_RECORD: Final = """
def record(args, values, forward, is_quiet=False, again=False):
 {names}, = args
{others}
 turn = turns[0]{edges}
 if turn & 1 or turns[0] != turn:  # a script's notes became nodes just now, perhaps these
  return MISSED if again else record(args, values, forward, is_quiet, True)
 if {inactive} or anomaly[0]:
  return MISSED{allowed}
 if is_quiet:
  result = forward(*values)
 else:
  state = enter(QUIET)
  try:
   result = forward(*values)
  finally:
   leave(state){made}
"""

_MADE: Final = """
 if type(result) is not ndarray or result.dtype.kind in "biu"{same}:
  return finished(args, values, result)
 made = new(Tensor)
 made._array, made._view_of = result, None{node}
 return made"""

_WRITES: Final = """
 if result is not values[0]:
  return finished(args, values, result)
 written(result)
 made = a0{node}
 return made"""

_WRITTEN: Final = """
 node.count = 1
 node._results = {results}
 if made._view_of is None:
  made._requires_grad = True
  made._grad_node = node
  made._output_number = 0
 else:
  rebase(made, node, {own})"""

_VIEW_TO_WRITE: Final = """
 if a0._view_of is not None:
  check_in_place(a0, True)"""

_BEFORE: Final = """
 old = copied_before(a0) if {wanted} else a0"""

_SEVERAL: Final = """
 if not are_new(result, values):
  return finished(args, values, result)
 made = {handles}{node}
 give_node(node, made, a{first})
 return made"""

_HANDLE: Final = """
 a{at} = known.get(id(values[{at}]))
 if a{at} is None:
  a{at} = handle_of(values[{at}])"""

_REPLAY: Final = """
def replay(known, handle_of, values, result, before=None):
{others}
 {names}, = values{handles}{edges}
 if anomaly[0] or type(result) is not ndarray or result.dtype.kind in "biu"{same}:
  return MISSED
 if {inactive}:
  return {idle}
 made = known.get(id(result))
 if made is None:
  made = handle_of(result)
 made._output_number = 0{node}
"""

_REWRITE: Final = """
def replay(known, handle_of, values, result, before=None):
{others}
 {names}, = values{handles}{edges}
 if anomaly[0] or result is not values[0]:
  return MISSED
 if {inactive}:
  return MISSED{allowed}
 old = a0 if before is None else as_it_was(a0, before)
 made = a0{node}
"""

_SPACE: Final[dict[str, Any]] = {
    "__builtins__": {"type": type, "id": id, "len": len, "range": range, "any": any},
    "QUIET": QUIET,
    "SEQUENCE": SEQUENCE,
    "MISSED": MISSED,
    "anomaly": ANOMALY,
    "is_recording": is_recording,
    "PACKING": PACKING,
    "Saved": Saved,
    "packed": packed,
    "Meta": Meta,
    "Tensor": Tensor,
    "ndarray": np.ndarray,
    "enter": enter,
    "leave": leave,
    "edge_of": edge_of,
    "new": object.__new__,
    "next": next,
    "node_class": node_class,
    "running": RUNNING,
    "is_behind": is_behind,
    "edges_of": edges_of,
    "are_whole": are_whole,
    "kept_list": kept_list,
    "is_among": is_among,
    "forms_of": forms_of,
    "are_new": are_new,
    "give_node": give_node,
    "finish": finish,
    "handles_of": handles_of,
    "UNREAD": _UNREAD,
    "idle_view": idle_view,
    "turns": TURN,
    "owner_of": owner_of,
    "written": written,
    "rebase": rebase,
    "check_in_place": check_in_place,
    "as_it_was": as_it_was,
    "copied_before": copied_before,
    "check_refused": check_refused,
    "RowNode": RowNode,
}


def recorder_for(bound: Bound, types: Sequence[type], finished: Callable[..., object]) -> Recorder:
    """What records calls of an overload with arguments of some types, which is remembered.

    `finished(args, values, result)` does what is left to do for a result of another kind.
    """
    if not _PLAIN.issuperset(types):
        return _missed
    found = bound.recorders[tuple(types)] = _written(_RECORD, "record", bound, types, finished)
    return found


def replayer_for(bound: Bound, types: Sequence[type]) -> Replay:
    """What makes the node of a noted call with values of some types, which is remembered."""
    if not _NOTED.issuperset(types):
        return _missed
    form = _REWRITE if bound.in_place else _REPLAY
    found = bound.replays[tuple(types)] = _written(form, "replay", bound, types, None)
    return found


def _written(
    form: str,
    name: str,
    bound: Bound,
    types: Sequence[type],
    finished: object,
    whole: frozenset[int] = frozenset(),
) -> Callable[..., object]:
    """The function of a form; tensors at the places `whole` hold whole numbers, which have no
    gradients, where others tell with floats from without."""
    row = bound.row
    lists = [i for i, kind in enumerate(types) if kind in _LISTS and bound.takes_tensors(i)]
    several = bound.gives_several
    if row is None or ((row.moves or lists or several) and form is not _RECORD):
        return _missed
    tensors = [at for at, kind in enumerate(types) if kind in _TENSORS]
    ends = [at for at in bound.order if at in tensors and at not in whole]
    listed = [at for at in bound.order if at in lists]
    if bound.in_place and (listed or several):
        return _missed
    if (not ends and not listed) or (listed and (ends or len(lists) > 1 or bound.looks)):
        return _missed
    space = {**_SPACE, "bound": bound, "entry": bound.entry, "finished": finished, "name": row.name}
    space |= {"cls": bound.node_class, "places": [(at, None) for at in ends]}
    is_known = not row.composite or bound.direct is not None
    if several:
        is_known = bool(bound.formulas)
    if not is_known or bound.may_be_thin or row.moves:
        space["back"] = None
    elif listed:
        space["back"] = back_of_list(bound, *listed)
    else:
        space["back"] = back_of(bound, ends, tensors, lists)
    if form is not _RECORD:
        space["edge_of"] = edge_within
    mixed = [at for at in bound.order if at in tensors] if bound.shared is not None else []
    variants: dict[frozenset[int], Callable[..., object]] = {}

    def like(values: Sequence[Any]) -> Callable[..., object]:
        """The function for arguments of whole numbers at the places that these have."""
        found = frozenset(at for at in mixed if values[at].dtype.kind in "biu")
        if found not in variants:
            variants[found] = _written(form, name, bound, types, finished, found)
        return variants[found]

    space["like"] = like
    tells = [f'values[{at}].dtype.kind {"not " * (at in whole)}in "biu"' for at in mixed]
    text = _text(form, bound, types, ends, tensors, lists, " or ".join(tells))
    exec(compile(text, __file__, "exec"), space)
    made: Callable[..., object] = space[name]
    is_odd = bound.looks is not None or callable(row.name) or several
    is_odd = is_odd or bool((listed and mixed) or (whole and lists))
    is_told = form is _RECORD and bound.entry.written != "replaced"
    if is_told and len(lists) < 2 and not ((whole or lists) and is_odd):
        found = _described(space, ends, tensors, types, lists)
        bound.records[made] = found._replace(whole=whole, others=variants)
    return made


def _described(
    space: dict[str, Any],
    ends: list[int],
    tensors: list[int],
    types: Sequence[type],
    lists: list[int],
) -> Described:
    """What the nodes of a recorder keep, whose text sees such a space."""
    bound, name = space["bound"], space["name"]
    is_of_sizes = all(at in ends or kind is type(None) for at, kind in enumerate(types))

    def choose(*args: object) -> type:
        return pooled(node_class(RowNode, name(*args)))

    return Described(
        *(bound, ends, tensors, len(types), space["places"], space["back"], _UNREAD),
        choose if callable(name) else None,
        is_of_sizes,
        space["finished"],
        lists[0] if lists else None,
        bool(lists) and lists[0] in bound.order,
    )


def _missed(*given: object) -> object:
    return MISSED


def _text(
    form: str,
    bound: Bound,
    types: Sequence[type],
    ends: list[int],
    tensors: list[int],
    lists: list[int],
    strange: str,
) -> str:
    assert bound.row is not None
    count = len(types)
    names = ", ".join(f"a{at}" for at in range(count))
    given = "args, values, forward, is_quiet"
    if form is not _RECORD:
        given = "known, handle_of, values, result, before"
    listed = [at for at in lists if at in bound.order]
    checks = "".join(_LISTED.format(at=at) for at in lists if at not in listed)
    if form is _RECORD:
        checks += "".join(_REFUSED.format(at=at) for at in bound.refuses if at in tensors)
    if listed:
        inactive = f"e{listed[0]}.count(None) == len(e{listed[0]})"
    else:
        inactive = " and ".join(f"e{at} is None" for at in ends)
    arguments = [_argument_text(bound, at, ends, tensors, lists, listed) for at in range(count)]
    node = _NODE.format(
        cls=f"node_class(RowNode, name({names}))" if callable(bound.row.name) else "cls",
        lie="0" if bound.looks is None else "bound.looks(values)",
        arguments=", ".join(arguments),
        end=_end_text(bound, ends, tensors, listed),
        **_ends_text(ends, listed),
    )
    same = "".join(f" or result is values[{at}]" for at in tensors)
    same += "".join(f" or is_among(result, values[{at}])" for at in listed)
    edges = "".join(_EDGE.format(d=at) for at in ends)
    edges += "".join(_EDGES.format(at=at) for at in listed)
    handles = (
        "finish(entry, values, result, args)" if bound.is_view else "handles_of(entry, result)"
    )
    if bound.in_place:
        inactive += _refused_writing(bound, ends, tensors)
    ways = _SEVERAL if bound.gives_several else _WRITES if bound.in_place else _MADE
    made = ways.format(same=same, node=node, first=(tensors + lists)[0], handles=handles)
    return form.format(
        names=names,
        handles="".join(_HANDLE.format(at=at) for at in tensors),
        edges=edges,
        inactive=inactive,
        allowed=_before_writing(bound, ends)
        if form is _RECORD
        else _VIEW_TO_WRITE * bound.in_place,
        others=checks + (_OTHERS.format(strange=strange, given=given) if strange else ""),
        same=same,
        idle=f"idle_view(a{tensors[0]}, handle_of(result))" if bound.is_view else "None",
        node=node,
        made=made,
    )


def _before_writing(bound: Bound, ends: list[int]) -> str:
    """What is done before a call that writes its first argument, of which its gradients may read
    what it was."""
    whose = [at for at in ends if 0 in bound.keeps[at]]
    if not (bound.in_place and whose):
        return _VIEW_TO_WRITE * bound.in_place
    wanted = " or ".join(f"e{at} is not None" for at in whose)
    return _VIEW_TO_WRITE + _BEFORE.format(wanted=wanted)


def _refused_writing(bound: Bound, ends: list[int], tensors: list[int]) -> str:
    """Which calls that write their first argument are left to others: it is a leaf, has views
    that hear of it, or shares memory with what is kept."""
    texts = ["a0._retains_grad", 'values[0].dtype.kind in "biu"']
    is_told = "a0._requires_grad is not (a0._grad_node is not None)"
    if bound.entry.written == "replaced":
        texts += ["a0._view_of is not None", is_told]
    else:
        texts.append(f"(a0._view_of is None and {is_told})")
    kept = {at for end in ends for at in bound.keeps[end]}
    texts += [
        f"owner_of(values[{at}]) is owner_of(values[0])" for at in tensors if at in kept - {0}
    ]
    return "".join(f" or {each}" for each in texts)


def _end_text(bound: Bound, ends: list[int], tensors: list[int], listed: list[int]) -> str:
    """What is done with the result once its node is there."""
    keeping = "(keep(made, None, version_of(result), 0, True),)"
    results = _if_any([d for d in ends if bound.keeps_result[d]], ends, keeping, "()")
    if any(bound.keeps_result[at] for at in listed):
        results = keeping
    if bound.in_place:
        return _WRITTEN.format(results=results, own=ends.index(0) if 0 in ends else None)
    if bound.gives_several:
        return ""
    view = ""
    if bound.is_view and tensors:
        view = f"\n made._view_of, made._view_version = a{tensors[0]}, version_of(result)"
    return _ALONE.format(results=results, view=view)


def _ends_text(ends: list[int], listed: list[int]) -> dict[str, str]:
    """Where gradients go, which places these are, and what shapes and dtypes they take there."""
    if listed:
        (at,) = listed
        return {
            "ends": f"e{at}",
            "places": f"[({at}, i) for i in range(len(e{at}))]",
            "shapes": f"forms_of(values[{at}])",
        }
    return {
        "ends": f"({', '.join(f'e{at}' for at in ends)},)",
        "places": "places",
        "shapes": "".join(f"values[{at}].shape, values[{at}].dtype, " for at in ends),
    }


def _argument_text(
    bound: Bound,
    at: int,
    ends: list[int],
    tensors: list[int],
    lists: list[int],
    listed: list[int],
) -> str:
    """An argument as the node keeps it."""
    if at in tensors:
        kept = [d for d in ends if at in bound.keeps[d]]
        mine = [d for d in listed if at in bound.keeps[d]]
        return _kept(bound, at, kept or mine, ends or mine)
    if at in lists:
        keeps = any(at in bound.keeps[d] for d in ends + listed)
        return f"kept_list(a{at}, {keeps})"
    return f"a{at}"


def _if_any(whose: list[int], ends: list[int], text: str, other: str) -> str:
    """A text if one of some arguments has a gradient."""
    if len(whose) == len(ends) or not whose:
        return text if whose else other
    return f"{text} if {' or '.join(f'e{at} is not None' for at in whose)} else {other}"


def _kept(bound: Bound, at: int, whose: list[int], ends: list[int]) -> str:
    edge = f"e{at}" if at in ends else f"edge_of(a{at})"
    saved = f"keep(a{at}, {edge}, version_of(values[{at}]))"
    if bound.in_place and not at:
        saved = f"keep(old, {edge}, version_of(old._array))"
    about = f"Meta(values[{at}]{', True' * (at in bound.laid)})"
    if at not in bound.described:
        about = "UNREAD"
    return _if_any(whose, ends, saved, about)
