"""Whether the hooks of a module fit its `forward`."""

from __future__ import annotations

from ..typecheck.definitions.class_types import ClassType
from ..typecheck.definitions.functions import Function
from ..typecheck.relations.relations import equal
from ..typecheck.types.types import NONE, TupleType, Type

__all__ = ["check_hooks"]


def check_hooks(cls: ClassType) -> None:
    """Compare the signatures of a module's hooks with that of `forward`; all must be compiled.

    Raises:
        RuntimeError: one does not fit; the text is torch's.
    """
    forward = cls.methods.get("forward")
    if forward is None or not (cls.forward_pre_hooks or cls.forward_hooks):
        return
    given = TupleType(tuple(a.type for a in forward.signature.arguments[1:]))
    _check_names(cls)
    for hook in cls.forward_pre_hooks:
        if hook.graph is not None:
            _check_pre_hook(cls, hook, given)
    output = forward.signature.returns[0].type
    for hook in cls.forward_hooks:
        if hook.graph is not None:
            _check_hook(cls, hook, given, output)
            result = hook.signature.returns[0].type
            output = output if result is NONE else result


def _check_names(cls: ClassType) -> None:
    """Hooks of one name must be one Python function."""
    known: dict[str, object] = {}
    for hook in (*cls.forward_pre_hooks, *cls.forward_hooks):
        if hook.name in cls.methods:
            raise RuntimeError(
                f"Can't define hook: {hook.name} on class: {cls.qualified_name} because a method "
                "or hook with that name already exists."
            )
    for hook in (*cls.forward_pre_hooks, *cls.forward_hooks):
        kind = "Pre-hook" if hook in cls.forward_pre_hooks else "Hook"
        if known.setdefault(hook.name, hook.python) is not hook.python:
            raise RuntimeError(
                f"{kind} '{hook.name}' on {cls.name} has at least two different python definitions."
                " Please use unique names for all hooks."
            )


def _check_pre_hook(cls: ClassType, hook: Function, given: TupleType) -> None:
    title = f"Pre-hook '{hook.name}' on module '{cls.name}'"
    single = len(given.elements) == 1 and not _is_one_tuple(given)
    alone = f", '{given.elements[0].annotation_str}'," if single else ""
    expected = (
        f"This error occurred while scripting the forward pre-hook '{hook.name}' on module "
        f"'{cls.name}'. If you did not want to script this pre-hook remove it from the original NN "
        f"module before scripting. Pre-hooks for module '{cls.name}' are expected to have the "
        f"following signature: {hook.name}(self, input: {given.annotation_str}) with a return type "
        f"of either 'None'{alone} or '{given.annotation_str}'."
    )
    _check_count(hook, 2, title, expected)
    _check_input(hook, given, title, expected)
    if hook.tree is not None and hook.tree.returns is None:
        raise RuntimeError(
            f"{title} is missing a return annotation. Return annotations are required, please add "
            f"one.\n{expected}\n"
        )
    returned = hook.signature.returns[0].type
    allowed: list[Type] = [NONE, given, *(given.elements if single else ())]
    if not any(equal(returned, one) for one in allowed):
        why = _what_is_wrong(returned, given)
        raise RuntimeError(
            f"{title} returned the wrong type of: '{returned.annotation_str}'.{why}{expected}\n"
        )


def _what_is_wrong(returned: Type, given: TupleType) -> str:
    """Why a pre-hook's result cannot be the arguments of `forward`."""
    if not isinstance(returned, TupleType):
        return ""
    inner = returned.elements[0] if returned.elements else returned
    if _is_one_tuple(given) and not isinstance(inner, TupleType):
        return (
            " When forward has a single tuple input argument, the return needs to be 'None' or a "
            "nested tuple containing forward's input tuple argument as in: "
            f"'{given.annotation_str}'.\n"
        )
    if len(returned.elements) != len(given.elements):
        return " The returned tuple contains the wrong number of contained types.\n"
    return " The returned tuple contains the wrong inner types.\n"


def _is_one_tuple(given: TupleType) -> bool:
    """Whether `forward` takes one tuple."""
    return len(given.elements) == 1 and isinstance(given.elements[0], TupleType)


def _check_hook(cls: ClassType, hook: Function, given: TupleType, output: Type) -> None:
    title = f"Hook '{hook.name}' on module '{cls.name}'"
    expected = (
        f"This error occurred while scripting the forward hook '{hook.name}' on module {cls.name}. "
        "If you did not want to script this hook remove it from the original NN module before "
        "scripting. This hook was expected to have the following signature: "
        f"{hook.name}(self, input: {given.annotation_str}, output: {output.annotation_str}). The "
        "type of the output arg is the returned type from either the forward method or the "
        "previous hook if it exists. Note that hooks can return anything, but if the hook is on a "
        "submodule the outer module is expecting the same return type as the submodule's forward."
    )
    _check_count(hook, 3, title, expected)
    _check_input(hook, given, title, expected)
    found = hook.signature.arguments[2].type
    if not equal(found, output):
        raise RuntimeError(
            f"{title} has the wrong type for the output argument. Received type: "
            f"'{found.annotation_str}'. Expected type: '{output.annotation_str}'.\n{expected}\n"
        )


def _check_count(hook: Function, wanted: int, title: str, expected: str) -> None:
    count = len(hook.signature.arguments)
    if count != wanted:
        raise RuntimeError(
            f"{title} was expected to only have exactly {wanted} inputs but it had {count} inputs. "
            f"{expected}\n"
        )


def _check_input(hook: Function, given: TupleType, title: str, expected: str) -> None:
    found = hook.signature.arguments[1].type
    parts = found.tuple_of
    if parts is None:
        raise RuntimeError(
            f"{title} expected the input argument to be typed as a Tuple but found type: "
            f"'{found.annotation_str}' instead.\n{expected}\n"
        )
    if len(parts) != len(given.elements):
        raise RuntimeError(
            f"{title} has the wrong number of contained types for the input argument's Tuple. "
            f"Received type: '{found.annotation_str}'.\n{expected}\n"
        )
    if not all(equal(a, b) for a, b in zip(parts, given.elements, strict=True)):
        raise RuntimeError(
            f"{title} has the wrong inner types for the input tuple argument. Received type: "
            f"'{found.annotation_str}'.\n{expected}\n"
        )
