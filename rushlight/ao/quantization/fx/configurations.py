"""Which configuration each node of a traced model has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ....fx.node import Node
from ....nn.modules.module import Module
from ...nn.intrinsic.modules.fused import _FusedModule
from ..backend_config.backend_config import DTypeConfig, DTypeWithConstraints
from ..observer import ReuseInputObserver, _PartialWrapper
from ..qconfig import QConfig, QConfigAny
from ..qconfig_mapping import QConfigMapping
from ..qconfig_traits import activation_dtype, weight_dtype
from .matching import Found, kind_of

__all__ = ["configurations", "dtypes_for"]


def configurations(
    nodes: list[Node],
    modules: Mapping[str, Module],
    mapping: QConfigMapping,
    scopes: Mapping[str, str],
) -> dict[Node, QConfig | None]:
    """The configuration of each node.

    Raises:
        LookupError: layers that were fused, whose kinds have different configurations.
    """
    counts = Counter[tuple[str, object]]()
    made: dict[Node, QConfig | None] = {}
    for node in nodes:
        kind = kind_of(node, modules)
        if kind is None:
            made[node] = None
            continue
        is_module = node.op == "call_module"
        path = str(node.target) if is_module else scopes.get(node.name, "")
        outer = path.rpartition(".")[0] if is_module else path
        place = (outer, kind, counts[outer, kind])
        counts[outer, kind] += 1
        made[node] = _of(path, _kinds(kind, node, modules, mapping), place, mapping)
    return made


def _kinds(
    kind: object, node: Node, modules: Mapping[str, Module], mapping: QConfigMapping
) -> list[object]:
    """What a node is known as; a fused layer as its first one too."""
    module = modules.get(str(node.target)) if node.op == "call_module" else None
    if not isinstance(module, _FusedModule) or not module._modules:
        return [kind]
    parts = [type(part) for part in module.children()]
    wanted = mapping.object_type_qconfigs
    for part in parts[1:] if parts[0] in wanted else ():
        if wanted.get(part) != wanted[parts[0]]:
            raise LookupError(
                "During fusion, we need to specify the same qconfigs for all module types in "
                f"{kind} offending type: {part}"
            )
    return [kind, parts[0]]


def _of(
    path: str, kinds: list[Any], place: tuple[str, Any, int], mapping: QConfigMapping
) -> QConfigAny:
    ordered = mapping.module_name_object_type_order_qconfigs
    if place in ordered:
        return ordered[place]
    names, at = mapping.module_name_qconfigs, path
    while at:
        if at in names:
            return names[at]
        at = at.rpartition(".")[0]
    for pattern, qconfig in mapping.module_name_regex_qconfigs.items():
        if re.match(pattern, path):
            return qconfig
    wanted = mapping.object_type_qconfigs
    if kinds[0] in wanted:
        return wanted[kinds[0]]
    of_first = wanted.get(kinds[-1])  # which counts only if there is one, as in torch
    return mapping.global_qconfig if of_first is None else of_first


# --------------------------------------------------------------------------- dtypes


def dtypes_for(found: Found, qconfig: QConfig) -> DTypeConfig | None:
    """The dtypes of a pattern that a configuration asks for; None if it has no such."""
    observer: object = qconfig.activation()
    if isinstance(observer, ReuseInputObserver):
        return found.entry.dtype_configs[0]
    weights = found.entry.root_module is not None or "weight" in found.entry._input_type_to_index
    for config in found.entry.dtype_configs:
        fits = config.input_dtype in (None, activation_dtype(qconfig))
        if weights and config.weight_dtype is not None:
            fits = fits and config.weight_dtype is weight_dtype(qconfig)
        fits = fits and bool(config.is_dynamic) == bool(getattr(observer, "is_dynamic", False))
        if fits and _within(qconfig.activation, observer, config.output_dtype_with_constraints):
            return config
    return None


def _within(make: object, observer: object, bounds: DTypeWithConstraints) -> bool:
    """Whether an observer's numbers are what a pattern asks for."""
    given = make.p.keywords if isinstance(make, _PartialWrapper) else {}
    inner = given.get("observer", observer)
    fixed = getattr(inner, "p", None)
    known = {**(fixed.keywords if fixed is not None else {}), **given}
    for name in ("scale", "zero_point"):
        wanted = getattr(bounds, f"{name}_exact_match")
        if wanted is not None and known.get(name, getattr(observer, name, None)) != wanted:
            return False
    lower, upper = bounds.quant_min_lower_bound, bounds.quant_max_upper_bound
    least, most = getattr(observer, "quant_min", None), getattr(observer, "quant_max", None)
    if lower is not None and least is not None and least < lower:
        return False
    return upper is None or most is None or most <= upper
