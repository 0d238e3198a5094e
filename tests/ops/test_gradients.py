"""Every row of the table of gradients against finite differences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck
from rushlight.ops.gradients.nodes.bound import bound_row
from rushlight.ops.table.table import TABLE

F: Any = torch.nn.functional

SOURCES = {
    "a": (2, 3), "b": (2, 3), "v": (3,), "w": (3,), "m": (3, 3), "k": (2, 3, 3), "x": (1, 2, 6),
    "y": (1, 2, 4, 4), "z": (1, 1, 4, 4, 4), "u": (4, 3), "one": (),
}  # fmt: skip
"""Inputs by name; `p` and `q` are like `a`, between 0.2 and 0.8."""

CASES = """
a+2*b; a-b; a*b; a/p; -a; 1-a; 2/p; p**2.5; p**q; 2.0**a; a.square(); p.reciprocal(); p.sqrt()
p.rsqrt(); a.exp(); a.exp2(); a.expm1(); p.log(); p.log2(); p.log10(); p.log1p(); a.sin()
a.cos(); p.tan(); a.sinh(); a.cosh(); a.tanh(); p.asin(); p.acos(); a.atan(); a.asinh()
(p+1).acosh(); p.atanh(); t.atan2(a,p); a.erf(); a.erfc(); p.erfinv(); p.lgamma(); p.digamma()
t.polygamma(1,p); a.sinc(); a.i0(); a.sigmoid(); p.logit(); t.logaddexp(a,b); t.hypot(a,p)
t.xlogy(p,q); a.abs(); a.sgn(); a.angle(); a.clamp(-.5,.5); a.clamp_min(b); t.maximum(a,b)
t.minimum(a,b); t.fmax(a,b); t.where(a>0,a,b); a.masked_fill(b>0,2.0); t.addcmul(a,b,p,value=2)
t.addcdiv(a,b,p); t.lerp(a,b,.3); t.lerp(a,b,p); t.fmod(p,.3); t.remainder(a,p); t.copysign(a,b)
t.igamma(t.ones(3,dtype=t.float64),p); t.special.gammaincc(t.ones(3,dtype=t.float64),p)
t.special.xlog1py(a,p); t.special.entr(p); t.special.ndtr(a); t.special.log_ndtr(a)
t.special.erfcx(a); t.special.i0e(a); t.special.i1(a); t.special.i1e(p); t.special.ndtri(p)
p.mvlgamma(1)+(p+2).mvlgamma(2); t.deg2rad(a); a.frac(); a.nan_to_num(); a.sum(); a.sum(1)
a.mean(0,True); a.prod(); a.prod(1); a.var(); a.std(1); a.var(1,correction=2); t.var_mean(a,1)
t.std_mean(a); a.amax(1); a.amin(); a.max(); a.min(1).values; a.median(); a.median(0).values
a.kthvalue(2,1).values; t.aminmax(a).max; a.topk(2).values; a.sort(0).values; a.cummax(1).values
a.cumsum(1); p.cumprod(1); a.logcumsumexp(1); a.logsumexp(1); a.norm(); a.norm(3)
a.norm(1,dim=1); a.norm(float('inf')); t.dist(a,b); a.nansum(); a.trace(); a.view(3,2)
a.reshape(-1); a.t(); a.T; a.permute(1,0); a.unsqueeze(1).squeeze(1); a.flatten()
a.expand(4,2,3); a.select(1,2); a[0]; a[:,1:]; a[...,None]; a[[0,0,1]]; a.narrow(1,0,2)
t.cat([a,b],1)*2; t.stack([a,b],1)**2; a.chunk(2,1)[1]; a.split(1)[0]; a.unbind(1)[2]; a.flip(0)
a.roll(1,1); a.rot90(); a.tile(2,2); a.repeat(2,1,2); a.repeat_interleave(2,1); a.diagonal()
a.tril(); a.triu(1); t.diag_embed(a); t.diag(v); v.unfold(0,2,1); F.pad(a,(1,1)); a.movedim(0,1)
F.pad(x,(1,1),mode='circular'); F.pad(a,(1,1),mode='reflect'); F.pad(a,(1,-1),mode='replicate')
t.hstack([a,b]); t.vstack([a,b]); t.dstack([a,b]); t.block_diag(a,b)
t.meshgrid(v,w,indexing="ij")[0]
t.cartesian_prod(v,w); t.broadcast_tensors(a,v)[1]; a.swapaxes(0,1); t.combinations(v)
a.gather(1,i); a.scatter(1,i,b); a.scatter_add(1,i,b); a.index_select(1,j); a.index_add(0,j2,b)
a.index_copy(0,j2,b); a.index_fill(1,j,0.5); a.take(i); a.put(i,b,accumulate=True)
a.masked_select(b>0); a.masked_scatter(b>0,b); t.select_scatter(a,v,0,1)
t.slice_scatter(a,b[:,:2],1,0,2); t.diagonal_scatter(a,v[:2]); t.take_along_dim(a,i,1)
a.index_put((j2,),b); F.embedding(i,m); t.scatter_reduce(a,1,i,b,'sum')
t.scatter_reduce(p,1,i,q,'prod'); t.scatter_reduce(a,1,i,b,'mean')
t.scatter_reduce(a,1,i,b,'amax'); t.as_strided(a,(2,2),(1,2)); a.clone(); t.diff(a); a@m; m@v
v@m; v@w; k@v; k@m; a@k; t.mm(a,m); t.bmm(k,k); t.mv(m,v); t.dot(v,w); t.outer(v,w)
t.addmm(a,b,m,beta=.5,alpha=2); t.addmv(v,m,w); t.addr(m,v,w); t.baddbmm(k,k,k); t.addbmm(m,k,k)
F.linear(a,m,v); t.einsum('ij,jk->ki',a,m); t.einsum('ii->i',m); t.tensordot(a,m,1)
t.inner(a,b); t.kron(a,v); t.cross(a,b,dim=1); t.linalg.multi_dot([a,m,m]); t.linalg.vecdot(a,b)
F.relu(a); F.relu6(4*a); F.hardtanh(a); F.leaky_relu(a,.2); F.elu(a,.7); F.selu(a); F.celu(a,.7)
F.gelu(a); F.gelu(a,approximate='tanh'); F.silu(a); F.mish(a); F.hardsigmoid(a); F.hardswish(a)
F.hardshrink(a); F.softshrink(a); F.softplus(a,2.); F.logsigmoid(a); F.glu(y,1)
F.threshold(a,.1,1.); F.prelu(a,v); F.rrelu(a); F.softmax(a,1); F.log_softmax(a,1)
F.tanhshrink(a); F.softsign(a); F.mse_loss(a,b); F.l1_loss(a,b); F.smooth_l1_loss(a,b)
F.huber_loss(a,b,delta=.5); F.kl_div(a,p,reduction='sum'); F.poisson_nll_loss(a,p)
F.binary_cross_entropy(p,q); F.binary_cross_entropy_with_logits(a,p,pos_weight=t.arange(3.))
F.soft_margin_loss(a, b.detach().sign()); F.hinge_embedding_loss(a,b.sign())
F.margin_ranking_loss(a,b,b.sign()); F.triplet_margin_loss(a,b,p)
F.cosine_embedding_loss(a,b,one.sign().expand(2)); F.cosine_similarity(a,b)
F.pairwise_distance(a,b); F.nll_loss(a,c); F.cross_entropy(a,c,label_smoothing=.1)
F.cross_entropy(a,p); F.multi_margin_loss(a,c); F.multilabel_margin_loss(a,i)
F.multilabel_soft_margin_loss(a,p); F.gaussian_nll_loss(a,b,p)
F.conv1d(x,k[:,:2],stride=2,padding=1); F.conv2d(y,m.expand(2,2,3,3),dilation=1,padding='same')
F.conv2d(y,k[:,:1].unsqueeze(2),groups=2); F.conv3d(z,m.expand(1,1,3,3,3),padding=1)
F.conv_transpose2d(y,k.unsqueeze(1),stride=2,padding=1,output_padding=1)
F.conv_transpose1d(x,k[:,:2],groups=1,dilation=2); t.conv_tbc(k,k,v); F.layer_norm(a,(3,),v,w)
F.batch_norm(a,None,None,v,w,True); F.batch_norm(u,v.detach()*0,w.detach()*0+1); F.group_norm(y,2)
F.instance_norm(y); F.rms_norm(a,(3,),v); F.local_response_norm(y,2)
F.scaled_dot_product_attention(k,k,k,is_causal=True); F.bilinear(a,b,k); t.cdist(a,b)
F.pdist(u); F.max_pool2d(y,2); F.max_pool1d(x,2); F.max_pool3d(z,2)
F.avg_pool2d(y,3,2,1,ceil_mode=True); F.avg_pool1d(x,2); F.avg_pool3d(z,2)
F.adaptive_avg_pool2d(y,3); F.adaptive_max_pool2d(y,3)
F.interpolate(y,scale_factor=1.5,mode='bilinear'); F.interpolate(y,size=3,mode='bicubic')
F.interpolate(x,size=4); F.interpolate(z,size=3,mode='trilinear',align_corners=True)
F.interpolate(y,size=3,mode='bilinear',antialias=True)
F.interpolate(y,size=5,mode='nearest-exact')
F.grid_sample(y,.3*m[None,:,:2].unsqueeze(1),align_corners=False)
F.grid_sample(y,m[None,:,:2].unsqueeze(1),mode='bicubic',padding_mode='border',align_corners=True)
F.affine_grid(k[:1,:2],(1,1,2,2),False); F.unfold(y,2); F.fold(y.reshape(1,8,4),(3,3),2)
F.pixel_shuffle(y.reshape(1,4,2,4),2); F.channel_shuffle(y,2); F.embedding_bag(i,m)
F.embedding_bag(i,m,mode='max'); t.linalg.inv(h); t.linalg.det(h); t.linalg.slogdet(h)[1]
t.logdet(h); t.linalg.solve(h,a.T); t.linalg.cholesky(h@h.T+h.T@h); t.linalg.eigvalsh(m+m.T)
t.linalg.svdvals(m); t.linalg.qr(h).R; t.linalg.eigh(m+m.T)[1].abs()
t.linalg.solve_triangular(h.triu(),a.T,upper=True); t.linalg.pinv(u); t.linalg.matrix_power(m,3)
t.linalg.norm(m,'nuc'); t.linalg.norm(m,1); t.linalg.svd(u,False)[0].abs(); t.fft.fft(v).abs()
t.fft.rfft(v).abs(); t.fft.irfft(t.complex(v,w)); t.fft.ifft2(m).abs(); t.complex(a,b).abs()
t.polar(p,a).real; t.view_as_real(t.complex(a,b)); t.complex(a,b).angle()
t.stft(x[0],4,2,return_complex=True).abs(); t.lstm_cell(a,(b,b*2),m.repeat(4,1),m.repeat(4,1))
t.gru_cell(a,b,m.repeat(3,1),m.repeat(3,1))
t.rnn_tanh(k,k[:1],[m,m],False,1,0.,True,False,False)[0]; t.cov(a); t.cov(v,correction=0)
t.cov(a,aweights=t.tensor([.2,.5,.3],dtype=t.float64)); t.corrcoef(u); t.quantile(a,.3,1)
t.quantile(a,t.tensor([.2,.9],dtype=t.float64),0,True); t.nanquantile(a,.6)
t.quantile(a,.4,interpolation='midpoint'); t.quantile(a,.4,1,interpolation='nearest')
t.gradient(a)[1]; t.gradient(u,spacing=2.,dim=0,edge_order=2)[0]
t.gradient(u,spacing=[t.tensor([0.,.5,2.,3.],dtype=t.float64)],dim=0,edge_order=2)[0]
t.gradient(v,spacing=[t.tensor([0.,.5,2.],dtype=t.float64)])[0]; t.trapezoid(a,p.cumsum(1))
t.trapezoid(a,dx=.5,dim=0); t.cumulative_trapezoid(a,w); t.cumulative_trapezoid(a)
t.linalg.vander(v,N=4); t.renorm(a,2,0,.5); t.linalg.lu(h)[1]; t.linalg.lu(a)[2]
t.linalg.lu(u)[1]; t.linalg.lu_factor(h)[0]; t.lu_unpack(*t.linalg.lu_factor(h))[2]
t.linalg.lu_solve(*t.linalg.lu_factor(h),a.T); t.lu_solve(a.T,*t.linalg.lu_factor(h))
t.linalg.lu_solve(*t.linalg.lu_factor(h),a,left=False,adjoint=True); t.cholesky_inverse(h.tril())
t.cholesky_solve(a.T,h.triu(),upper=True); t.triangular_solve(a.T,h,transpose=True)[0]
t.linalg.lstsq(u,u[:,:2]+t.arange(8.).reshape(4,2)).solution; t.linalg.cond(h); t.linalg.cond(h,1)
t.linalg.tensorinv(h.reshape(3,1,3),1); t.linalg.tensorsolve(h.reshape(3,1,3),v.reshape(3,1))
t.linalg.eigvals(h).abs(); t.linalg.eig(h)[1].abs(); t.matrix_exp(m)
t.linalg.householder_product(u,v); t.ormqr(u,v,u*2); t.ormqr(u,v,u.T,left=False,transpose=True)
t.linalg.qr(a)[1]; t.index_reduce(a,0,j2,b,'prod'); t.index_reduce(a,0,j2,b,'mean')
t.index_reduce(a,0,j2,b,'amax',include_self=False); t.fft.hfft(v); t.fft.ihfft(v).abs()
t.fft.hfftn(a); t.fft.ihfft2(a).abs()
t.view_as_real(F.conv_transpose1d(t.complex(x,x*x),t.complex(k[:,:2],k[:,1:])))
t.view_as_real(t.linalg.slogdet(t.complex(h,m))[0]); t.view_as_real(t.linalg.qr(t.complex(h,m))[1])
a.T.ravel(); t.fft.fftshift(a); t.fft.fftshift(a,1); t.fft.ifftshift(a,[0]); a.tile(2)
a.tile(2,1,2); a.hsplit(3)[1]; a.vsplit(2)[1]; a.tensor_split(2,1)[0]
t.cat([*a.tensor_split((1,2),1)[::2]],1)**2
u.unfold(0,2,1)**2; u.unfold(1,2,1).unfold(0,3,1); v[0].unfold(0,1,1); a.T.hsplit([1])[0]
t.take_along_dim(a,i-3,1); t.take_along_dim(a,i); t.take_along_dim(a,i[:1],1)
t.take_along_dim(v[None],i,1)
""".replace("\n", ";").split(";")


def _inputs(source: np.random.Generator) -> dict[str, Any]:
    values = {name: source.standard_normal(size) for name, size in SOURCES.items()}
    values |= {name: source.uniform(0.2, 0.8, (2, 3)) for name in "pq"}
    values["h"] = source.standard_normal((3, 3)) * 0.3 + 2 * np.eye(3)
    return {name: torch.tensor(np.asarray(v), requires_grad=True) for name, v in values.items()}


def _fixed() -> dict[str, Any]:
    return {
        **{"t": torch, "F": F, "float": float, "i": torch.tensor([[0, 2, 1], [2, 0, 1]])},
        **{"j": torch.tensor([0, 2, 2]), "j2": torch.tensor([1, 0]), "c": torch.tensor([2, 0])},
    }


def _function(case: str) -> tuple[Any, list[str]]:
    code = compile(case.strip(), "<case>", "eval")
    names = [n for n in code.co_names if n in SOURCES or n in ("p", "q", "h")]

    def function(*args: Any) -> Any:
        return eval(code, {**_fixed(), **dict(zip(names, args, strict=True))})

    return function, names


@pytest.mark.parametrize("case", [case for case in CASES if case.strip()], ids=str.strip)
def test_gradients_are_those_of_finite_differences(case: str) -> None:
    function, names = _function(case)
    inputs = _inputs(np.random.default_rng(7))
    assert gradcheck(function, [inputs[name] for name in names], atol=1e-4)


@pytest.mark.parametrize(
    "case",
    """a.tanh(); p.log(); a*b; a@m; a.softmax(1); F.log_softmax(a,1); F.gelu(a); p.prod(1); a.std(1)
    F.conv1d(x,k[:,:2],padding=1); F.layer_norm(a,(3,),v,w); t.linalg.inv(h); a.index_select(1,j)
    F.max_pool1d(x,2); F.cross_entropy(a,c); p**q; t.cat([a,b])**2; a.norm(); F.embedding(i,m)**2
    a.cumsum(1)**2; F.avg_pool1d(x,2)**2; a.expand(4,2,3)**2; a[:,1:]**2
    """.strip().replace("\n", ";").split(";"),
    ids=str.strip,
)  # fmt: skip
def test_gradients_have_gradients(case: str) -> None:
    function, names = _function(case)
    inputs = _inputs(np.random.default_rng(3))
    assert gradgradcheck(function, [inputs[name] for name in names], atol=1e-4)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(1, 3), max_size=3),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.sampled_from(["a+b", "a*b", "a-b", "a/(b*b+1)", "t.maximum(a,b)", "t.where(b>0,a,b)"]),
    st.integers(0, 1000),
)
def test_broadcasting_is_summed_up(
    sizes: list[int], ones: list[bool], case: str, seed: int
) -> None:
    source = np.random.default_rng(seed)
    other = [1 if one else size for one, size in zip(ones, sizes, strict=False)]
    a = torch.tensor(source.standard_normal(sizes), requires_grad=True)
    b = torch.tensor(source.standard_normal(other[seed % 2 :]), requires_grad=True)
    assert gradcheck(lambda a, b: eval(case, {"t": torch, "a": a, "b": b}), [a, b], atol=1e-4)


def test_rows_read_only_what_their_operators_have() -> None:
    for entry in TABLE:
        bound_row(entry)


def test_an_operator_without_a_row_fails_by_name() -> None:
    x = torch.tensor([0.5, 0.25], requires_grad=True)
    result = torch.binomial(torch.ones(2), x)
    assert repr(result).endswith("grad_fn=<NotImplemented>)")
    with pytest.raises(RuntimeError, match="aten::binomial is not implemented"):
        result.sum().backward()
    for refused in (torch.special.zeta(x + 2, 2.0), torch.igamma(x, x)):
        with pytest.raises(NotImplementedError, match=r"derivative for '.*' is not implemented"):
            refused.sum().backward()


def _checked(function: Callable[..., Any], *shape: int, dtype: Any = torch.float64) -> None:
    """The gradient along a direction against differences of the function."""
    torch.manual_seed(3)
    x, step = torch.randn(*shape, dtype=dtype), torch.randn(*shape, dtype=dtype)
    x.requires_grad_()
    result = function(x)
    result.backward()
    with torch.no_grad():
        wanted = (function(x + 1e-6 * step) - function(x - 1e-6 * step)) / 2e-6
        assert x.grad is not None
        assert abs(wanted - (x.grad.conj() * step).real.sum()) < 1e-5


def test_gradients_of_complex_functions() -> None:
    weights = torch.arange(12.0, dtype=torch.float64).reshape(3, 4)
    wide = torch.complex128
    _checked(lambda x: (x.logcumsumexp(1).abs() * weights).sum(), 3, 4, dtype=wide)
    _checked(lambda x: (torch.istft(x, 8, center=False).abs() ** 2).sum(), 5, 4, dtype=wide)

    def of_vectors(x: Any) -> Any:
        u, s, vh = torch.linalg.svd(x, full_matrices=False)
        return ((u @ (s * s + s).to(wide).diag() @ vh).abs() * weights).sum()

    _checked(of_vectors, 3, 4, dtype=wide)


def test_gradients_of_vectors_beyond_the_singular_values_are_dropped() -> None:
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    _, _, vh = torch.linalg.svd(x)
    vh.abs().sum().backward()
    short = x.detach().clone().requires_grad_()
    torch.linalg.svd(short, full_matrices=False)[2].abs().sum().backward()
    assert torch.allclose(x.grad, short.grad)


def test_gradients_of_eigenvectors_are_symmetric() -> None:
    x = torch.tensor([[2.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 5.0]], requires_grad=True)
    torch.linalg.eigh(x)[1].abs().sum().backward()
    assert torch.allclose(x.grad, x.grad.T)


def test_gradients_through_the_memory_of_a_larger_tensor() -> None:
    base = torch.arange(6.0)
    part = base[2:].requires_grad_()
    (torch.as_strided(part, (2, 2), (1, 2), 1) * torch.tensor([[1.0, 2], [3, 4]])).sum().backward()
    assert part.grad.tolist() == [3, 2, 4, 0]  # element 1 lies before `part`
    twice = torch.arange(2.0).expand(3, 2).requires_grad_()
    torch.as_strided(twice, (2,), (1,)).sum().backward()
    assert torch.allclose(twice.grad, torch.full((3, 2), 1 / 3))


def test_gradients_of_alignments() -> None:
    scores = torch.zeros(3, 2, 2, dtype=torch.float64).log_softmax(2).requires_grad_()
    labels = torch.tensor([[1, 1], [1, 0]])
    loss = F.ctc_loss(scores, labels, [3, 2], [2, 1], reduction="none")
    assert np.allclose(loss.tolist(), [math.log(8), math.log(4 / 3)])  # 1 of 8 paths, 3 of 4
    loss.sum().backward()
    first, second = scores.grad[:, 0].tolist(), scores.grad[:, 1].tolist()
    assert np.allclose(first, [[0.5, -0.5], [-0.5, 0.5], [0.5, -0.5]])  # one path: 1, blank, 1
    assert np.allclose(second, [[1 / 6, -1 / 6], [1 / 6, -1 / 6], [0, 0]])  # three paths of two
    scores.grad = None
    F.ctc_loss(scores[:2], labels, [2, 2], [2, 1], reduction="none")[0].backward()
    assert scores.grad[:2, 0].isnan().all()  # no path
    assert not scores.grad[:2, 1].any()


def test_gradients_of_attention_with_dropout_know_what_was_dropped() -> None:
    torch.manual_seed(3)
    q, k, v = (torch.rand(2, 5, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))

    def attention(*given: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(5)
        return torch.nn.functional.scaled_dot_product_attention(*given, dropout_p=0.4)

    assert torch.autograd.gradcheck(attention, (q, k, v))


@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "max", "min", "amax", "amin"])
def test_gradients_of_segments(reduce: str) -> None:
    x = torch.tensor([[1.0, 2], [0, 3], [4, 0], [0, 5]], dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([3, 0, 1])
    assert torch.autograd.gradcheck(
        lambda x: torch.segment_reduce(x, reduce, lengths=lengths, initial=1)[:1],
        (x + torch.rand(4, 2) / 8,),
    )


def test_gradients_of_gradients_of_pooling_and_dropout() -> None:
    x = torch.rand(1, 2, 4, 6, dtype=torch.float64, requires_grad=True)
    values, places = torch.nn.functional.max_pool2d(x, 2, return_indices=True)
    g = torch.rand(values.shape, dtype=torch.float64, requires_grad=True)
    back = torch.ops.aten.max_pool2d_with_indices_backward
    options = ([2, 2], [2, 2], [0, 0], [1, 1], False)
    assert torch.autograd.gradcheck(lambda g: back(g, x.detach(), *options, places), (g,))
    values.backward(g.detach())
    assert torch.equal(x.grad, back(g, x, *options, places))
    with pytest.raises(IndexError, match="leaves its plane"):
        back(g, x, *options, places + 1000)
    mask = torch.rand(3) > 0.5
    y = torch.rand(3, dtype=torch.float64, requires_grad=True)
    drop = torch.ops.aten.native_dropout_backward
    assert torch.autograd.gradcheck(lambda y: drop(y, mask, 2.0), (y,))
    assert torch.autograd.grad(torch.nextafter(y, y + 1).sum(), y)[0].tolist() == [1, 1, 1]


@pytest.mark.parametrize("twin", ["", "_"])
@pytest.mark.parametrize(
    "name", ["dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout"]
)
def test_what_was_dropped_may_be_written_before_the_way_back(name: str, twin: str) -> None:
    """The gradient goes by what was drawn, not by what the result has become."""

    def slope(y: Any, x: Any) -> Any:
        return torch.autograd.grad(y.sum(), x)[0].flatten().tolist()

    def drop(x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(3)
        return getattr(torch, name + twin)(x * 1, 0.4, True)

    x = torch.arange(12.0).reshape(2, 3, 2).requires_grad_()
    written = drop(x)
    written += 100.0
    found = slope(written, x)
    assert found == slope(drop(x), x)
    assert {value == 0 for value in found} == {True, False}


@torch.jit.script
def _dropped_and_written(x: torch.Tensor, write: bool) -> torch.Tensor:
    y = torch.nn.functional.dropout(x, 0.5, True)
    if write:
        y += 100.0
    return y


def test_a_script_may_write_what_was_dropped() -> None:
    x = torch.arange(12.0).requires_grad_()

    def slope(write: bool) -> Any:
        torch.manual_seed(3)
        return torch.autograd.grad(_dropped_and_written(x, write).sum(), x)[0].tolist()

    for _ in range(3):  # the machine, then plans
        assert slope(True) == slope(False)
    assert set(slope(True)) == {0.0, 2.0}


@pytest.mark.parametrize("name", ["topk", "sort", "cummax", "max", "kthvalue"])
def test_places_are_kept_of_what_is_chosen_and_not_values(name: str) -> None:
    x = torch.tensor([[1.0, 3.0, 2.0]], requires_grad=True)
    values = getattr(torch, name)(x, *((2,) if name in ("topk", "kthvalue") else ()), dim=1)[0]
    values /= values.sum().detach()
    values.sum().backward()
    assert x.grad is not None


def test_sizes_may_be_tensors_where_gradients_are_recorded() -> None:
    x = torch.ones(4, 6, requires_grad=True)
    x.view(4, torch.tensor(2), 3).sum().backward()
    assert x.grad.tolist() == [[1.0] * 6] * 4
    assert (x * 2).reshape(torch.tensor(8), -1).shape == (8, 3)


def test_arrays_of_what_requires_gradients_where_none_are_recorded() -> None:
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert x.numpy().tolist() == np.asarray(x * 1).tolist() == np.array(x.view(2)).tolist()
    with torch.inference_mode():
        assert x.numpy().tolist() == [1, 1]
    for call in (x.numpy, lambda: np.asarray(x), (x * 2).numpy):
        with pytest.raises(RuntimeError, match="call numpy"):
            call()
