"""Python source of a graph: what `Graph.python_code` gives."""

from __future__ import annotations

import enum
import inspect
import operator
import re
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any, Final, NamedTuple

from ..ops.eager.dispatch import EagerFunction
from ..ops.eager.packets import Overload, Packet
from ..ops.memory.dtype import Device
from ..typecheck.definitions.signs import BETWEEN, COMPARING, IN_FRONT
from ..utils._pytree import TreeSpec, tree_flatten, tree_unflatten
from ._colors import Painter, painter
from ._names import qualified_name, torch_module, type_text
from ._namespace import _custom_builtins, _Namespace
from ._node_comments import Comments, tensor_annotation
from .node import Argument, Node

__all__ = ["CodeGen", "PythonCode", "Style", "inplace_methods", "magic_methods"]

_BETWEEN: Final = {sign: known.word for sign, known in BETWEEN.items()}
reflectable_magic_methods: Final = {
    **{word + "_" * iskeyword(word): f"{{}} {sign} {{}}" for sign, word in _BETWEEN.items()},
    "div": "{} / {}",
    "getitem": "{}[{}]",
}
magic_methods: Final = {
    **{known.word: f"{{}} {sign} {{}}" for sign, known in COMPARING.items()},
    **{known.word: f"{sign}{{}}" for sign, known in IN_FRONT.items()},
    **reflectable_magic_methods,
}
inplace_methods: Final = {
    **{f"i{word}": f"{{}} {sign}= {{}}" for sign, word in _BETWEEN.items()},
    "setitem": "{}[{}] = {}",
}
_TYPING: Final = {
    list: typing.List,  # noqa: UP006
    dict: typing.Dict,  # noqa: UP006
    set: typing.Set,  # noqa: UP006
    frozenset: typing.FrozenSet,  # noqa: UP006
    tuple: typing.Tuple,  # noqa: UP006
}
TransformCodeFunc = Callable[[list[str]], list[str]]


@dataclass
class PythonCode:
    """Source, the globals it needs, and the place in the graph of each of its lines."""

    src: str
    globals: dict[str, object]
    _lineno_map: dict[int, int | None] | None
    _prologue_start: int = 0


class _PyTreeInfo(NamedTuple):
    """How the arguments of a traced function hold what its placeholders stand for."""

    orig_args: list[str]
    in_spec: TreeSpec
    out_spec: TreeSpec | None


@dataclass
class Style:
    """How much the source says."""

    verbose: bool = False
    include_stride: bool = False
    include_device: bool = False
    colored: bool = False
    expanded_def: bool = False
    additional_meta: Sequence[str] = ()


# --------------------------------------------------------------------------------- sources


def _format_target(base: str, target: str) -> str:
    """The expression for `a.0.b` below `base`; what is no identifier goes through `getattr`."""
    made = base
    for part in target.split("."):
        made = f"{made}.{part}" if part.isidentifier() else f'getattr({made}, "{part}")'
    return made


def last_uses(nodes: Iterable[Node]) -> dict[Node, list[Node]]:
    """For each node the values that nothing behind it uses."""
    seen: set[Node] = set()
    found: dict[Node, list[Node]] = {}
    for user in reversed(list(nodes)):
        for value in user.all_input_nodes:
            if value not in seen:
                seen.add(value)
                found.setdefault(user, []).append(value)
    return found


@dataclass
class _Writer:
    """Writes the body of one graph's function."""

    root: str
    namespace: _Namespace
    style: Style
    repr_fn: Callable[[object], str] | None = None
    globals: dict[str, object] = field(default_factory=dict)
    free_vars: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    wrapped: dict[str, None] = field(default_factory=dict)
    returned: str = ""
    last: dict[Node, list[Node]] = field(default_factory=dict)
    paint: Painter = field(default_factory=lambda: painter(False))

    # -- names -----------------------------------------------------------------------------

    def add_global(self, hint: str, thing: Any) -> str:
        """The name under which the source finds an object: a dotted one if it is torch's."""
        if _is_from_torch(thing) and thing is not Device:
            return qualified_name(thing)
        name = hint.replace(".", "_")
        if self.globals.get(name) is thing and name in self.globals:
            return name
        name = self.namespace.create_name(name, thing)
        self.globals[name] = thing
        return name

    def type_repr(self, kind: object) -> str:
        """A type as an annotation."""
        if kind == ():
            return "()"
        if kind is ...:
            return self.add_global("_", kind)
        if isinstance(kind, list):  # the arguments of a Callable
            return f"[{','.join(map(self.type_repr, kind))}]"
        if isinstance(kind, types.UnionType):
            return "|".join(map(self.type_repr, kind.__args__))
        origin = getattr(kind, "__origin__", None)
        if origin is None:
            return self.add_global(type_text(kind), kind)
        if not isinstance(kind, types.GenericAlias):
            origin = _TYPING.get(origin, origin) if _parts(kind) else origin
        name = self.add_global(type_text(origin), origin)
        args = [self.type_repr(each) for each in _parts(kind)]
        return f"{name}[{','.join(args)}]" if args else name

    # -- values ----------------------------------------------------------------------------

    def value(self, arg: object) -> str:
        """An argument as an expression."""
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            name = self.add_global(type_text(type(arg)), type(arg))
            return f"{name}{self._sequence(tuple(arg))}"
        custom = getattr(arg, "_custom_fx_repr_fn", None)
        if custom is not None:
            return str(custom())
        if isinstance(arg, Node):
            return arg.name
        if isinstance(arg, (tuple, list)):
            return self._sequence(arg)
        if isinstance(arg, dict):
            inner = ", ".join(f"{key!r}: {self.value(each)}" for key, each in arg.items())
            return f"{{{inner}}}"
        if isinstance(arg, slice):
            parts = (self.value(each) for each in (arg.start, arg.stop, arg.step))
            return f"slice({', '.join(parts)})"
        if isinstance(arg, (Packet, Overload)):
            return self.add_global(qualified_name(arg), arg)
        if isinstance(arg, enum.Enum):
            self.add_global(type(arg).__name__, type(arg))
            return f"{type(arg).__name__}.{arg.name}"
        if isinstance(arg, (str, int, float, bool, complex)):
            return self.paint("blue", repr(arg))
        return repr(arg)

    def _sequence(self, arg: Sequence[object]) -> str:
        inner = ", ".join(map(self.value, arg))
        if isinstance(arg, list):
            return f"[{inner}]"
        return f"({inner},)" if len(arg) == 1 else f"({inner})"

    def call_args(self, args: Iterable[Argument], kwargs: dict[str, Argument]) -> str:
        """Arguments of a call."""
        named = [f"{key} = {self.value(each)}" for key, each in kwargs.items()]
        return ", ".join([*map(self.value, args), *named])

    # -- nodes -----------------------------------------------------------------------------

    def write(self, node: Node) -> None:
        """The line of a node, and what it puts elsewhere."""
        getattr(self, f"_{node.op}")(node)
        if node.op not in ("placeholder", "output"):
            self.body.append(self._dropped(node) + "\n")

    def _dropped(self, node: Node) -> str:
        """What ends the lives of values behind their last use."""
        names = [each.name for each in self.last.get(node, ())]
        if not node.users:
            names.append(node.name)
        return ";  " + self.paint("dim", " = ".join([*names, "None"])) if names else ""

    def _annotation(self, node: Node) -> str:
        if self.style.verbose:
            said = tensor_annotation(node, self.style.include_stride, self.style.include_device)
            if said:
                return f': "{said}"'
        return "" if node.type is None else f" : {self.type_repr(node.type)}"

    def _assign(self, node: Node, expression: str) -> None:
        self.body.append(f"{node.name}{self._annotation(node)} = {expression}")

    def _placeholder(self, node: Node) -> None:
        target = str(node.target)
        default = f" = {self.value(node.args[0])}" if node.args else ""
        self.free_vars.append(f"{target}{self._annotation(node)}{default}")
        bare = target.replace("*", "")
        if bare != node.name:
            self.body.append(f"{node.name} = {bare}\n")

    def _get_attr(self, node: Node) -> None:
        self._assign(node, _format_target(self.root, str(node.target)))

    def _call_method(self, node: Node) -> None:
        inner = self.call_args(node.args[1:], node.kwargs)
        self._assign(node, f"{self.value(node.args[0])}.{node.target}({inner})")

    def _call_module(self, node: Node) -> None:
        inner = self.call_args(node.args, node.kwargs)
        self._assign(node, f"{_format_target(self.root, str(node.target))}({inner})")

    def _call_function(self, node: Node) -> None:
        name = operator_name(node.target)
        if name in magic_methods:
            self._assign(node, magic_methods[name].format(*map(self.value, node.args)))
        elif name in inplace_methods:
            changed = inplace_methods[name].format(*map(self.value, node.args))
            first = self.value(node.args[0])
            self.body.append(f"{changed};  {node.name}{self._annotation(node)} = {first}")
        elif _is_plain_getattr(node):
            self._assign(node, f"{self.value(node.args[0])}.{node.args[1]}")
        else:
            self._function(node)

    def _function(self, node: Node) -> None:
        assert callable(node.target)
        called = self.add_global(qualified_name(node.target), node.target)
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(called)
        self._assign(node, f"{called}({self.call_args(node.args, node.kwargs)})")

    def _output(self, node: Node) -> None:
        if node.type is not None:
            self.returned = f" -> {self.type_repr(node.type)}"


def _is_from_torch(thing: object) -> bool:
    """Whether torch has it: generated code reaches it through `torch`."""
    if isinstance(thing, (EagerFunction, Packet, Overload)):
        return True
    if not isinstance(getattr(thing, "__module__", None), str):
        return False
    named = hasattr(thing, "__qualname__")
    return named and torch_module(thing).partition(".")[0] == "torch"


def _parts(kind: object) -> tuple[object, ...]:
    """What stands in the brackets of a type; the arguments of a Callable are one list."""
    if getattr(kind, "__origin__", None) is Callable:
        return typing.get_args(kind)
    return getattr(kind, "__args__", ())


def operator_name(target: object) -> str:
    """The name of a function of `operator`; of all else, nothing."""
    name = getattr(target, "__name__", "")
    return name if getattr(operator, name, None) is target else ""


def _is_plain_getattr(node: Node) -> bool:
    if node.target is not getattr or len(node.args) != 2:
        return False
    name = node.args[1]
    return isinstance(name, str) and name.isidentifier()


# --------------------------------------------------------------------------------- CodeGen


class CodeGen:
    """Makes a graph's source; subclasses change the first line, the last, or the way in and out.

    `self.func_name` names the function.
    """

    def __init__(self) -> None:
        self._body_transformer: TransformCodeFunc | None = None
        self._func_name = "forward"

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """The line of `def`; `free_vars` are the parameters but `self`."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        if expanded_def:
            inner = "".join(f"    {each},\n" for each in free_vars)
            return f"def {self._func_name}(\n{inner}){maybe_return_annotation}:"
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(
        self,
        output_args: Argument,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[object], str] | None = None,
    ) -> str:
        """The line of `return`."""
        del descs
        return f"return {(repr_fn or repr)(output_args)}"

    def process_inputs(self, *args: object) -> Any:
        """What the placeholders take, of what the function is given."""
        return args

    def process_outputs(self, outputs: object) -> Any:
        """What the function returns, of what the graph gives."""
        return outputs

    def additional_globals(self) -> list[tuple[str, object]]:
        """Names that the source may use, and what they stand for."""
        return []

    def _gen_python_code(
        self, nodes: Sequence[Node], root_module: str, namespace: _Namespace, style: Style
    ) -> PythonCode:
        writer = _Writer(root_module, namespace, style, paint=painter(style.colored))
        for name, thing in self.additional_globals():
            writer.add_global(name, thing)
        for name, known in _custom_builtins.items():
            writer.add_global(name, known.obj)
        writer.last = last_uses(nodes)
        self._write_body(writer, nodes)
        if not writer.body:
            writer.body.append("pass\n")
        if self._body_transformer:
            writer.body = self._body_transformer(writer.body)
        text, lines = _without_markers(writer.body)
        return self._assembled(writer, text, lines)

    def _write_body(self, writer: _Writer, nodes: Sequence[Node]) -> None:
        comments = Comments(writer.style.additional_meta, writer.paint)
        for place, node in enumerate(nodes):
            if writer.style.verbose:
                writer.body += comments.before(node)
            writer.body.append(f"# COUNTER: {place}\n")
            if node.op == "output":
                writer.write(node)
                writer.body.append(self._output_line(node.args[0], writer) + "\n")
            else:
                writer.write(node)

    def _output_line(self, result: Argument, writer: _Writer) -> str:
        # Generators written before there was this parameter do without it.
        if "repr_fn" in inspect.signature(self.generate_output).parameters:
            return self.generate_output(result, repr_fn=writer.value)
        return self.generate_output(result)

    def _assembled(self, writer: _Writer, text: str, lines: dict[int, int | None]) -> PythonCode:
        wraps = [f'torch.fx._symbolic_trace.wrap("{name}")' for name in writer.wrapped]
        expanded = writer.style.expanded_def
        head = "\n" + "\n".join(wraps) + "\n\n"
        kept = {"expanded_def": True} if expanded else {}
        define = self.gen_fn_def(writer.free_vars, writer.returned, **kept)
        body = "\n".join("    " + line for line in text.split("\n"))
        start = head.count("\n") + define.count("\n") + 1
        return PythonCode(f"{head}{define}\n{body}", writer.globals, lines, start)


_MARKER: Final = re.compile(r"# COUNTER: (\d+)")


def _without_markers(body: list[str]) -> tuple[str, dict[int, int | None]]:
    """The source without the lines that say which node comes, and these by line number."""
    lines: dict[int, int | None] = {}
    kept: list[str] = []
    place: int | None = None
    for line in "".join(body).lstrip("\n").split("\n"):
        found = _MARKER.fullmatch(line)
        if found is not None:
            place = int(found[1])
        elif kept or line:
            kept.append(line)
            lines[len(kept)] = place
    return "\n".join(kept), lines


class _PyTreeCodeGen(CodeGen):
    """Source for arguments and results that are nested containers."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: object) -> object:
        """The leaves of the arguments."""
        return tree_flatten(inputs)[0]

    def process_outputs(self, out: object) -> object:
        """The results in the containers in which they were returned."""
        if not isinstance(out, (list, tuple)):
            out = [out]
        assert self.pytree_info.out_spec is not None
        return tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """The line of `def`, and one that takes the arguments apart."""
        names = self.pytree_info.orig_args
        given = names[1:] if names[:1] == ["self"] else names
        define = super().gen_fn_def(list(names), maybe_return_annotation, expanded_def=expanded_def)
        if not free_vars:
            return define
        bare = [each.split(":")[0].split("=")[0].strip() for each in free_vars]
        leaves = "".join(f"{each}, " for each in bare)
        return (
            f"{define}\n    {leaves}= fx_pytree.tree_flatten_spec([{', '.join(given)}], "
            "self._in_spec)"
        )

    def generate_output(
        self,
        output_args: Argument,
        *,
        descs: Sequence[str] | None = None,
        repr_fn: Callable[[object], str] | None = None,
    ) -> str:
        """The line of `return`, which puts the results into their containers."""
        if self.pytree_info.out_spec:
            return f"return pytree.tree_unflatten({(repr_fn or repr)(output_args)}, self._out_spec)"
        return super().generate_output(output_args, descs=descs, repr_fn=repr_fn)
