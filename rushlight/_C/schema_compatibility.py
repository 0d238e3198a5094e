"""Whether a newer signature of an operator takes what was written for an older one, and back."""

from __future__ import annotations

from collections.abc import Sequence

from ..typecheck.definitions.schema import Argument, Signature
from ..typecheck.relations.relations import is_subtype

__all__ = ["fits_old_calls", "fits_old_readers"]


def _is_out(argument: Argument) -> bool:
    return argument.keyword_only and argument.alias is not None and argument.alias.is_write


def _parted(signature: Signature) -> tuple[list[Argument], list[Argument]]:
    """The arguments before the first that results are written into, and from there on."""
    arguments = list(signature.arguments)
    count = next((i for i, each in enumerate(arguments) if _is_out(each)), len(arguments))
    return arguments[:count], arguments[count:]


def _same_kind(new: Signature, old: Signature) -> bool:
    return (
        (new.name, new.overload, new.vararg, new.varret)
        == (old.name, old.overload, old.vararg, old.varret)
    ) and len(new.returns) == len(old.returns)


def _default(argument: Argument) -> object:
    """Something that is equal for equal defaults."""
    return (True, argument.default) if argument.has_default else (False, None)


def _same_place(new: Argument, old: Argument) -> bool:
    """Whether both are called alike, and say the same of memory and lists."""
    same = (new.name, new.size, new.alias) == (old.name, old.size, old.alias)
    return same and (old.keyword_only or not new.keyword_only)


# ---------------------------------------------------------------------------- older callers


def fits_old_calls(new: Signature, old: Signature) -> bool:
    """Whether calls and archives made for the old signature are right for the new one."""
    if not _same_kind(new, old) or len(new.arguments) < len(old.arguments):
        return False
    if not all(_gives_no_less(*each) for each in zip(new.returns, old.returns, strict=True)):
        return False
    (given, outs), (old_given, old_outs) = _parted(new), _parted(old)
    if len(given) < len(old_given) or len(outs) < len(old_outs):
        return False
    pairs = [*zip(given, old_given, strict=False), *zip(outs, old_outs, strict=False)]
    added = given[len(old_given) :]
    return all(_takes(a, b) for a, b in pairs) and all(each.has_default for each in added)


def _gives_no_less(new: Argument, old: Argument) -> bool:
    return _same_place(new, old) and is_subtype(new.type, old.type)


def _takes(new: Argument, old: Argument) -> bool:
    kept = not old.has_default or _default(new) == _default(old)
    return kept and _same_place(new, old) and is_subtype(old.type, new.type)


# ---------------------------------------------------------------------------- older readers


def fits_old_readers(new: Signature, old: Signature) -> tuple[bool, str]:
    """Whether what is saved with the new signature can be read where there is the old one.

    Returns:
        That, and why not.
    """
    if not _same_kind(new, old):
        return False, ""
    (given, outs), (old_given, old_outs) = _parted(new), _parted(old)
    if len(outs) != len(old_outs):
        return False, "Function schema should have the same number of out arguments"
    changed = _changed(given, old_given)
    reason = f"'{changed}' is not forward compatible with the older version of the schema"
    if not changed:
        reason = _added(given[len(old_given) :])
    if not reason and (changed := _changed(outs, old_outs)):
        reason = f"Out argument '{changed}' is not FC with the older version of the schema"
    return not reason, reason


def _changed(new: Sequence[Argument], old: Sequence[Argument]) -> str:
    """The name of the first argument that older readers take for another one."""
    for one, other in zip(new, old, strict=False):
        same = _same_place(one, other) and _default(one) == _default(other)
        if not (same and is_subtype(one.type, other.type)):
            return one.name
    return ""


def _added(arguments: Sequence[Argument]) -> str:
    """What keeps new arguments from being left out of archives."""
    said = "Function schema is not forward compatible since the new argument"
    for each in arguments:
        about = f"{said} '{each.name}' of type {each.type}"
        if not each.has_default:
            return f"{about} did not provide a default value."
        if each.size is not None or isinstance(each.default, (list, dict)):
            return f"{about} has a container type as its default value."
    return ""
