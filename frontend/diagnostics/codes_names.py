"""Error codes about names, syntax and modules."""

from __future__ import annotations

from .code import Code

__all__ = ["NAMES"]

NAMES = (
    Code(
        "undefined-name",
        "a name is used that nothing defines",
        """
        def f(x):
            result = x + 1
            return resutl
        """,
        """
        def f(x):
            result = x + 1
            return result
        """,
        "Script looks a name up among the local variables, then among the globals and the "
        "enclosing function's variables at the time of compiling, then among the builtins.",
    ),
    Code(
        "possibly-undefined",
        "a variable may have no value where it is used",
        """
        def f(x, on: bool):
            if on:
                n = x.sum()
            return x / n
        """,
        """
        def f(x, on: bool):
            if on:
                n = x.sum()
            else:
                n = torch.ones(())
            return x / n
        """,
        "A variable must be set on every path that leads to its use; paths that return or raise "
        "do not count.",
    ),
    Code(
        "missing-attribute",
        "an attribute or method does not exist",
        """
        def f(x):
            return x.soft_max(dim=-1)
        """,
        """
        def f(x):
            return x.softmax(dim=-1)
        """,
        "Scripted objects have exactly the attributes their class had when it was compiled: the "
        "parameters, buffers, submodules and attributes of a module, or what `__init__` of a class "
        "sets. The base classes of a scripted class are not looked at.",
    ),
    Code(
        "unknown-type",
        "an annotation names no type of the language",
        """
        def f(x: "Lsit[float]") -> float:
            return x[0]
        """,
        """
        def f(x: "List[float]") -> float:
            return x[0]
        """,
        "Annotations may use Tensor, int, float, bool, str, complex, None, Any, List, Dict, Tuple, "
        "Optional, Union, Future, torch.device, NamedTuples, Enums and scripted classes. A "
        "`# type:` comment must be the signature of the whole function.",
    ),
    Code(
        "global-value",
        "the value of a global variable is used",
        """
        STEPS = 3

        def f(x):
            for _ in range(STEPS):
                x = x * 2
            return x
        """,
        """
        STEPS = 3

        def f(x, steps: int = STEPS):
            for _ in range(steps):
                x = x * 2
            return x
        """,
        "Globals may change and are not saved with a model; script reads only functions, classes "
        "and modules from them. Pass the value in, or make it an attribute of the module.",
    ),
    Code(
        "unresolved-source",
        "the source of a function cannot be found",
        """
        names = {}
        exec("def f(x):\\n    return x", names)
        f = names["f"]
        """,
        """
        def f(x):
            return x
        """,
        "Scripting reads the text of a function, which must be in a file (or a notebook cell). "
        "Tracing needs no source.",
    ),
    Code(
        "file-stopped",
        "a file that is checked fails before all it scripts is known",
        """
        import model_of_mine
        """,
        """
        import torch
        """,
        "`rushlight check` runs a file to find what it scripts. An import that fails, a line that "
        "is no Python or an exception at the top of the file ends that. What only a program "
        'needs belongs below `if __name__ == "__main__":`.',
    ),
    Code(
        "unsupported-syntax",
        "Python that script does not have",
        """
        def f(x):
            try:
                return torch.inverse(x)
            except RuntimeError:
                return x
        """,
        """
        def f(x):
            if torch.det(x).item() != 0.0:
                return torch.inverse(x)
            return x
        """,
        "There are no exceptions to catch, no lambdas, generators, sets, classes or functions "
        "inside functions, no global statements. Such code can stay in Python in a function marked "
        "`@torch.jit.ignore`.",
    ),
    Code(
        "variadic-signature",
        "a signature has `*args`, `**kwargs` or a keyword-only default",
        """
        def f(*xs: torch.Tensor):
            return torch.cat(xs)
        """,
        """
        def f(xs: List[torch.Tensor]):
            return torch.cat(xs)
        """,
        "A scripted function takes a fixed list of typed parameters.",
    ),
    Code(
        "mutable-default",
        "a default value is a list, dict or tensor that calls would share",
        """
        def f(x: int, seen: List[int] = []):
            seen.append(x)
            return seen
        """,
        """
        def f(x: int, seen: Optional[List[int]] = None):
            if seen is None:
                seen = torch.jit.annotate(List[int], [])
            seen.append(x)
            return seen
        """,
        "Python makes one such object for all calls; script cannot share it with Python.",
    ),
    Code(
        "modulelist-index",
        "a container of modules is indexed by something not known when compiling",
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.floors = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

            def forward(self, x, i: int):
                return self.floors[i](x)
        """,
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.floors = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

            def forward(self, x, i: int):
                for k, floor in enumerate(self.floors):
                    if k == i:
                        x = floor(x)
                return x
        """,
        "Each module of a list has a type of its own, so which one is meant must be known. A loop "
        "over the list is unrolled.",
    ),
    Code(
        "class-base",
        "a scripted class has a base class",
        """
        class Shape:
            def __init__(self, side: float):
                self.side = side

        class Square(Shape):
            def area(self) -> float:
                return self.side * self.side

        def f(side: float) -> float:
            return Square(side).area()
        """,
        """
        class Square:
            def __init__(self, side: float):
                self.side = side

            def area(self) -> float:
                return self.side * self.side

        def f(side: float) -> float:
            return Square(side).area()
        """,
        "Only subclasses of `nn.Module`, `Enum`, `NamedTuple` and exceptions keep their base.",
    ),
    Code(
        "missing-forward",
        "a module is called that has no `forward`",
        """
        class M(nn.Module):
            def forwrad(self, x):
                return x
        """,
        """
        class M(nn.Module):
            def forward(self, x):
                return x
        """,
        "Scripting a module compiles `forward`, what it calls, and methods marked "
        "`@torch.jit.export`.",
    ),
    Code(
        "attribute-not-converted",
        "an attribute of a module has a value that script cannot hold",
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.sizes = []

            def forward(self, x):
                return len(self.sizes)
        """,
        """
        class M(nn.Module):
            sizes: List[int]

            def __init__(self):
                super().__init__()
                self.sizes = []

            def forward(self, x):
                return len(self.sizes)
        """,
        "The type of an attribute is read off its value; an empty list or dict and None say too "
        "little, and other Python objects have no type in script. Declare the type in the class.",
    ),
    Code(
        "module-constructed-inside",
        "a module is made inside scripted code",
        """
        class M(nn.Module):
            def forward(self, x):
                return nn.Linear(4, 4)(x)
        """,
        """
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = nn.Linear(4, 4)

            def forward(self, x):
                return self.proj(x)
        """,
        "Modules are made in Python, before scripting, so that their parameters are part of the "
        "model.",
    ),
)
