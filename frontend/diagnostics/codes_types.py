"""Error codes about calls and types."""

from __future__ import annotations

from .code import Code

__all__ = ["TYPES"]

TYPES = (
    Code(
        "argument-type",
        "an argument has another type than the parameter",
        """
        def repeat(x: torch.Tensor, times: int):
            return x * times

        def f(x: torch.Tensor, rate: float):
            return repeat(x, rate)
        """,
        """
        def repeat(x: torch.Tensor, times: int):
            return x * times

        def f(x: torch.Tensor, rate: float):
            return repeat(x, int(rate))
        """,
        "A parameter without annotation is a Tensor. Numbers are not converted between int and "
        "float when a scripted function is called from script.",
    ),
    Code(
        "too-many-arguments",
        "a call has more arguments than the function has parameters",
        """
        def scale(x, k: float):
            return x * k

        def f(x):
            return scale(x, 0.3, 0.7)
        """,
        """
        def scale(x, k: float):
            return x * k

        def f(x):
            return scale(x, 0.3)
        """,
        "Arguments are matched by position first, then by keyword.",
    ),
    Code(
        "missing-argument",
        "a parameter without a default gets no argument",
        """
        def scale(x, k: float):
            return x * k

        def f(x):
            return scale(x)
        """,
        """
        def scale(x, k: float):
            return x * k

        def f(x):
            return scale(x, 0.3)
        """,
        "Give the argument by position or by keyword, or the parameter a default.",
    ),
    Code(
        "unknown-keyword",
        "a keyword argument names no parameter",
        """
        def scale(x, weight: float = 1.0):
            return x * weight

        def f(x):
            return scale(x, wieght=0.1)
        """,
        """
        def scale(x, weight: float = 1.0):
            return x * weight

        def f(x):
            return scale(x, weight=0.1)
        """,
        "Keywords are the names of the parameters, or of an operator's arguments.",
    ),
    Code(
        "call-type",
        "a scripted function is called from Python with a value of another type",
        """
        @torch.jit.script
        def f(n: int):
            return n + 1

        f(1.5)
        """,
        """
        @torch.jit.script
        def f(n: int):
            return n + 1

        f(1)
        """,
        "Values are checked where they enter script. An int may stand for a float.",
    ),
    Code(
        "no-matching-overload",
        "no form of an operator takes these arguments",
        """
        def f(x: str):
            return torch.mm(x, x)
        """,
        """
        def f(x: torch.Tensor):
            return torch.mm(x, x)
        """,
        "Many operators exist in several forms, tried in order. The message speaks of the form "
        "that comes closest.",
    ),
    Code(
        "not-scriptable",
        "something is called that cannot be compiled",
        """
        import json

        def f(n: int) -> str:
            return json.dumps({"rows": n})
        """,
        """
        import json

        @torch.jit.ignore
        def describe(n: int) -> str:
            return json.dumps({"rows": n})

        def f(n: int) -> str:
            return describe(n)
        """,
        "Calling a Python function from script compiles it too, so the whole of it must be script. "
        "A function marked `@torch.jit.ignore` stays in Python; such a model cannot be saved.",
    ),
    Code(
        "recursion",
        "a function calls itself",
        """
        def f(n: int) -> int:
            if n < 2:
                return 1
            return n * f(n - 1)
        """,
        """
        def f(n: int) -> int:
            r = 1
            for i in range(2, n + 1):
                r *= i
            return r
        """,
        "Calls are expanded where they stand, so a function or method cannot reach itself. Methods "
        "of scripted classes can.",
    ),
    Code(
        "type-changed",
        "a variable gets a value of another type in a loop or branch",
        """
        def f(values: List[float]) -> float:
            total = 0
            for v in values:
                total = total + v
            return total
        """,
        """
        def f(values: List[float]) -> float:
            total = 0.0
            for v in values:
                total = total + v
            return total
        """,
        "A variable that lives through a loop keeps its type. In straight code a new assignment "
        "may change it.",
    ),
    Code(
        "branch-types-differ",
        "the branches of an `if` give a variable different types",
        """
        def f(x: int):
            if x > 1:
                y = 2
            else:
                y = "a"
            return y
        """,
        """
        def f(x: int):
            if x > 1:
                y = "2"
            else:
                y = "a"
            return y
        """,
        "After the `if` the variable must have one type. Declaring it `Union[int, str]` before the "
        "`if` is possible too.",
    ),
    Code(
        "optional-operand",
        "a value that may be `None` is used as if it could not",
        """
        class M(nn.Module):
            shift: Optional[torch.Tensor]

            def __init__(self):
                super().__init__()
                self.shift = None

            def forward(self, x):
                if self.shift is not None:
                    return x + self.shift
                return x
        """,
        """
        class M(nn.Module):
            shift: Optional[torch.Tensor]

            def __init__(self):
                super().__init__()
                self.shift = None

            def forward(self, x):
                shift = self.shift
                if shift is not None:
                    return x + shift
                return x
        """,
        "A check against `None` is remembered for local variables only: an attribute may be "
        "changed between the check and the use.",
    ),
    Code(
        "none-comparison",
        "a value that is never `None`, or always, is compared with it",
        """
        def f(x: int):
            return x < None
        """,
        """
        def f(x: Optional[int]):
            if x is None:
                return False
            return x < 0
        """,
        "Only `is`, `is not`, `==` and `!=` compare with `None`.",
    ),
    Code(
        "return-type",
        "the value returned is not of the declared type",
        """
        def f(x: torch.Tensor) -> torch.Tensor:
            return "done"
        """,
        """
        def f(x: torch.Tensor) -> str:
            return "done"
        """,
        "Without a declaration the type of the first `return` counts for all.",
    ),
    Code(
        "missing-return",
        "the end of a function that returns a value can be reached",
        """
        def f(x: torch.Tensor, kind: str) -> torch.Tensor:
            if kind == "relu":
                return torch.relu(x)
            elif kind == "tanh":
                return torch.tanh(x)
        """,
        """
        def f(x: torch.Tensor, kind: str) -> torch.Tensor:
            if kind == "relu":
                return torch.relu(x)
            elif kind == "tanh":
                return torch.tanh(x)
            else:
                raise ValueError("unknown kind: " + kind)
        """,
        "Every path must return or raise. A `while` loop counts as one that may end, even "
        "`while True`.",
    ),
    Code(
        "mixed-dict",
        "the values of a dict have different types",
        """
        def f(x: torch.Tensor):
            return {"scores": x, "count": len(x)}
        """,
        """
        class Found(NamedTuple):
            scores: torch.Tensor
            count: int

        def f(x: torch.Tensor):
            return Found(x, len(x))
        """,
        "Such a dict gets the union of its values' types, so that each must pass an `isinstance` "
        "test before it can be used; a NamedTuple keeps each type. This is a warning.",
    ),
    Code(
        "mixed-list",
        "the elements of a list have different types",
        """
        def f():
            return [1, "a"]
        """,
        """
        def f():
            return (1, "a")
        """,
        "Such a list gets the union of its elements' types, which is seldom meant; a tuple keeps "
        "each type. This is a warning.",
    ),
    Code(
        "unreachable-code",
        "statements after one that always leaves",
        """
        def f(x: int):
            return x
            x += 1
        """,
        """
        def f(x: int):
            x += 1
            return x
        """,
        "What follows a `return`, `raise`, `break` or `continue` in its block never runs, and is "
        "not even checked. This is a warning.",
    ),
    Code(
        "unused-result",
        "an operator is called for nothing",
        """
        def f(x: torch.Tensor):
            x.relu()
            return x
        """,
        """
        def f(x: torch.Tensor):
            x = x.relu()
            return x
        """,
        "Only operators whose name ends in `_` change their tensor; the others give a new one. "
        "This is a warning.",
    ),
    Code(
        "captured-mutation",
        "a scripted module changes its copy of a list or dict",
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.seen = [0]

            def forward(self, x: int):
                self.seen.append(x)
                return x
        """,
        """
        class M(nn.Module):
            def forward(self, x: int, seen: List[int]):
                seen.append(x)
                return x
        """,
        "Scripting copies lists and dicts into the scripted module: the Python module keeps its "
        "own, which does not change. This is a warning.",
    ),
    Code(
        "annotation-conflict",
        "a variable is declared twice, or otherwise than its value",
        """
        def f():
            x: int = "a"
            return x
        """,
        """
        def f():
            x: str = "a"
            return x
        """,
        "A declaration counts for the whole function, and its value must fit.",
    ),
)
