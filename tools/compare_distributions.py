# ruff: noqa: B023  functions made in loops run at once
"""Compare `torch.distributions` with PyTorch's: `compare_distributions.py PYTHON_WITH_TORCH`.

Every class, of several parameter shapes: draws with a seed, log-probabilities, moments, entropies,
(inverse) distribution functions, gradients of draws and of log-probabilities, expansion, listing of
values, what is printed and raised, all registered divergences, transforms and constraints.  Both
sides run this file (`--record`), results travel as JSON; exit status 1 where they differ.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

KNOWN = {
    "param_shape": "Geometric",  # which has none in PyTorch
    "gradients of log_prob": "VonMises",  # NaN in PyTorch where concentrations are tiny
    "gradients of rsample": "Wishart",  # refused by PyTorch, which writes over what it needs
}
"""What differs on purpose: what is asked, and of which class."""
SHAPES = {
    "Bernoulli": ["0.3", "t(0.2, 0.5, 0.9)", "logits=t(-1.0, 0.0, 2.0)", "probs=t(0.0, 1.0)"],
    "Beta": ["2.0, 3.0", "t(0.5, 2.0), 1.5", "t(0.6, 5.0, 12.0), t(0.8, 9.0, 15.0)"],
    "Binomial": ["5, t(0.3, 0.6)", "t(3.0, 7.0), logits=t(0.2, -1.0)", "40, t(0.4, 0.9)"],
    "Categorical": ["t(1.0, 2.0, 3.0)", "logits=m(2, 4)", "probs=m(2, 3).abs() + 0.1"],
    "Cauchy": ["0.0, 1.0", "t(-1.0, 2.0), t(0.5, 3.0)"],
    "Chi2": ["3.0", "t(0.7, 2.0, 9.0)"],
    "ContinuousBernoulli": ["0.3", "t(0.1, 0.5, 0.8)", "logits=t(-2.0, 0.0, 1.0)"],
    "Dirichlet": ["t(0.5, 2.0, 3.0)", "m(2, 3).abs() + 0.3", "t(0.2, 0.3)", "t(8.0, 9.0, 20.0)"],
    "Exponential": ["2.0", "t(0.5, 3.0)"],
    "FisherSnedecor": ["3.0, 5.0", "t(1.0, 4.0), t(2.0, 9.0)"],
    "Gamma": ["2.0, 3.0", "t(0.2, 1.0, 7.0), t(1.0, 0.5, 2.0)", "t(0.01, 30.0, 1.5), 1.0"],
    "GeneralizedPareto": ["0.0, 1.0, 0.3", "t(0.0, 1.0, 2.0), t(1.0, 2.0, 0.5), t(0.0, -0.4, 0.7)"],
    "Geometric": ["0.3", "t(0.2, 0.9, 1.0)", "logits=t(-1.0, 0.5)"],
    "Gumbel": ["0.0, 1.0", "t(-1.0, 2.0), t(0.5, 3.0)"],
    "HalfCauchy": ["1.0", "t(0.5, 3.0)"],
    "HalfNormal": ["1.0", "t(0.5, 3.0)"],
    "InverseGamma": ["2.5, 3.0", "t(0.7, 1.5, 4.0), t(1.0, 2.0, 3.0)"],
    "Kumaraswamy": ["2.0, 3.0", "t(0.5, 2.0), t(1.5, 3.0)"],
    "LKJCholesky": ["3", "4, 2.0", "3, t(0.5, 1.5)"],
    "Laplace": ["0.0, 1.0", "t(-1.0, 2.0), t(0.5, 3.0)"],
    "LogNormal": ["0.0, 1.0", "t(-1.0, 0.5), t(0.5, 0.8)"],
    "LogisticNormal": ["t(0.0, 1.0), t(1.0, 0.5)", "m(2, 3), 1.0"],
    "LowRankMultivariateNormal": [
        "t(0.0, 1.0, 2.0), m(3, 1), t(1.0, 2.0, 0.5)",
        "m(2, 3), m(2, 3, 2), t(1.0, 2.0, 0.5)",
    ],
    "Multinomial": ["6, t(1.0, 2.0, 3.0)", "4, logits=m(2, 3)"],
    "MultivariateNormal": [
        *("t(0.0, 1.0), spd(2)", "m(2, 3), scale_tril=tril(3)"),
        *("t(0.0, 1.0), precision_matrix=spd(2)", "m(4, 1, 2), spd(2).expand(3, 2, 2)"),
    ],
    "NegativeBinomial": ["5.0, t(0.3, 0.6)", "t(0.0, 2.5), logits=t(0.1, -1.0)"],
    "Normal": ["0.0, 1.0", "t(-1.0, 2.0), t(0.5, 3.0)", "m(2, 1), t(1.0, 2.0, 3.0)"],
    "OneHotCategorical": ["t(1.0, 2.0, 3.0)", "logits=m(2, 4)"],
    "OneHotCategoricalStraightThrough": ["t(1.0, 2.0, 3.0)", "logits=m(2, 4)"],
    "Pareto": ["1.0, 2.5", "t(0.5, 3.0), t(0.9, 4.0)"],
    "Poisson": ["2.0", "t(0.5, 3.0, 25.0)"],
    "RelaxedBernoulli": ["t(0.5), 0.3", "t(2.0), logits=t(0.1, -2.0)"],
    "RelaxedOneHotCategorical": ["t(0.5), t(1.0, 2.0, 3.0)", "t(2.0), logits=m(2, 3)"],
    "StudentT": ["3.0", "t(0.5, 1.5, 7.0), t(0.0, 1.0, 2.0), 2.0"],
    "Uniform": ["0.0, 1.0", "t(-1.0, 2.0), t(0.5, 3.0)"],
    "VonMises": ["t(0.0), t(1.0)", "t(-1.0, 2.0, 0.3), t(0.5, 30.0, 1e-6)"],
    "Weibull": ["1.0, 2.0", "t(0.5, 3.0), t(0.9, 4.0)"],
    "Wishart": [
        *("t(4.0), spd(2)", "t(5.0, 6.5), scale_tril=tril(3)", "4.5, precision_matrix=spd(3)"),
    ],
}  # fmt: skip
COMBINED = {
    "Independent": [
        *("d.Normal(m(2, 3), 1.0), 1", "d.Bernoulli(t(0.2, 0.6)), 1", "d.Normal(m(2, 3), 1.0), 0"),
    ],
    "MixtureSameFamily": [
        "d.Categorical(t(1.0, 2.0)), d.Normal(t(-1.0, 1.0), t(0.5, 2.0))",
        "d.Categorical(m(3, 2).abs()), d.Independent(d.Normal(m(3, 2, 4), 1.0), 1)",
        "d.Categorical(t(1.0, 2.0)), d.Uniform(t(-1.0, 0.5), t(0.5, 2.0))",
    ],
    "TransformedDistribution": [
        "d.Normal(t(0.0, 1.0), 1.0), [T.ExpTransform(), T.AffineTransform(1.0, t(2.0, 3.0))]",
        "d.Uniform(0.0, 1.0), [T.SigmoidTransform().inv, T.AffineTransform(1.0, -2.0)]",
        "d.Normal(m(2, 3), 1.0), T.StickBreakingTransform()",
        "d.Normal(m(3), 1.0), T.CorrCholeskyTransform()",
        "d.Normal(m(2, 4), 1.0), [T.ReshapeTransform((4,), (2, 2)), T.AffineTransform(0.0, 2, 2)]",
        "d.Normal(m(3), 1.0), T.CumulativeDistributionTransform(d.Normal(0.5, 2.0))",
        "d.Normal(m(2), 1.0), T.StackTransform([T.ExpTransform(), T.SoftplusTransform()], -1)",
        "d.Normal(m(2, 3), 1.0), T.CatTransform([T.ExpTransform(), T.TanhTransform()], -1, [1, 2])",
        "d.Normal(t(0.0, 1.0), 1.0), []",
        "d.Normal(m(2, 3), 1.0), T.SoftmaxTransform()",
    ],
}  # fmt: skip
TRANSFORMS = {
    "ExpTransform()": "m(2, 3)",
    "SigmoidTransform()": "m(2, 3) * 20",
    "SoftplusTransform()": "m(2, 3) * 20",
    "TanhTransform()": "m(2, 3)",
    "AbsTransform()": "m(2, 3)",
    "PowerTransform(2.5)": "m(2, 3).abs()",
    "PowerTransform(t(-1.0, 2.0, 3.0))": "m(2, 3).abs()",
    "AffineTransform(1.0, -2.0)": "m(2, 3)",
    "AffineTransform(t(1.0, 0.0, 2.0), t(-2.0, 1.0, 3.0), 1)": "m(2, 3)",
    "AffineTransform(1.0, 3.0, 2)": "m(2, 2, 3)",
    "SoftmaxTransform()": "m(2, 3)",
    "StickBreakingTransform()": "m(2, 3)",
    "CorrCholeskyTransform()": "m(2, 6)",
    "LowerCholeskyTransform()": "m(2, 3, 3)",
    "PositiveDefiniteTransform()": "m(2, 3, 3)",
    "IndependentTransform(T.ExpTransform(), 1)": "m(2, 3)",
    "ReshapeTransform((6,), (2, 3))": "m(2, 6)",
    "StackTransform([T.ExpTransform(), T.TanhTransform()], 1)": "m(3, 2)",
    "CatTransform([T.ExpTransform(), T.TanhTransform()], 0, [1, 2])": "m(3, 2)",
    "CatTransform([T.SoftmaxTransform(), T.LowerCholeskyTransform()], 0, [1, 2])": "m(3, 2, 2)",
    "ComposeTransform([T.AffineTransform(1.0, 2.0), T.TanhTransform()])": "m(2, 3)",
    "ComposeTransform([T.ExpTransform(), T.StickBreakingTransform()])": "m(2, 3)",
    "ComposeTransform([T.ReshapeTransform((4,), (2, 2)), T.LowerCholeskyTransform()])": "m(3, 4)",
    "ComposeTransform([])": "m(3)",
    "CumulativeDistributionTransform(d.Normal(0.0, 2.0))": "m(3)",
}
CONSTRAINTS = [
    *("C.real", "C.positive", "C.nonnegative", "C.unit_interval", "C.boolean", "C.simplex"),
    *("C.nonnegative_integer", "C.positive_integer", "C.integer_interval(0, 3)", "C.one_hot"),
    *("C.real_vector", "C.lower_triangular", "C.lower_cholesky", "C.corr_cholesky", "C.square"),
    *("C.symmetric", "C.positive_definite", "C.positive_semidefinite", "C.multinomial(3)"),
    *("C.less_than(1.0)", "C.greater_than(0.5)", "C.greater_than_eq(1.0)"),
    *("C.half_open_interval(0.0, 1.0)", "C.interval(-1.0, 1.0)"),
    *("C.cat([C.real, C.positive], -1, [1, 2])", "C.stack([C.real, C.positive, C.boolean], -1)"),
    *("C.independent(C.positive, 1)", "C.independent(C.positive, 2)"),
    *("C.MixtureSameFamilyConstraint(C.positive)", "C.dependent"),
]
VALUES = [
    *("t(0.0, 1.0, 2.0)", "t(-1.0, 0.5, 1.0)", "m(2, 3)", "spd(3)", "tril(3)", "m(3, 3)"),
    *("t(0.2, 0.3, 0.5)", "t(1.0, 0.0, 0.0)", "t(float('nan'), 1.0, 0.0)", "spd(3) * -1"),
    "T.CorrCholeskyTransform()(m(2, 3))",
]
MOMENTS = "mean mode variance stddev".split()
OTHERS = "batch_shape event_shape support has_rsample has_enumerate_support param_shape".split()
OF_MATRICES = "covariance_matrix precision_matrix scale_tril probs logits".split()


class Side:
    """One library, and the words that cases are written in."""

    def __init__(self, name: str) -> None:
        self.torch = torch = importlib.import_module(name)
        self.d = torch.distributions
        self.words = {
            "t": lambda *numbers: torch.tensor(numbers if len(numbers) > 1 else numbers[0]),
            "m": self.matrix,
            "spd": lambda n: self.tril(n) @ self.tril(n).mT,
            "tril": self.tril,
            "d": self.d,
            "T": importlib.import_module(f"{name}.distributions.transforms"),
            "C": importlib.import_module(f"{name}.distributions.constraints"),
        }

    def matrix(self, *shape: int) -> Any:
        """Numbers between -1.5 and 1.5 that look random."""
        count = 1
        for size in shape:
            count *= size
        return ((self.torch.arange(count) * 37 % 31).float() / 10 - 1.5 + 0.01).reshape(shape)

    def tril(self, n: int) -> Any:
        whole = self.matrix(n, n).tril(-1) / 2
        return whole + self.torch.eye(n) + 0.1 * self.torch.arange(n).float().diag()

    def value(self, text: str) -> Any:
        return eval(text, dict(self.words))

    def made(self, kind: str, arguments: str) -> Any:
        return self.value(f"d.{kind}({arguments})")

    def plain(self, value: Any) -> Any:
        if isinstance(value, self.torch.Tensor):
            value = value.detach()
            kind = str(value.dtype).removeprefix("torch.").removeprefix("rushlight.")
            return [kind, list(value.shape), value.double().reshape(-1).tolist()]
        if isinstance(value, tuple | list):
            return [self.plain(each) for each in value]
        return value if isinstance(value, bool | int | float) else repr(value)

    def tried(self, run: Callable[[], Any]) -> Any:
        try:
            return self.plain(run())
        except Exception as error:
            text = str(error).replace("rushlight.", "torch.").splitlines()
            if "must match the size of tensor" in str(error):
                return "shapes that do not fit"  # which of them is named first is no promise
            return f"{type(error).__name__}: {text[0] if text else ''}"


def leaves(side: Side, text: str) -> tuple[list[Any], str]:
    """The case's tensors as leaves that want gradients, and a text that names them."""
    kept: list[Any] = []

    def leaf(*numbers: float) -> Any:
        made = side.torch.tensor(numbers if len(numbers) > 1 else numbers[0])
        kept.append(made.requires_grad_())
        return made

    side.words["leaf"] = leaf
    return kept, text.replace("t(", "leaf(")


def of_law(side: Side, kind: str, text: str) -> Iterator[tuple[str, Any]]:
    """All that is compared of one law."""
    torch = side.torch
    try:
        law = side.made(kind, text)
    except Exception as error:
        yield "made", f"{type(error).__name__}: {error}"
        return
    yield "repr", repr(law)
    for name in (*MOMENTS, *OTHERS, *OF_MATRICES):
        yield name, side.tried(lambda: getattr(law, name))
    for name in ("entropy", "perplexity", "enumerate_support"):
        yield name, side.tried(lambda: getattr(law, name)())
    yield "listed", side.tried(lambda: law.enumerate_support(expand=False))
    for shape in ((), (2,), (3, 4), (30,)):
        torch.manual_seed(7)
        yield f"sample {shape}", side.tried(lambda: law.sample(shape))
        torch.manual_seed(8)
        yield f"rsample {shape}", side.tried(lambda: law.rsample(shape))
    torch.manual_seed(3)
    drawn = law.sample((4,))
    if kind == "MultivariateNormal":  # where arguments of log_prob have dimensions of their own
        drawn = drawn.reshape(2, 2, *law._extended_shape())
    for name in ("log_prob", "cdf"):
        yield name, side.tried(lambda: getattr(law, name)(drawn))
    shares = torch.tensor([0.1, 0.5, 0.9]).reshape((3,) + (1,) * len(law.batch_shape))
    yield "icdf", side.tried(lambda: law.icdf(shares))
    yield "outside", side.tried(lambda: law.log_prob(torch.full(drawn.shape, -3.5)))
    yield "nan", side.tried(lambda: law.log_prob(torch.full(drawn.shape, float("nan"))))
    larger = (5, *law.batch_shape)
    yield (
        "expanded",
        side.tried(lambda: law.expand(larger).log_prob(law.expand(larger).sample()).shape),
    )
    torch.manual_seed(5)
    yield "drawn of expanded", side.tried(lambda: law.expand(larger).sample((2,)))
    yield "expanded repr", side.tried(lambda: law.expand(larger))
    yield from gradients(side, kind, text, drawn)


def gradients(side: Side, kind: str, text: str, drawn: Any) -> Iterator[tuple[str, Any]]:
    """Gradients of draws and of log-probabilities for the case's tensors."""

    def run(result: Callable[[Any], Any]) -> Any:
        kept, named = leaves(side, text)
        law = side.made(kind, named)
        side.torch.manual_seed(11)
        made = result(law)
        weights = side.torch.arange(made.numel()).float().reshape(made.shape) % 5 + 1
        (made * weights).sum().backward()
        return [each.grad for each in kept]

    if "t(" in text:
        yield "gradients of rsample", side.tried(lambda: run(lambda law: law.rsample((3,))))
        yield "gradients of log_prob", side.tried(lambda: run(lambda law: law.log_prob(drawn)))
        yield "gradients of entropy", side.tried(lambda: run(lambda law: law.entropy()))


def divergences(side: Side) -> Iterator[tuple[str, Any]]:
    """All pairs of classes, of one case each and of another for equal classes."""
    kinds = {**SHAPES, **COMBINED}
    for p, cases in kinds.items():
        for q, others in kinds.items():
            for ours in {cases[0], cases[-1]} if p != q else cases[:2]:
                for theirs in {others[0], others[-1]} if p != q else others[:2]:
                    yield (
                        f"KL {p}({ours}) {q}({theirs})",
                        side.tried(
                            lambda: side.d.kl_divergence(side.made(p, ours), side.made(q, theirs))
                        ),
                    )


def of_transforms(side: Side) -> Iterator[tuple[str, Any]]:
    for text, argument in TRANSFORMS.items():
        transform, x = side.value(f"T.{text}"), side.value(argument)
        cached = side.tried(lambda: transform.with_cache()._cache_size)
        yield f"{text} cached", cached
        y = transform(x)
        yield text, side.plain(y)
        yield f"{text} back", side.tried(lambda: transform.inv(y))
        rows = {
            "jacobian": lambda: transform.log_abs_det_jacobian(x, y),
            "back jacobian": lambda back=transform.inv, x=x, y=y: back.log_abs_det_jacobian(y, x),
            "forward_shape": lambda: transform.forward_shape(x.shape),
            "inverse_shape": lambda: transform.inverse_shape(y.shape),
            "repr": lambda: transform.inv,
            "equal": lambda: transform == side.value(f"T.{text}"),
        }  # fmt: skip
        for name in ("sign", "event_dim", "bijective", "domain", "codomain"):
            rows[name] = lambda: getattr(transform, name)
        for name, run in rows.items():
            yield f"{text} {name}", side.tried(run)


def of_constraints(side: Side) -> Iterator[tuple[str, Any]]:
    for text in CONSTRAINTS:
        constraint = side.value(text)
        yield f"{text} repr", repr(constraint)
        for name in ("is_discrete", "event_dim"):
            yield (
                f"{text} {name}",
                side.tried(lambda: getattr(constraint, name)),
            )
        for value in VALUES:
            yield (
                f"{text} {value}",
                side.tried(lambda: constraint.check(side.value(value))),
            )
        for registry in ("biject_to", "transform_to"):

            def onto(registry: str = registry, constraint: Any = constraint) -> Any:
                transform = getattr(side.d, registry)(constraint)
                return [repr(transform), side.plain(transform(side.value("m(2, 3)")))]

            yield f"{registry} {text}", side.tried(onto)


def everything(side: Side) -> dict[str, Any]:
    """Results by the names of cases."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, cases in {**SHAPES, **COMBINED}.items():
            for text in cases:
                for name, value in of_law(side, kind, text):
                    found[f"{kind}({text}) {name}"] = value
        found.update(divergences(side))
        found.update(of_transforms(side))
        found.update(of_constraints(side))
    return found


def few(side: Side) -> dict[str, Any]:
    """A small part of that, which tests record: the last case of each class, and all divergences
    that are registered."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, cases in {**SHAPES, **COMBINED}.items():
            law = side.made(kind, cases[-1])
            side.torch.manual_seed(3)
            drawn = law.sample((2,))
            found[f"{kind} repr"] = repr(law)
            found[f"{kind} sample"] = side.plain(drawn)
            for name in ("log_prob", "cdf"):
                found[f"{kind} {name}"] = side.tried(lambda: getattr(law, name)(drawn))
            for name in ("mean", "variance"):
                found[f"{kind} {name}"] = side.tried(lambda: getattr(law, name))
            found[f"{kind} entropy"] = side.tried(law.entropy)
            for name, value in gradients(side, kind, cases[-1], drawn):
                if (name, kind) not in KNOWN.items():
                    found[f"{kind} {name}"] = value
        kinds = importlib.import_module(f"{side.torch.__name__}.distributions.kl")._KL_REGISTRY
        for p, q in sorted((p.__name__, q.__name__) for p, q in kinds):
            if p in SHAPES and q in SHAPES:
                laws = side.made(p, SHAPES[p][0]), side.made(q, SHAPES[q][0])
                found[f"KL {p} {q}"] = side.tried(lambda: side.d.kl_divergence(*laws))
    return found


def rounded(value: Any) -> Any:
    """The same with numbers of eight digits."""
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.8g}") if isinstance(value, float) else value


def is_near(ours: Any, theirs: Any, slack: float) -> bool:
    """Whether results agree, numbers to `slack`, relative or absolute."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(
            is_near(a, b, slack) for a, b in zip(ours, theirs, strict=True)
        )
    if isinstance(ours, float) and isinstance(theirs, float):
        if ours != ours or theirs != theirs:
            return ours != ours and theirs != theirs
        return ours == theirs or abs(ours - theirs) <= slack * max(1.0, abs(theirs))
    return bool(ours == theirs)


def slack_of(name: str) -> float:
    """PyTorch approximates the gradients of gamma and beta draws to about 0.1%."""
    by_gamma = "Beta Chi2 Dirichlet Fisher Gamma Student Wishart NegativeBin".split()
    if "gradients of rsample" in name and any(each in name for each in by_gamma):
        return 2e-3
    return 2e-5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", help="an interpreter that has torch")
    parser.add_argument("--record", metavar="MODULE", help=argparse.SUPPRESS)
    parser.add_argument("--show", type=int, default=60, help="how many differences are printed")
    parser.add_argument("--few", action="store_true", help="print what tests record, from PyTorch")
    chosen = parser.parse_args()
    if chosen.record:
        side = Side(chosen.record)
        found = rounded(few(side)) if chosen.few else everything(side)
        print(json.dumps(found, indent=0 if chosen.few else None))
        return 0
    if chosen.few:
        command = [chosen.python, __file__, chosen.python, "--record", "torch", "--few"]
        return subprocess.run(command, check=True).returncode
    sys.path.insert(0, str(ROOT))
    command = [chosen.python, __file__, chosen.python, "--record", "torch"]
    theirs = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    ours = json.loads(json.dumps(everything(Side("rushlight"))))
    wrong = [
        name
        for name in theirs
        if name not in ours or not is_near(ours[name], theirs[name], slack_of(name))
        if not any(name.endswith(end) and name.startswith(kind) for end, kind in KNOWN.items())
    ]
    for name in wrong[: chosen.show]:
        print(f"{name}\n  ours   {str(ours.get(name))[:300]}\n  theirs {str(theirs[name])[:300]}")
    print(f"{len(theirs)} results, {len(wrong)} differ")
    return bool(wrong)


if __name__ == "__main__":
    raise SystemExit(main())
