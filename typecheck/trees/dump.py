"""A typed tree as text: Python-like, one statement a line, every resolved thing written out.

    def gcd(a: int, b: int) -> int:
      while aten::ne.int(b, 0):  # carries a: int, b: int
        ...

Operators show their overload; `IntImplicit(x)` is an implicit conversion, `dim=0` a default,
`$3` a temporary.
"""

from __future__ import annotations

from collections.abc import Iterable as Many

from ..definitions.schema import Argument, Signature
from . import typed

__all__ = ["dump"]


def dump(function: typed.TypedFunction) -> str:
    """The whole function as text, ending in a line end."""
    parameters = ", ".join(f"{p.name}: {p.type}" for p in function.parameters)
    lines = [f"def {function.name}({parameters}) -> {function.returns}:"]
    lines.extend(_block(function.body))
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------ statements


def _block(statements: Many[typed.Statement]) -> list[str]:
    lines = [f"  {line}" for s in statements for line in _statement(s)]
    return lines or ["  pass"]


def _statement(node: typed.Statement) -> list[str]:
    match node:
        case typed.Line():
            return []
        case typed.Assign():
            return [f"{node.name}: {node.type} = {_expression(node.value)}"]
        case typed.Let():
            return [f"${node.index} = {_expression(node.value)}"]
        case typed.Unpack():
            names = ", ".join(f"${i}" for i in node.temporaries)
            return [f"{names}, = *{_expression(node.value)}"]
        case typed.SetAttribute():
            return [f"{_expression(node.object)}.{node.name} = {_expression(node.value)}"]
        case typed.Evaluate():
            return [_expression(node.value)]
        case typed.Return():
            return [f"return {_expression(node.value)}"]
        case typed.Raise():
            return [f"raise {node.exception or 'Error'}({_expression(node.message)})"]
        case typed.Break():
            return ["break"]
        case typed.Continue():
            return ["continue"]
    return _compound(node)


def _compound(node: typed.Statement) -> list[str]:
    match node:
        case typed.If():
            lines = [f"if {_expression(node.test)}:{_variables('joins', node.joins)}"]
            lines.extend(_block(node.body))
            if node.orelse:
                lines.extend(["else:", *_block(node.orelse)])
            return lines
        case typed.While():
            head = f"while {_expression(node.test)}:{_variables('carries', node.carried)}"
            return [head, *_block(node.body)]
        case typed.For():
            head = f"for {_iterable(node.iterable)}:{_variables('carries', node.carried)}"
            return [head, *_block(node.body)]
        case typed.With():
            contexts = ", ".join(
                _expression(c.value) + (f" as {c.target}" if c.target else "")
                for c in node.contexts
            )
            return [f"with {contexts}:", *_block(node.body)]
    raise TypeError(f"unknown statement {type(node).__name__}")


def _variables(word: str, variables: tuple[typed.Variable, ...]) -> str:
    if not variables:
        return ""
    return f"  # {word} {', '.join(f'{v.name}: {v.type}' for v in variables)}"


def _iterable(node: typed.Iterable) -> str:
    match node:
        case typed.Range():
            parts = [p for p in (node.start, node.stop, node.step) if p is not None]
            return f"${node.item} in range({', '.join(map(_expression, parts))})"
        case typed.Sequence():
            name = node.item_signature.full_name
            return f"${node.item}: {node.item_type} in {name}({_expression(node.value)})"
        case typed.Zip():
            return f"zip({', '.join(map(_iterable, node.children))})"


# ----------------------------------------------------------------------------------- expressions


def _expression(node: typed.Expr) -> str:
    match node:
        case typed.Literal():
            return _literal(node)
        case typed.PlaceNumber():
            return str(node.number)
        case typed.Local():
            return node.name
        case typed.Temporary():
            return f"${node.index}"
        case typed.GetAttribute():
            return f"{_expression(node.object)}.{node.name}"
        case typed.OperatorCall():
            return _call(node.signature.full_name, node.signature, node.inputs, node.bindings)
        case typed.FunctionCall():
            name = node.function.qualified_name
            return _call(name, node.function.signature, node.inputs, node.bindings)
        case typed.PythonCall():
            function = node.function
            return _call(f"^{function.name}", function.signature, node.inputs, node.bindings)
        case typed.MethodCall():
            name = f"{_expression(node.object)}.{node.name}"
            return _call(name, node.signature, node.inputs, node.bindings, skip=1)
        case typed.NewObject():
            signature = node.init.signature if node.init is not None else None
            return _call(f"new {node.cls}", signature, node.inputs, node.bindings, skip=1)
    return _constructor(node)


def _constructor(node: typed.Expr) -> str:
    match node:
        case typed.TupleLiteral():
            return f"tuple({_all(node.elements)})"
        case typed.ListLiteral():
            return f"list[{node.type.contained[0]}]({_all(node.elements)})"
        case typed.DictLiteral():
            pairs = zip(node.keys, node.values, strict=True)
            return "{" + ", ".join(f"{_expression(k)}: {_expression(v)}" for k, v in pairs) + "}"
        case typed.TupleIndex():
            return f"{_expression(node.value)}[{node.index}]"
        case typed.TupleSlice():
            step = f":{node.step}" if node.step != 1 else ""
            return f"{_expression(node.value)}[{node.start}:{node.stop}{step}]"
        case typed.UncheckedCast():
            return f"cast[{node.type}]({_expression(node.value)})"
        case typed.Numbered():
            return _expression(node.value)
        case typed.IsInstance():
            types = ", ".join(map(str, node.types))
            return f"isinstance({_expression(node.value)}, [{types}])"
        case typed.Uninitialized():
            return f"uninitialized[{node.type}]"
    return _compound_expression(node)


def _compound_expression(node: typed.Expr) -> str:
    match node:
        case typed.Conditional():
            body = _guarded(node.body_refinements, node.body)
            orelse = _guarded(node.orelse_refinements, node.orelse)
            return f"({body} if {_expression(node.test)} else {orelse})"
        case typed.ShortCircuit():
            right = _guarded(node.refinements, node.right)
            return f"({_expression(node.left)} {node.operator} {right})"
        case typed.Sequenced():
            return _guarded(node.statements, node.value)
        case typed.ListComprehension():
            return f"[{_turn(node.prelude, node.element, node.iterable, node.condition)}]"
        case typed.DictComprehension():
            value = _turn((), node.value, node.iterable, node.condition)
            return "{" + _guarded(node.prelude, node.key) + f": {value}}}"
        case typed.Fork():
            return f"{_begun(node)}({_expression(node.call)})"
        case typed.ForkedBody():
            return f"{_begun(node)}({node.function.name})"
    raise TypeError(f"unknown expression {type(node).__name__}")


def _begun(node: typed.Fork | typed.ForkedBody) -> str:
    return "awaitable" if node.awaited else "fork"


def _turn(
    prelude: tuple[typed.Statement, ...],
    element: typed.Expr,
    iterable: typed.Iterable,
    condition: typed.Expr | None,
) -> str:
    text = f"{_guarded(prelude, element)} for {_iterable(iterable)}"
    return text if condition is None else f"{text} if {_expression(condition)}"


def _guarded(statements: tuple[typed.Statement, ...], value: typed.Expr) -> str:
    """An expression with the statements that come before it."""
    if not statements:
        return _expression(value)
    lines = [line for s in statements for line in _statement(s)]
    return f"({'; '.join(lines)}; {_expression(value)})"


def _all(nodes: Many[typed.Expr]) -> str:
    return ", ".join(map(_expression, nodes))


def _literal(node: typed.Literal) -> str:
    if isinstance(node.value, typed.EnumMember):
        return f"{node.type}.{node.value.name}"
    if isinstance(node.value, bool | int | float | complex | str) or node.value is None:
        return repr(node.value)
    name = getattr(node.value, "qualified_name", None)
    return str(name) if name is not None else f"constant[{node.type}]"


def _call(
    name: str,
    signature: Signature | None,
    inputs: tuple[typed.Expr, ...],
    bindings: tuple[typed.Binding, ...],
    *,
    skip: int = 0,
) -> str:
    arguments = signature.arguments[skip:] if signature is not None else ()
    parts: list[str] = []
    for place, binding in enumerate(bindings):
        argument = arguments[place] if place < len(arguments) else None
        parts.append(_binding(binding, argument, inputs))
    return f"{name}({', '.join(parts)})"


def _binding(
    binding: typed.Binding, argument: Argument | None, inputs: tuple[typed.Expr, ...]
) -> str:
    match binding:
        case typed.Given():
            text = _expression(inputs[binding.index])
            for conversion in binding.conversions:
                text = f"{conversion.name.rpartition('::')[2]}({text})"
            return text
        case typed.Default():
            return f"{argument.name if argument is not None else '?'}={binding.value!r}"
        case typed.Gathered():
            return f"[{', '.join(_binding(e, None, inputs) for e in binding.elements)}]"
        case typed.Repeated():
            return f"[{_binding(binding.element, None, inputs)}] * {binding.count}"
        case typed.FromTuple():
            return f"[*{_expression(inputs[binding.index])}]"
        case typed.Rebuilt():
            value = inputs[binding.index]
            parts = range(len(binding.parts))
            elements = tuple(typed.TupleIndex(value.span, value.type, value, i) for i in parts)
            return f"({', '.join(_binding(part, None, elements) for part in binding.parts)})"
