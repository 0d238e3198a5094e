"""What walks back through nodes of an operator, written for its arguments (see `recording.py`)."""

from __future__ import annotations

from typing import Any, Final

from ...memory.dtype import of_numpy
from ...table.grad_mode import is_recording
from ...tensors.tensor import Tensor
from ..nodes.autograd import WALKING
from ..nodes.bound import Back, Bound, RowNode
from ..nodes.fitting import fit
from ..nodes.kept_arguments import columns_of, sizes_of
from ..table.rules import Rule
from .recorder_parts import kept, seen

__all__ = ["back_of", "back_of_list"]

_BACK: Final = """
def back(node, gs):
 args, shapes = node._arguments, node._shapes{padded}
 {ends}, = node.edges if walking.leads is None else node.asked_edges()
 {founds} = None{formulas}
 made = [{list}]{together}
 return made
"""

_PADDED: Final = """
 if len(gs) < node.count:
  gs = gs + [None] * (node.count - len(gs))"""

_FORMULA: Final = """
 if e{d} is not None{given}:
  r{d} = formula{d}({reads})"""

_DIRECT: Final = """
 parts = direct({reads}) if may_be_used() else None
 if parts is not None:
  {founds}, = {parts},{dropped}
 else:{formulas}"""

_JOINT: Final = """
 parts = formula({reads})
 {founds}, = {parts},"""

_COMPOSED: Final = """
 parts = direct({reads}) if may_be_used(){alone} else None
 if parts is None:
  return node._applied(gs)
 {founds}, = {parts},{dropped}"""

_FIT: Final = """
 if r{d} is not None:
  array = r{d}._array
  if array.dtype is not shapes[{kind}] or array.shape != shapes[{sizes}]:
   r{d} = fit(r{d}, shapes[{sizes}], of_numpy(shapes[{kind}]), node, {place}){lay}"""


_SPACE: Final[dict[str, Any]] = {
    "__builtins__": {"len": len},
    "columns_of": columns_of,
    "fit": fit,
    "is_recording": is_recording,
    "kept": kept,
    "of_numpy": of_numpy,
    "seen": seen,
    "sizes_of": sizes_of,
    "walking": WALKING,
}


def back_of(bound: Bound, ends: list[int], tensors: list[int], lists: list[int]) -> Back:
    """What walks back where the arguments at `ends` have gradients; the others among `tensors` are
    tensors, too, and `lists` are lists of them."""
    space = {**_SPACE, **{f"lay{at}": lay for at, lay in bound.lays.items()}}
    texts = []
    assert bound.row is not None
    if bound.row.composite is not None:
        assert bound.direct is not None
        space |= {"direct": bound.direct.formula, "may_be_used": bound.direct.may_be_used}
        own = [at for at in ends if at in bound.orders]
        alone = "".join(f" and e{at} is None" for at in ends if at not in bound.orders)
        words = _direct_words(bound, bound.direct, own, tensors, lists)
        texts = [_COMPOSED.format(alone=alone, **words)]
    elif bound.shared is not None:
        space["formula"] = bound.shared.formula
        parts = ", ".join(f"parts[{bound.orders[at]}]" for at in ends)
        founds = ", ".join(f"r{at}" for at in ends)
        reads = _reads(bound.shared, tensors, lists)
        reads = reads.replace("node.wanted()", _wanted(bound, ends))
        texts = [_JOINT.format(reads=reads, founds=founds, parts=parts)]
        texts += [f"\n if e{at} is None: r{at} = None" for at in ends]
    else:
        for at in ends:
            rule = bound.formulas[at]
            space[f"formula{at}"] = rule.formula
            given = " and gs[0] is not None" if "g" in rule.readers else ""
            texts.append(_FORMULA.format(d=at, given=given, reads=_reads(rule, tensors, lists)))
        if bound.direct is not None and bound.orders.keys() >= set(ends):
            space |= {"direct": bound.direct.formula, "may_be_used": bound.direct.may_be_used}
            words = _direct_words(bound, bound.direct, ends, tensors, lists)
            formulas = "".join(texts).replace("\n", "\n ")
            words["dropped"] = words["dropped"].replace("\n", "\n ")
            texts = [_DIRECT.format(formulas=formulas, **words)]
    for place, at in enumerate(ends):
        sizes = {"sizes": 2 * place, "kind": 2 * place + 1}
        lay = f"\n  r{at} = lay{at}(r{at}, gs[0], node.lie)" if at in bound.lays else ""
        texts.append(_FIT.format(d=at, place=place, lay=lay, **sizes))
    text = _BACK.format(
        ends=", ".join(f"e{at}" for at in ends),
        founds=" = ".join(f"r{at}" for at in ends),
        padded=_PADDED if bound.gives_several and bound.reads_all else "",
        formulas=_told("".join(texts), bound, ends, tensors),
        list=", ".join(f"r{at}" for at in ends),
        together="\n if is_recording(): node._put_together(made, gs)" * bool(bound.row.together),
    )
    exec(compile(text, __file__, "exec"), space)
    made: Back = space["back"]
    return made


def back_of_list(bound: Bound, at: int) -> Back | None:
    """The same where the elements of one list have gradients, and nothing else."""
    rule, direct = bound.formulas.get(at), bound.direct
    if rule is None or bound.lays or bound.read_together:
        return None
    if direct is not None and at not in bound.orders:
        return None
    formula, order = rule, bound.orders.get(at, 0)

    def back(node: RowNode, gs: list[Tensor | None]) -> list[Tensor | None]:
        edges = node.edges if WALKING.leads is None else node.asked_edges()
        found: list[Tensor | None] = [None] * len(edges)
        if "g" in formula.readers and gs[0] is None:
            return found
        parts = direct.call(node, gs) if direct is not None and direct.may_be_used() else None
        made = formula.call(node, gs) if parts is None else parts[order]
        shapes = node._shapes
        for place, edge in enumerate(edges):
            grad = None if edge is None or made is None else made[place]
            if grad is not None:
                array, sizes, kind = grad._array, shapes[2 * place], shapes[2 * place + 1]
                if array.dtype is not kind or array.shape != sizes:
                    grad = fit(grad, sizes, of_numpy(kind), node, place)
                found[place] = grad
        return found

    return back


def _told(text: str, bound: Bound, ends: list[int], tensors: list[int]) -> str:
    """The text, with what is read of the sizes of tensors, and how they lay, read of these."""
    for at in bound.described.intersection(tensors):
        sizes = f"sizes_of(args[{at}])"
        if at in ends and not any(at in bound.keeps[end] for end in ends):
            sizes = f"shapes[{2 * ends.index(at)}]"  # of what is kept more than that may be asked
        text = text.replace(f"node.about({at}, 'sizes')", sizes)
        text = text.replace(f"node.about({at}, 'columns')", f"columns_of(args[{at}])")
    return text


def _direct_words(
    bound: Bound, rule: Rule, ends: list[int], tensors: list[int], lists: list[int]
) -> dict[str, str]:
    """What the text of a form that is not differentiated says of its arguments and results."""
    reads, found = rule.reads, "kept" if rule.of_operators else "seen"
    for at in sorted(rule.places.difference(lists), reverse=True):
        value = f"{found}(args[{at}], node)" if at in tensors else f"args[{at}]"
        reads = reads.replace(f"node.value({at})", value).replace(f"node.kept({at})", value)
    given = {at: f"e{at} is not None" if at in ends else "False" for at in bound.orders}
    order = sorted(given, key=lambda at: bound.orders[at])
    asked = "".join(f"{given[at]}, " for at in order)
    for old, new in (
        ("node.asked()", f"({asked})"),
        ("node.wanted()", _wanted(bound, [at for at in ends if at in given])),
        ("node.results(0)", f"{found}(node._results[0], node)"),
    ):
        reads = reads.replace(old, new)
    return {
        "reads": reads,
        "founds": ", ".join(f"r{at}" for at in ends),
        "parts": ", ".join(f"parts[{bound.orders[at]}]" for at in ends),
        "dropped": "".join(f"\n if e{at} is None: r{at} = None" for at in ends),
    }


def _wanted(bound: Bound, ends: list[int]) -> str:
    """Of each argument, by its name, whether its gradient is asked for."""
    names = bound.positions.items()
    asked = (f"{name!r}: {f'e{at} is not None' if at in ends else 'False'}" for name, at in names)
    return f"{{{', '.join(asked)}}}"


def _reads(rule: Rule, tensors: list[int], lists: list[int]) -> str:
    """The arguments of a formula, tensors read without asking what they are."""
    text = rule.reads
    for at in sorted(rule.places.difference(lists), reverse=True):
        text = text.replace(
            f"node.value({at})", f"args[{at}].tensor(node)" if at in tensors else f"args[{at}]"
        )
    return text.replace("node.results(0)", "node._results[0].tensor(node)")
