"""`torch.distributions` against what PyTorch gave (tools/compare_distributions.py --few)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushlight as torch
from rushlight import distributions as d
from rushlight.distributions import constraints, transforms
from rushlight.distributions.utils import lazy_property
from rushlight.ops.special_functions.implicit_derivatives import beta_derivative, gamma_derivative
from tools import compare_distributions

RECORDED = json.loads((Path(__file__).parent / "distributions.json").read_text())


def test_every_class_gives_what_torch_gives() -> None:
    found = compare_distributions.few(compare_distributions.Side("rushlight"))
    near = compare_distributions.is_near
    wrong = [
        name
        for name, value in json.loads(json.dumps(found)).items()
        if not near(value, RECORDED[name], compare_distributions.slack_of(name))
    ]
    assert not wrong
    assert found.keys() == RECORDED.keys()


def _laws() -> list[d.Distribution]:
    rows = torch.tensor([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    one, tril = torch.tensor([0.3, 0.6]), torch.tensor([[1.0, 0.0], [0.5, 2.0]]).repeat(2, 1, 1)
    of_one = (d.Bernoulli, d.Chi2, d.ContinuousBernoulli, d.Exponential, d.Geometric, d.HalfCauchy)
    of_two = (d.Beta, d.Cauchy, d.FisherSnedecor, d.Gamma, d.Gumbel, d.InverseGamma, d.Kumaraswamy)
    return [
        *(law(one) for law in (*of_one, d.HalfNormal, d.Poisson, d.StudentT)),
        *(law(one, one + 1) for law in (*of_two, d.Laplace, d.LogNormal, d.Normal, d.Pareto)),
        *(law(one, one + 1) for law in (d.Uniform, d.VonMises, d.Weibull)),
        *(law(torch.tensor([3, 5]), one) for law in (d.Binomial, d.NegativeBinomial)),
        *(law(rows) for law in (d.Categorical, d.Dirichlet, d.OneHotCategorical)),
        d.Multinomial(4, rows),
        d.LogisticNormal(rows, rows),
        d.RelaxedOneHotCategorical(torch.tensor(0.7), rows),
        d.RelaxedBernoulli(torch.tensor(0.7), one),
        d.MultivariateNormal(torch.zeros(2, 2), scale_tril=tril),
        d.LowRankMultivariateNormal(torch.zeros(2, 3), torch.ones(2, 3, 1), rows),
        d.Wishart(torch.tensor([3.0, 4.0]), scale_tril=tril),
        d.LKJCholesky(3, one),
        d.Independent(d.Normal(rows, rows), 1),
        d.MixtureSameFamily(d.Categorical(rows), d.Normal(rows, rows)),
    ]


@pytest.mark.filterwarnings("ignore:Singular sample detected")
@pytest.mark.parametrize("law", _laws(), ids=lambda law: type(law).__name__)
def test_a_larger_batch_is_of_the_same_law(law: d.Distribution) -> None:
    wide = law.expand([4, 2])
    assert (wide.batch_shape, wide.event_shape) == ((4, 2), law.event_shape)
    torch.manual_seed(3)
    drawn = wide.sample((5,))
    assert drawn.shape == (5, 4, 2, *law.event_shape)
    assert torch.allclose(wide.log_prob(drawn), law.log_prob(drawn), equal_nan=True)
    for name in law.arg_constraints:
        if name in vars(law):
            parameter = getattr(law, name)
            assert getattr(wide, name).shape == (4, *parameter.shape)


def test_the_library_itself_loads_no_distributions() -> None:
    code = "import sys, rushlight.nn; print('rushlight.distributions' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


def test_what_is_invalid_is_refused_with_its_place() -> None:
    with pytest.raises(ValueError, match=r"scale \(Tensor of shape \(2,\)\) of .* Normal"):
        d.Normal(0.0, torch.tensor([1.0, -1.0]))
    law = d.Poisson(1.0)
    with pytest.raises(ValueError, match=r"within the support \(IntegerGreaterThan\(lower_bound=0"):
        law.log_prob(torch.tensor(0.5))
    with pytest.raises(ValueError, match="not broadcastable with batch_shape"):
        d.Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3))
    assert d.Normal(0.0, -1.0, validate_args=False).scale == -1.0
    for given in ("probs", "logits"):
        with pytest.raises(ValueError, match=f"`{given}` parameter must be at least one-dim"):
            d.Categorical(**{given: torch.tensor(1.0)})
    with pytest.raises(NotImplementedError, match=r"^No KL\(p \|\| q\) is implemented for p"):
        d.kl_divergence(d.LKJCholesky(3), d.Normal(0.0, 1.0))


def test_a_subclass_is_expanded_only_if_it_is_made_in_the_same_way() -> None:
    class Plain(d.Normal):
        pass

    class Own(d.Normal):
        def __init__(self, loc: float) -> None:
            super().__init__(loc, 1.0)

    assert type(Plain(0.0, 1.0).expand((3,))) is Plain
    with pytest.raises(NotImplementedError, match="Subclass Own of Normal that defines a custom"):
        Own(0.0).expand((3,))


def test_divergences_are_found_by_the_nearest_classes() -> None:
    class Narrow(d.Normal):
        pass

    assert d.kl_divergence(Narrow(0.0, 1.0), d.Normal(0.0, 1.0)) == 0
    d.register_kl(Narrow, d.Normal)(lambda p, q: "narrow")
    assert d.kl_divergence(Narrow(0.0, 1.0), Narrow(0.0, 1.0)) == "narrow"
    d.register_kl(d.Normal, Narrow)(lambda p, q: "wide")
    with pytest.warns(RuntimeWarning, match=r"Please register_kl\(Narrow, Narrow\)"):
        assert d.kl_divergence(Narrow(0.0, 1.0), Narrow(0.0, 1.0)) == "narrow"


def test_a_cached_transform_gives_back_the_same_tensor() -> None:
    x = torch.tensor([0.5])
    cached, plain = transforms.ExpTransform(cache_size=1), transforms.ExpTransform()
    assert cached.inv(cached(x)) is x
    assert plain.inv(plain(x)) is not x
    chain = transforms.ComposeTransform([plain, transforms.TanhTransform()], cache_size=1)
    assert chain.inv(chain(x)) is x
    assert chain.inv.inv is chain


@pytest.mark.parametrize("registry", [d.biject_to, d.transform_to])
def test_transforms_lead_into_their_regions(registry: Any) -> None:
    x = torch.linspace(-3.0, 3.0, 6)
    for region in (constraints.greater_than(2.0), constraints.interval(-1.0, 3.0),
                   constraints.simplex, constraints.less_than(0.0), constraints.corr_cholesky,
                   constraints.independent(constraints.positive, 1)):  # fmt: skip
        onto = registry(region)
        y = onto(x)
        assert region.check(y).all()
        assert region.check(onto(onto.inv(y))).all()


def test_draws_of_gamma_move_with_their_shape_as_their_quantiles_do() -> None:
    """-(dF/da) / f, dF/da by differences of the incomplete gamma function."""
    h = 1e-5
    for a in (1.0, 3.0, 1e4):
        shape, draw = torch.tensor([a], dtype=torch.float64), torch.tensor([a], dtype=torch.float64)
        below = torch.special.gammainc(shape * (1 - h), draw)
        above = torch.special.gammainc(shape * (1 + h), draw)
        density = torch.exp((shape - 1) * draw.log() - draw - shape.lgamma())
        moved = (below - above) / (2 * h * a) / density
        found = torch._standard_gamma_grad(shape, draw)
        assert found.item() == pytest.approx(moved.item(), rel=1e-6)


def test_slopes_of_draws_are_exact() -> None:
    """Values of mpmath, and of the integral that is taken without native code."""
    shapes = [0.001695860725859489, 2.133331101801138, 0.3, 40.0, 40.0]
    draws = [0.002804655813850184, 3.24393428048192, 5.0, 30.0, 60.0]
    wanted = [8.7978694345542182, 1.3233950120807326, 4.6998244156798339]
    wanted += [0.86663982515044868, 1.2214508415791072]
    shape, draw = (torch.tensor(each, dtype=torch.float64) for each in (shapes, draws))
    assert torch._standard_gamma_grad(shape, draw).tolist() == pytest.approx(wanted, rel=3e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_slopes_of_draws_are_those_of_integrals(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    a, b = (10 ** (torch.rand(400, dtype=dtype) * 5 - 1) for _ in range(2))
    x = torch._standard_gamma(a)
    share = torch._sample_dirichlet(torch.stack([a, b], -1))[:, 0].clamp(1e-30, 1 - 1e-6)
    rel = 1e-5 if dtype == torch.float32 else 1e-8
    with np.errstate(all="ignore"):
        want = gamma_derivative(a.double().numpy(), x.double().numpy())
    assert torch._standard_gamma_grad(a, x).tolist() == pytest.approx(want.tolist(), rel=rel)
    rest = (a + b).double() - a.double()
    with np.errstate(all="ignore"):
        want = beta_derivative(share.double().numpy(), a.double().numpy(), rest.numpy())
    assert torch._dirichlet_grad(share, a, a + b).tolist() == pytest.approx(want.tolist(), rel=rel)


def test_a_lazy_property_is_computed_once() -> None:
    calls = []

    class Held:
        @lazy_property
        def made(self) -> int:
            calls.append(1)
            return 3

    held = Held()
    assert (held.made, held.made, len(calls)) == (3, 3, 1)
    assert isinstance(Held.made, property)
    assert isinstance(Held.made, lazy_property)


def test_tensors_broadcast_together_keep_their_own_histories() -> None:
    numbers, x = torch.tensor([1, 2]), torch.ones(1, requires_grad=True)
    same, wide = torch.broadcast_tensors(numbers, x)
    assert same is numbers
    wide.sum().backward()
    assert x.grad.tolist() == [2.0]
    y, z = torch.ones(2, requires_grad=True), torch.ones(1, requires_grad=True)
    torch.broadcast_tensors(y, z)[1].sum().backward()
    assert y.grad is None


def test_any_classes_can_have_a_divergence() -> None:
    """Pyro registers one for a class that is no distribution of torch's."""

    class Law:
        pass

    d.register_kl(d.Normal, Law)(lambda p, q: "found")
    assert d.kl_divergence(d.Normal(0.0, 1.0), Law()) == "found"
    with pytest.raises(TypeError):
        d.register_kl(1, d.Normal)


def test_what_squeeze_gives_is_a_tensor_of_its_own() -> None:
    x = torch.ones(2, 3)
    assert x.squeeze() is not x
    assert x.squeeze().data_ptr() == x.data_ptr()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_matrices_with_nan_have_no_cholesky_factor(dtype: torch.dtype) -> None:
    matrix = torch.eye(3, dtype=dtype)
    matrix[2, 1] = float("nan")
    assert torch.linalg.cholesky_ex(matrix).info == 3
    with pytest.raises(torch.linalg.LinAlgError, match="leading minor of order 3"):
        torch.linalg.cholesky(torch.stack([matrix, matrix])[1])
    assert not constraints.positive_definite.check(matrix)


def test_gradients_of_shares_that_are_nearly_nothing() -> None:
    """Where 1 - x is 1 in double, on the side of the mean that the integral goes beyond."""
    x = torch.tensor([3e-31, 5e-22, 8.7e-22, 2.9e-17, 1.6e-9, 1 - 1e-16])
    shares = torch.stack([x.double(), 1 - x.double()], -1)
    concentration = torch.full_like(shares, 0.01)
    moved = torch._dirichlet_grad(shares, concentration, concentration * 2)[:5, 0].tolist()
    # those of torch
    assert moved == pytest.approx([3.608e-27, 4.9516e-18, 8.5675e-18, 2.5538e-13, 1.124e-5], 1e-3)


def test_small_concentrations_of_float32_are_drawn_in_double() -> None:
    torch.manual_seed(1)
    small = torch.tensor(0.001)
    drawn = torch.distributions.Beta(small, small).sample((2000,))
    assert 0.3 < (drawn < 0.1).double().mean().item() < 0.45
    assert 0.3 < (drawn > 0.9).double().mean().item() < 0.45
    assert drawn.min().item() > 0


@pytest.mark.parametrize(
    ("logits", "expected"), [(1e3, [-997.2310, 2.7690]), (50.0, [-47.231, 2.769])]
)
def test_continuous_coins_that_are_nearly_certain(logits: float, expected: list[float]) -> None:
    value = torch.tensor([0.0, 1.0])
    for sign, wanted in ((1, expected), (-1, expected[::-1])):
        coin = torch.distributions.ContinuousBernoulli(logits=torch.tensor(sign * logits))
        assert coin.log_prob(value).tolist() == pytest.approx(wanted, 1e-5)
        assert coin.entropy().isfinite()
        assert 0 < coin.mean.item() < 1


@pytest.mark.parametrize("probability", [0.4991, 0.4994, 0.5006, 0.5009])
def test_continuous_coins_that_are_nearly_fair(probability: float) -> None:
    """The series around a half goes on where the formulas end."""
    law = torch.distributions.ContinuousBernoulli
    coin = law(torch.tensor(probability, dtype=torch.float64))
    exact = law(coin.probs, lims=(0.5 - 1e-9, 0.5 + 1e-9))
    value = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)
    for name in ("mean", "variance"):
        assert abs(getattr(coin, name) - getattr(exact, name)) < 1e-7
    for name in ("log_prob", "cdf", "icdf"):
        made, wanted = (getattr(each, name)(value) for each in (coin, exact))
        assert torch.allclose(made, wanted, atol=1e-3 if name in ("cdf", "icdf") else 1e-7), name
    assert abs(coin.entropy() - exact.entropy()) < 1e-7


@pytest.mark.filterwarnings("ignore:Singular sample detected")
def test_the_entropy_of_wishart_follows_from_its_family() -> None:
    scale = torch.eye(2) * 2 + 0.3
    law = torch.distributions.Wishart(torch.tensor([3.0, 4.0]), torch.stack([scale, scale * 2]))
    by_family = torch.distributions.ExponentialFamily.entropy(law)
    assert torch.allclose(by_family, law.entropy(), atol=1e-4)
    matrix, number = law._natural_params
    assert torch.allclose(matrix, -law.precision_matrix / 2)
    assert number.tolist() == [0, 0.5]
    whole = torch.distributions.Wishart(torch.tensor(2), torch.ones(1, 1), validate_args=False)
    assert whole.sample().shape == (1, 1)


@pytest.mark.filterwarnings("ignore::rushlight.jit.TracerWarning")
def test_correlations_are_traced() -> None:
    transform = transforms.CorrCholeskyTransform()
    x = torch.tensor([0.5, -1.0, 2.0])
    traced: Any = torch.jit.trace(lambda given: transform(given), x)
    assert torch.equal(traced(-x), transform(-x))


def test_parts_of_laws_by_torchs_inner_names() -> None:
    shares, concentration = torch.tensor([[0.25, 0.75]]), torch.tensor([[2.0, 3.0]])
    found = d.dirichlet._Dirichlet_backward(shares, concentration, torch.eye(2)[:1])
    assert found.shape == (1, 2)
    assert torch.allclose((found * torch.tensor([1.0, -1.0])).sum(), found.abs().sum())
    p, q = d.Exponential(torch.tensor(2.0)), d.Exponential(torch.tensor(3.0))
    assert torch.allclose(d.kl._kl_expfamily_expfamily(p, q), d.kl_divergence(p, q))
