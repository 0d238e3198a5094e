"""Error codes about running and about archives."""

from __future__ import annotations

from .code import Code

__all__ = ["RUN_TIME"]

RUN_TIME = (
    Code(
        "shape-mismatch",
        "tensors have shapes that do not go together",
        """
        def f():
            return torch.ones(3, 5) @ torch.ones(4, 8)
        """,
        """
        def f():
            return torch.ones(3, 5) @ torch.ones(5, 8)
        """,
        "Shapes are known only when a script runs. The message shows those of all operands.",
    ),
    Code(
        "dtype-mismatch",
        "tensors have element types that do not go together",
        """
        def f():
            x = torch.ones(2, dtype=torch.int64)
            x /= 2
            return x
        """,
        """
        def f():
            x = torch.ones(2, dtype=torch.int64)
            return x / 2
        """,
        "Pointwise operators promote their operands; an operator that writes into a tensor cannot "
        "change its type, and products of matrices need equal types.",
    ),
    Code(
        "index-out-of-range",
        "an index or dimension lies outside its range",
        """
        def f(xs: List[int]) -> int:
            return xs[len(xs)]
        """,
        """
        def f(xs: List[int]) -> int:
            return xs[len(xs) - 1]
        """,
        "Indices run from -n to n - 1.",
    ),
    Code(
        "key-missing",
        "a dict does not have a key",
        """
        def f(d: Dict[str, int]) -> int:
            return d["a"]
        """,
        """
        def f(d: Dict[str, int]) -> int:
            return d.get("a", 0)
        """,
        "Test with `in`, or call `get` with a default.",
    ),
    Code(
        "autocast",
        "it is not known beforehand what `torch.autocast` shall do",
        """
        def f(x: Tensor, on: bool) -> Tensor:
            with torch.autocast("cpu", enabled=on):
                return torch.mm(x, x)
        """,
        """
        def f(x: Tensor) -> Tensor:
            with torch.autocast("cpu", enabled=True):
                return torch.mm(x, x)
        """,
        "The casts of autocast are put into the graph when a function first runs: `enabled` and "
        "the kind of device must be constants, and the context is made where it is entered.",
    ),
    Code(
        "none-value",
        "a value that must not be `None` is",
        """
        def f(x: Optional[int]) -> int:
            return torch.jit._unwrap_optional(x)
        """,
        """
        def f(x: Optional[int]) -> int:
            return 0 if x is None else x
        """,
        "Unwrapping an optional value checks it when the script runs.",
    ),
    Code(
        "assertion-failed",
        "an `assert` of the script failed",
        """
        def f(n: int) -> int:
            assert n > 0, "n must be positive"
            return n

        f(0)
        """,
        """
        def f(n: int) -> int:
            assert n > 0, "n must be positive"
            return n

        f(1)
        """,
        "Script keeps its assertions, whatever the flags of Python.",
    ),
    Code(
        "raised",
        "the script raised an exception",
        """
        def f(kind: str) -> int:
            raise ValueError("unknown kind: " + kind)
        """,
        """
        def f(kind: str) -> int:
            return 0
        """,
        "Whatever class a script raises, Python receives `torch.jit.Error`, with the class's name "
        "in its text.",
    ),
    Code(
        "ambiguous-condition",
        "a condition is a tensor with more or fewer elements than one",
        """
        def f(x: torch.Tensor):
            if x > 0:
                return x
            return torch.zeros_like(x)
        """,
        """
        def f(x: torch.Tensor):
            return torch.where(x > 0, x, torch.zeros_like(x))
        """,
        "`if` and `while` need one truth value: use `.all()` or `.any()`, or choose element by "
        "element with `torch.where`.",
    ),
    Code(
        "division-by-zero",
        "an integer is divided by zero",
        """
        def f(n: int) -> int:
            return 1 // n

        f(0)
        """,
        """
        def f(n: int) -> int:
            return 1 // n if n != 0 else 0
        """,
        "Division of floats by zero gives `inf` or `nan`; of integers, by `//` or `%`, it fails.",
    ),
    Code(
        "number-too-large",
        "a number does not fit into 64 bits",
        """
        def f(x: float) -> int:
            return int(x)

        f(1e30)
        """,
        """
        def f(x: float) -> float:
            return x

        f(1e30)
        """,
        "An int of script has 64 bits. Sums and products that are too large wrap around; what "
        "cannot be turned into such an int fails.",
    ),
    Code(
        "inplace-on-leaf",
        "a parameter is changed in place while gradients are recorded",
        """
        def f(w: torch.Tensor):
            w.add_(1)
            return w
        """,
        """
        def f(w: torch.Tensor):
            with torch.no_grad():
                w.add_(1)
            return w
        """,
        "A tensor that requires a gradient and was not computed from others has no earlier value "
        "to differentiate by. Change it without recording, or compute a new tensor.",
    ),
    Code(
        "operator-failed",
        "an operator cannot do what it was asked",
        """
        def f():
            return torch.ones(2, 3).view(7)
        """,
        """
        def f():
            return torch.ones(2, 3).view(6)
        """,
        "The message is the operator's own; the values of its operands stand below it.",
    ),
    Code(
        "not-an-archive",
        "a file is not a TorchScript archive",
        """
        torch.jit.load("weights.npz")
        """,
        """
        torch.jit.load("model.pt")
        """,
        "The message says what the file is. `rushlight what FILE` does so too.",
    ),
    Code(
        "truncated",
        "an archive ends before its end",
        """
        torch.jit.load("half_of_a_download.pt")
        """,
        """
        torch.jit.load("model.pt")
        """,
        "The index of an archive stands at its end, so a file that was not written or sent "
        "completely cannot be read.",
    ),
    Code(
        "damaged-archive",
        "an archive contradicts itself or lacks a part",
        """
        torch.jit.load("edited_by_hand.pt")
        """,
        """
        torch.jit.load("model.pt")
        """,
        "The directory, the checksums, the pickled data and the code of an archive are checked "
        "against each other while it is read. The message says which part is wrong; the file has "
        "to be written or copied again.",
    ),
    Code(
        "unsupported-value",
        "an archive holds, or would have to hold, a value that is not supported here",
        """
        torch.jit.load("nested.pt")
        """,
        """
        torch.jit.load("model.pt")
        """,
        "Nested tensors, sparse tensors of other layouts than COO and CSR, and objects of classes "
        "built into PyTorch other than packed weights, cannot be read.",
    ),
    Code(
        "version-too-new",
        "an archive was written by a later version of the format",
        """
        torch.jit.load("from_the_future.pt")
        """,
        """
        torch.jit.load("model.pt")
        """,
        "Save the model again with an earlier version, or use a newer rushlight.",
    ),
    Code(
        "unknown-op",
        "an operator does not exist here, or not in this form",
        """
        def f(x):
            return torch.ops.mine.op(x)
        """,
        """
        def f(x):
            return torch.relu(x)
        """,
        "The message names every place that uses it. Operators of other libraries must be "
        "registered before a model that uses them is loaded.",
    ),
    Code(
        "unsafe-pickle",
        "an archive's data would run code when read",
        """
        torch.jit.load("pickle_that_calls_os_system.pt")
        """,
        """
        torch.jit.load("model.pt")
        """,
        "Data in an archive may only be numbers, strings, containers, tensors and scripted "
        "objects. Anything else is refused unread.",
    ),
    Code(
        "unsafe-op",
        "an archive uses an operator that reaches outside of it",
        """
        torch.jit.load("model_that_reads_files.pt")
        """,
        """
        torch.jit.load("model.pt")
        """,
        "Operators that read or write files or reach other machines do not exist here, and are "
        'refused in archives that are loaded with `trust="none"`.',
    ),
    Code(
        "limit-exceeded",
        "something is larger or nested deeper than is allowed",
        """
        torch.jit.load("bomb.pt")
        """,
        """
        torch.jit.load("model.pt")
        """,
        "Limits keep a hostile file from using up memory, time or the stack. Code that was loaded "
        'with `trust="none"` may run only so many instructions, seconds and bytes a call.',
    ),
    Code(
        "no-onnx-form",
        "a call has no form in an ONNX file",
        """
        @torch.jit.script
        def f(x: torch.Tensor):
            return torch.linalg.svd(x)

        torch.onnx.export(f, (torch.ones(2, 2),), "f.onnx")
        """,
        """
        @torch.jit.script
        def f(x: torch.Tensor):
            return torch.matmul(x, x.t())

        torch.onnx.export(f, (torch.ones(2, 2),), "f.onnx")
        """,
        "An ONNX file holds ONNX's operators alone. Branches and loops are taken along; a value "
        "that is None, a text or an object must be known when the model is exported. All such "
        "places are told of at once, and nothing is written.",
    ),
    Code(
        "internal",
        "rushlight itself failed",
        """
        # a program that shows the fault
        """,
        """
        # a rushlight that is put right
        """,
        "This is never your fault. Please report it with the program that shows it.",
    ),
)
