"""Calls of script functions, methods and classes, and of whatever else can be called."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..frontend import tree
from ..frontend.diagnostics import Demand, Label
from ..frontend.source import UNKNOWN as NOWHERE
from ..frontend.source import Span
from ..frontend.torch_ranges import whole_range
from . import typed
from .conversions import Conversions
from .functions import Function, RecursiveDefinition
from .matching import Given, Match, match_signature
from .module_calls import ModuleCalls
from .names import (
    Constant,
    ExceptionClass,
    FlaggedFunction,
    FunctionName,
    OperatorName,
    OverloadedFunction,
    PythonName,
    SpecialForm,
    TypeName,
)
from .schema import NO_DEFAULT, Argument, Signature
from .sugar import (
    CASTS,
    BoundMethod,
    BoundOperator,
    BoundOverloads,
    BoundPython,
    ContainerMethod,
    ExceptionValue,
    MemberSequence,
    StaticMethod,
    Sugar,
    as_called,
)
from .types import (
    ANY,
    BOOL,
    DEVICE,
    GENERATOR,
    INT,
    NONE,
    STRING,
    TENSOR,
    UNKNOWN,
    ClassType,
    EnumType,
    FunctionType,
    InterfaceType,
    ListType,
    OptionalType,
    TupleType,
    Type,
)

__all__ = ["Calls"]


_TO_LIST = Signature(
    "prim::tolist",
    "",
    (Argument("self", TENSOR), Argument("dim", INT), Argument("element", INT)),
    (Argument("", ANY),),
)
"""`dim` is the depth of the wanted list; `element` 0 for int, 1 float, 2 bool, 3 complex."""


class Calls(Conversions, ModuleCalls):
    """Calls."""

    def special_form(self, form: SpecialForm, node: tree.Call, hint: Type | None) -> Sugar:
        """A call of a name the checker itself knows; given its meaning by a later class."""
        raise NotImplementedError

    def call(self, node: tree.Call, hint: Type | None = None) -> Sugar:
        """What a call stands for."""
        if isinstance(node.function, tree.Attribute) and node.function.name == "tolist":
            found = self._to_list(node, node.function, hint)
            if found is not None:
                return found
        callee = self.sugared(node.function)
        if isinstance(callee, SpecialForm):
            return self.special_form(callee, node, hint)
        if isinstance(callee, FunctionName | BoundMethod):
            # as in torch, the callee is compiled where it is named: before the arguments
            self.signature_of(callee.function, node, node.function.span)
        statements: list[typed.Statement] = []
        given = self.arguments(node, statements)
        return self.sequenced(statements, self.apply(callee, given, node), node.span)

    def sequenced(self, statements: list[typed.Statement], result: Sugar, span: Span) -> Sugar:
        """The result, after the statements its arguments needed."""
        if not statements or not isinstance(result, typed.Expr):
            return result
        return typed.Sequenced(span, result.type, tuple(statements), result)

    def arguments(self, node: tree.Call, into: list[typed.Statement]) -> Given:
        """Check the arguments of a call, in order."""
        given = Given([])
        for argument in node.arguments:
            if isinstance(argument, tree.Starred):
                unpacked = self._unpacked(argument, into)
                given.is_incomplete |= unpacked is None
                given.positional.extend(unpacked or [])
            else:
                given.positional.append(self.expression(argument))
        for keyword in node.keywords:
            value = self.expression(keyword.value)
            if keyword.name is not None:
                given.keywords[keyword.name] = value
                given.spans[keyword.name] = keyword.span
            else:  # `**`, which was refused
                given.is_incomplete = True
        return given

    def _unpacked(self, node: tree.Starred, into: list[typed.Statement]) -> list[typed.Expr] | None:
        value = self.expression(node.value)
        if isinstance(value.type, TupleType):
            return self.tuple_elements(value, into)
        if value.type is not UNKNOWN:
            self.report(
                "argument-type",
                f"`*` needs a tuple here, not `{value.type.python}`",
                node.value.span,
                "its length is not known now",
                torch="cannot statically infer the expected size of a list in this context"
                if isinstance(value.type, ListType)
                else f"'{value.type.annotation_str}' cannot be used as a tuple",
            )
        return None

    # ------------------------------------------------------------------------------ dispatch

    def apply(self, callee: Sugar, given: Given, node: tree.Call) -> Sugar:
        """Call something already checked with arguments already checked."""
        callee, written, place = as_called(callee), node.function.span.text, node.function.span
        if isinstance(callee, OperatorName):
            return self.call_operator(
                callee.name, given, node.span, written=written, torch_span=place
            )
        if isinstance(callee, BoundOperator):
            given.receiver = callee.receiver
            name = f"aten::{callee.name}"
            if callee.name in CASTS and not self.has_operator(name):
                number = typed.Literal(node.span, INT, CASTS[callee.name])
                no = typed.Literal(NOWHERE, BOOL, value=False)
                given.positional[:0] = [number, no, no]
                name = "aten::to"
            return self.call_operator(name, given, node.span, written=callee.name, torch_span=place)
        if isinstance(callee, FunctionName | StaticMethod):
            return self.call_function(callee.function, given, node)
        if isinstance(callee, OverloadedFunction):
            return self._call_overloaded(callee, given, node)
        if isinstance(callee, FlaggedFunction):
            return self._call_flagged(callee, given, node)
        if isinstance(callee, BoundMethod):
            return self.call_bound(callee, given, node)
        if isinstance(callee, PythonName):
            return self._call_python(callee, given, node)
        if isinstance(callee, BoundPython):
            given.positional.insert(0, callee.receiver)
            return self._call_python(callee.meaning, given, node)
        if isinstance(callee, BoundOverloads):
            return self._call_overloaded_method(callee, given, node)
        if isinstance(callee, ContainerMethod):
            return MemberSequence(callee.span, callee.receiver, callee.name)
        if isinstance(callee, TypeName):
            if callee.dtype is not None:
                return self._old_tensor(callee.dtype, given, node)
            return self._call_type(callee.type, given, node)
        if isinstance(callee, ExceptionClass):
            return self.make_exception(callee, given, node)
        return self._call_value(callee, given, node)

    def _call_value(self, callee: Sugar, given: Given, node: tree.Call) -> Sugar:
        if hasattr(callee, "has_instance"):
            return self.report_construction(node)
        value = self.value(callee, node.function.span)
        type = value.type
        if isinstance(type, FunctionType):
            return self.call_function(type.function, given, node)
        if isinstance(type, ClassType | InterfaceType):
            name = "forward" if type.is_module else "__call__"
            if isinstance(value, typed.Temporary) and value.index in self.sliced:
                return self._report_sliced(type, node)
            methods = type.method if isinstance(type, ClassType) else type.methods.get
            method = methods(name)
            if method is not None:
                bound = BoundMethod(value, name, method)
                if isinstance(type, ClassType) and type.is_live:
                    return self._call_module(bound, type, given, node)
                return self.call_bound(bound, given, node)
            other = type.other(name) if isinstance(type, ClassType) else None
            if isinstance(other, OverloadedFunction) and other.functions[0].owner is not None:
                return self.apply(BoundOverloads(value, other.functions), given, node)
            if isinstance(other, PythonName):  # `forward` is left to Python
                return self.apply(BoundPython(value, other), given, node)
        if isinstance(type, ClassType) and type.is_module:
            return self.report_no_forward(type, node)
        if type is not UNKNOWN and not isinstance(callee, Constant):
            self.report(
                "argument-type",
                f"`{node.function.span.text}` is `{type.python}`, which cannot be called",
                node.function.span,
                f"this is `{type.python}`",
                torch=f"cannot call a value of type '{self.torch_type(value)}'",
                secondary=tuple(self.origin(value)),
            )
        return self.unknown(node.span)

    def _report_sliced(self, type: Type, node: tree.Call) -> typed.Expr:
        self.report(
            "unsupported-syntax",
            "a module out of a slice cannot be called",
            node.function.span,
            "loop over all modules, or index them one by one",
            torch=f"'{type}' object has no attribute or method '__call__'. Did you forget to "
            "initialize an attribute in __init__()?",
            torch_span=node.span,
        )
        return self.unknown(node.span)

    # --------------------------------------------------------------------- script functions

    @contextmanager
    def demanding(self, function: Function, node: tree.Expr) -> Iterator[None]:
        """While the callee is compiled, its diagnostics say why it is."""
        is_direct = self.direct is not None and self.direct[0] is node
        span = self.direct[1] if self.direct is not None and is_direct else whole_range(node)
        written = node.function.span.whole if isinstance(node, tree.Call) else None
        demand = Demand(_title(function), _title(self.function), span, written)
        self.collector.demands.append(demand)
        try:
            yield
        finally:
            self.collector.demands.pop()

    def signature_of(self, function: Function, node: tree.Expr, place: Span) -> Signature | None:
        """The callee's signature, its body checked now if that has not happened."""
        if not function.is_being_defined:
            try:
                with self.demanding(function, node):
                    return function.signature
            except RecursiveDefinition:
                # Its own error was reported while it was being defined, or it is a recursion.
                if not function.is_being_defined:
                    return None
        kind = "method" if function.owner is not None else "function"
        secondary: tuple[Label, ...] = ()
        if function.tree is not None:
            secondary = (Label(function.tree.name_span, "still being compiled"),)
        self.report(
            "recursion",
            f"`{function.name}` calls itself, which script cannot do",
            place,
            "a recursive call",
            torch=f" {kind} '{function.name}' is called recursively. "
            "Recursive calls are not supported",
            secondary=secondary,
        )
        return None

    def call_function(self, function: Function, given: Given, node: tree.Call) -> typed.Expr:
        """A call of a script function."""
        place = node.function.span
        signature = self.signature_of(function, node, place)
        if signature is None:
            return self.unknown(node.span)
        found = match_signature(signature, given, self.table, convert=True)
        if not isinstance(found, Match):
            self.report_mismatch(found, given, node.span, function, place)
            return typed.Uninitialized(node.span, signature.returns[0].type)
        return typed.FunctionCall(node.span, found.result(), function, found.inputs, found.bindings)

    def _call_flagged(self, callee: FlaggedFunction, given: Given, node: tree.Call) -> typed.Expr:
        """A call of one of two functions, which a constant argument chooses."""
        place = callee.place
        positional = given.positional
        flag = positional[place] if place < len(positional) else given.keywords.get(callee.flag)
        if flag is not None and not isinstance(flag, typed.Literal):
            self.report(
                "argument-type",
                f"`{callee.flag}` chooses a function, so it must be a constant",
                flag.span,
                "not known before the program runs",
                torch=f"argument for boolean dispatch at position {place} was not constant",
            )
            return self.unknown(node.span)
        chosen = callee.if_true if flag is not None and flag.value else callee.if_false
        if isinstance(chosen, FlaggedFunction):
            return self._call_flagged(chosen, given, node)
        return self.call_function(chosen, given, node)

    def _call_overloaded(
        self, callee: OverloadedFunction, given: Given, node: tree.Call
    ) -> typed.Expr:
        signatures = []
        for function in callee.functions:
            signature = self.signature_of(function, node, node.function.span)
            if signature is None:
                return self.unknown(node.span)
            signatures.append(signature)
        for convert in (False, True):  # as operators are chosen: first without conversions
            for function, signature in zip(callee.functions, signatures, strict=True):
                found = match_signature(signature, given, self.table, convert=convert)
                if isinstance(found, Match):
                    return self.call_function(function, given, node)
        return self.call_function(callee.functions[-1], given, node)

    def _call_overloaded_method(
        self, callee: BoundOverloads, given: Given, node: tree.Call
    ) -> typed.Expr:
        for function in callee.functions:
            signature = self.signature_of(function, node, node.function.span)
            if signature is None:
                return self.unknown(node.span)
            whole = Given([callee.receiver, *given.positional], given.keywords, None, given.spans)
            if isinstance(match_signature(signature, whole, self.table, convert=True), Match):
                break
        bound = BoundMethod(callee.receiver, function.name, function)
        return self.call_bound(bound, given, node)

    def _call_module(
        self, callee: BoundMethod, cls: ClassType, given: Given, node: tree.Call
    ) -> Sugar:
        """A module's `forward` with its hooks around it; they see the arguments as one tuple."""
        if not cls.forward_pre_hooks and not cls.forward_hooks:
            return self.call_bound(callee, given, node)
        statements: list[typed.Statement] = []
        receiver = self.let(callee.receiver, statements)
        values = tuple(given.positional)
        types = TupleType(tuple(v.type for v in values))
        packed = self.let(typed.TupleLiteral(node.span, types, values), statements)
        for hook in cls.forward_pre_hooks:
            result = self.call_function(hook, Given([receiver, packed]), node)
            result = self.let(result, statements)
            if isinstance(result.type, TupleType):
                packed = result
            elif result.type not in (NONE, UNKNOWN):
                single = typed.TupleLiteral(node.span, TupleType((result.type,)), (result,))
                packed = self.let(single, statements)
        if values and packed.type is not UNKNOWN:
            given.positional[:] = self.tuple_elements(packed, statements)
        output = self.call_bound(BoundMethod(receiver, callee.name, callee.function), given, node)
        for hook in cls.forward_hooks:
            output = self.let(output, statements)
            result = self.call_function(hook, Given([receiver, packed, output]), node)
            if result.type is NONE:
                self.let(result, statements)
            else:
                output = result
        return self.sequenced(statements, output, node.span)

    def _call_python(self, callee: PythonName, given: Given, node: tree.Call) -> typed.Expr:
        """A call that leaves compiled code; a dropped function raises instead."""
        signature = callee.function.signature
        found = match_signature(signature, given, self.table, convert=True)
        if not isinstance(found, Match):
            name = callee.function.name
            self.report_mismatches([found], given, node.span, name, node.function.span)
            return typed.Uninitialized(node.span, signature.returns[0].type)
        if callee.dropped:
            return _dropped(node, signature.returns[0].type)
        return typed.PythonCall(
            node.span, found.result(), callee.function, found.inputs, found.bindings
        )

    def call_bound(self, callee: BoundMethod, given: Given, node: tree.Call) -> typed.Expr:
        """`object.method(...)`."""
        place = node.function.span
        signature = self.signature_of(callee.function, node, place)
        if signature is None:
            return self.unknown(node.span)
        whole = Given([callee.receiver, *given.positional], given.keywords, None, given.spans)
        found = match_signature(signature, whole, self.table, convert=True)
        if not isinstance(found, Match):
            self.report_mismatch(found, whole, node.span, callee.function, place)
            return typed.Uninitialized(node.span, signature.returns[0].type)
        bindings = tuple(shifted(b) for b in found.bindings[1:])
        return typed.MethodCall(
            node.span,
            found.result(),
            callee.receiver,
            callee.name,
            signature,
            found.inputs[1:],
            bindings,
        )

    def call_method(
        self, value: typed.Expr, name: str, arguments: list[typed.Expr], span: Span
    ) -> typed.Expr:
        """A call, of the language's own making, of a method such as `__getitem__`."""
        type = value.type
        method = type.magic(name) if isinstance(type, ClassType) else None
        function = tree.Name(span, name)
        node = tree.Call(span, function, (), ())
        if method is None:
            self.report(
                "missing-attribute",
                f"`{type.python}` has no method `{name}`",
                span,
                f"needs `{name}`",
                torch=f"'{type}' object has no attribute or method '{name}'. "
                "Did you forget to initialize an attribute in __init__()?",
            )
            return self.unknown(span)
        return self.call_bound(BoundMethod(value, name, method), Given(arguments), node)

    # ------------------------------------------------------------------------------- classes

    def _call_type(self, type: Type, given: Given, node: tree.Call) -> Sugar:
        if isinstance(type, ClassType):
            return self._new_object(type, given, node)
        if isinstance(type, TupleType) and type.name is not None:
            return self._new_named_tuple(type, given, node)
        if type == DEVICE:
            place = node.function.span
            if not given.positional and list(given.keywords) == ["type"]:
                given = Given([given.keywords["type"]])
            return self.call_operator(
                "aten::device", given, node.span, written="device", torch_span=place
            )
        if type == GENERATOR:
            return self.call_operator("aten::Generator", given, node.span, written="Generator")
        if isinstance(type, EnumType):
            self.report(
                "not-scriptable",
                f"members of `{type.python}` cannot be made or looked up by value",
                node.function.span,
                "called here",
                torch="cannot call a EnumClass",
                torch_span=node.span,
            )
            return self.unknown(node.span)
        form = {"list": "list", "tuple": "tuple"}.get(str(type), type.python)
        return self.special_form(SpecialForm(form), node, None)

    def _old_tensor(self, dtype: int, given: Given, node: tree.Call) -> typed.Expr:
        """`torch.FloatTensor(...)`: an empty tensor of some sizes, or one of the given values."""
        values = given.positional
        sizes = bool(values) and all(value.type == INT for value in values)
        if given.keywords or (len(values) > 1 and not sizes):
            found = "keywords" if given.keywords else "several values that are not all sizes"
            self.report(
                "no-matching-overload",
                f"`{node.function.span.text}` takes sizes or one value, not {found}",
                node.span,
                "called here",
                torch="Legacy Tensor Constructor only supports two schemas in TorchScript: \n"
                "1. A single list or tensor to be converted\n2. Integers that are sizes; got "
                + (f"keyword arguments {', '.join(given.keywords)}" if given.keywords else "")
                + (
                    ""
                    if given.keywords
                    else "multiple positional arguments that were not all integers"
                ),
            )
            return self.unknown(node.span)
        if sizes or not values:
            types = ListType(INT)
            values = [typed.ListLiteral(NOWHERE, types, tuple(values))]
        name = "aten::empty" if sizes else "aten::tensor"
        keywords: dict[str, typed.Expr] = {"dtype": typed.Literal(NOWHERE, INT, dtype)}
        return self.call_operator(name, Given(list(values), keywords), node.span, written="Tensor")

    def _new_object(self, cls: ClassType, given: Given, node: tree.Call) -> typed.Expr:
        init = cls.method("__init__")
        if init is None:
            return typed.NewObject(node.span, cls, cls, None, (), ())
        signature = self.signature_of(init, node, node.function.span)
        if signature is None:
            return typed.Uninitialized(node.span, cls)
        receiver = typed.Uninitialized(node.span, cls)
        whole = Given([receiver, *given.positional], given.keywords, None, given.spans)
        found = match_signature(signature, whole, self.table, convert=True)
        if not isinstance(found, Match):
            self.report_mismatch(found, whole, node.span, init, node.function.span)
            return typed.Uninitialized(node.span, cls)
        bindings = tuple(shifted(b) for b in found.bindings[1:])
        return typed.NewObject(node.span, cls, cls, init, found.inputs[1:], bindings)

    def _new_named_tuple(self, type: TupleType, given: Given, node: tree.Call) -> typed.Expr:
        """Fields by position or name; the order of evaluation is that of the call."""
        defaults = dict(type.defaults)
        arguments = tuple(
            Argument(n, t, defaults.get(n, NO_DEFAULT))
            for n, t in zip(type.fields, type.elements, strict=True)
        )
        name = type.python
        signature = Signature(name, "", arguments, (Argument("", type),))
        found = match_signature(signature, given, self.table, convert=True)
        if not isinstance(found, Match):
            self.report_mismatches([found], given, node.span, name, node.function.span)
            return typed.Uninitialized(node.span, type)
        statements: list[typed.Statement] = []
        inputs = list(found.inputs)
        if given.keywords:
            inputs = [self.let(e, statements) for e in inputs]
        fields: list[typed.Expr] = []
        for binding, wanted in zip(found.bindings, type.elements, strict=True):
            if isinstance(binding, typed.Default):
                fields.append(typed.Literal(NOWHERE, binding.type, binding.value))
                continue
            assert isinstance(binding, typed.Given | typed.FromTuple)
            fields.append(self.convert(inputs[binding.index], wanted, node.span))
        result = typed.TupleLiteral(node.span, type, tuple(fields))
        if not statements:
            return result
        return typed.Sequenced(node.span, type, tuple(statements), result)

    # ----------------------------------------------------------------------------- the rest

    def make_exception(self, callee: ExceptionClass, given: Given, node: tree.Call) -> Sugar:
        """An exception; several arguments are told as a tuple, as in torch."""
        values = [*given.positional, *given.keywords.values()]
        message: typed.Expr
        if not values:
            message = typed.Literal(node.span, STRING, "")
        elif len(values) == 1:
            message = values[0]
        else:
            types = TupleType(tuple(v.type for v in values))
            message = typed.TupleLiteral(node.span, types, tuple(values))
        return ExceptionValue(message, callee.qualified_name, node.span)

    def _to_list(
        self, node: tree.Call, function: tree.Attribute, hint: Type | None
    ) -> typed.Expr | None:
        """`tensor.tolist()`, whose type comes from where its result goes."""
        value = self.expression(function.value)
        if value.type != TENSOR or node.arguments or node.keywords:
            return None
        depth, element = 0, hint
        while isinstance(element, ListType):
            depth, element = depth + 1, element.element
        kinds = {"int": 0, "float": 1, "bool": 2, "complex": 3}
        if hint is None or str(element) not in kinds:
            self.report(
                "unknown-type",
                "the type of `tolist()` must be said",
                function.span,
                "annotate the variable it is assigned to",
                torch="Expected type hint for result of tolist()",
                torch_span=node.span,
            )
            return self.unknown(node.span)
        bindings = (
            typed.Given(0),
            typed.Default(depth, INT),
            typed.Default(kinds[str(element)], INT),
        )
        return typed.OperatorCall(node.span, hint, _TO_LIST, (value,), bindings)


_RAISE = Signature(
    "prim::RaiseException",
    "",
    (Argument("msg", STRING), Argument("cls", OptionalType(STRING))),
    (),
)


def _dropped(node: tree.Call, type: Type) -> typed.Expr:
    """What a call of an unused function is: an exception, and a value that is never looked at."""
    text = "This Python function is annotated to be ignored and cannot be run"
    message = typed.Literal(NOWHERE, STRING, text)
    bindings = (typed.Given(0), typed.Default(None, NONE))
    raised = typed.OperatorCall(node.span, NONE, _RAISE, (message,), bindings)
    value = typed.Uninitialized(node.span, type)
    return typed.Sequenced(node.span, type, (typed.Evaluate(node.span, raised),), value)


def _title(function: Function) -> str:
    """How torch names a function in the chain of those that are compiled."""
    if function.owner is not None:
        return f"{function.owner.name}.{function.name}"
    return function.name


def shifted(binding: typed.Binding) -> typed.Binding:
    """The binding, for inputs without the first."""
    if isinstance(binding, typed.Given):
        return typed.Given(binding.index - 1, binding.conversions)
    if isinstance(binding, typed.FromTuple):
        return typed.FromTuple(binding.index - 1, binding.elements, binding.element_type)
    if isinstance(binding, typed.Gathered):
        elements = tuple(typed.Given(g.index - 1, g.conversions) for g in binding.elements)
        return typed.Gathered(elements, binding.element_type)
    if isinstance(binding, typed.Repeated) and isinstance(binding.element, typed.Given):
        element = typed.Given(binding.element.index - 1, binding.element.conversions)
        return typed.Repeated(element, binding.count, binding.element_type)
    return binding
