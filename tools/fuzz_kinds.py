"""Families of programs over many dtypes, over layers' functions, and over forms of the language."""

from __future__ import annotations

from fuzz_families import HEADER, TENSORS, Family, ways

__all__ = ["DTYPES", "FORMS", "FUNCTIONS"]

_DTYPES = (
    "bfloat16 float16 complex64 complex128 int8 uint8 int16 bool float32 float64 int64".split()
)


def _of_each(text: str) -> list[str]:
    """The ways in a text, `@` standing for each dtype."""
    return [way.replace("@", f"torch.{each}") for way in ways(text) for each in _DTYPES]


# -------------------------------------------------------------------------------------- dtypes

_SOME = _of_each(r"""
    $Tensor$.to(@) ;; $Tensor$.to(@) ;; torch.tensor($scalar$, dtype=@) ;;
    torch.full([3], $scalar$, dtype=@) ;; $Tensor$.sum(dtype=@) ;; torch.ones(2, 1, dtype=@) ;;
    torch.arange(0, 3, dtype=@) ;; $Tensor$.cumsum(0, dtype=@) ;;
    torch.zeros_like($Tensor$, dtype=@) ;; torch.tensor([$scalar$, $scalar$], dtype=@) ;;
    $Tensor$.new_ones([3], dtype=@)
""")
_COMPUTED = ways(r"""
    ($Tensor$ + $Tensor$) ;; ($Tensor$ - $Tensor$) ;; ($Tensor$ * $Tensor$) ;;
    ($Tensor$ / $Tensor$) ;; ($Tensor$ // $Tensor$) ;; ($Tensor$ % $Tensor$) ;;
    ($Tensor$ ** $Tensor$) ;; ($Tensor$ ** $scalar$) ;; ($Tensor$ + $scalar$) ;;
    ($Tensor$ * $scalar$) ;; ($scalar$ - $Tensor$) ;; ($scalar$ / $Tensor$) ;;
    ($Tensor$ // $scalar$) ;; ($Tensor$ % $scalar$) ;; ($scalar$ ** $Tensor$) ;;
    ($Tensor$ / $scalar$) ;; ($Tensor$ & $Tensor$) ;; ($Tensor$ | $int$) ;;
    ($Tensor$ ^ $Tensor$) ;; ($Tensor$ << $int$) ;; ($Tensor$ >> $Tensor$) ;; ~$Tensor$ ;;
    -$Tensor$ ;; ($Tensor$ < $Tensor$) ;; ($Tensor$ == $scalar$) ;; ($Tensor$ >= $scalar$) ;;
    ($Tensor$ != $Tensor$) ;; $Tensor$.abs() ;; $Tensor$.sign() ;; $Tensor$.exp() ;;
    $Tensor$.sqrt() ;; $Tensor$.reciprocal() ;; $Tensor$.square() ;; $Tensor$.sum() ;;
    $Tensor$.prod() ;; $Tensor$.mean() ;; $Tensor$.max() ;; $Tensor$.amin(-1) ;; $Tensor$.std() ;;
    $Tensor$.var(0) ;; $Tensor$.cumprod(0) ;; $Tensor$.sort(-1)[0] ;; $Tensor$.argmax() ;;
    $Tensor$.softmax(-1) ;; $Tensor$.sigmoid() ;; $Tensor$.tanh() ;; $Tensor$.log() ;;
    $Tensor$.floor() ;; $Tensor$.round() ;; torch.maximum($Tensor$, $Tensor$) ;;
    torch.fmin($Tensor$, $Tensor$) ;; torch.atan2($Tensor$, $Tensor$) ;;
    torch.add($Tensor$, $Tensor$, alpha=$scalar$) ;; torch.sub($Tensor$, $scalar$, alpha=$int$) ;;
    torch.where($Tensor$ > 0, $Tensor$, $Tensor$) ;;
    torch.where($Tensor$ != 0, $Tensor$, $scalar$) ;;
    torch.addcmul($Tensor$, $Tensor$, $Tensor$, value=$scalar$) ;;
    torch.lerp($Tensor$, $Tensor$, $float$) ;;
    torch.div($Tensor$, $Tensor$, rounding_mode='floor') ;;
    torch.div($Tensor$, $scalar$, rounding_mode='trunc') ;; torch.remainder($Tensor$, $scalar$) ;;
    torch.fmod($Tensor$, $Tensor$) ;; torch.clamp($Tensor$, $scalar$, $scalar$) ;;
    torch.clamp($Tensor$, max=$scalar$) ;; $Tensor$.real ;; torch.view_as_real($Tensor$) ;;
    $Tensor$.conj() ;; torch.angle($Tensor$) ;; torch.polar($Tensor$, $Tensor$) ;;
    torch.complex($Tensor$, $Tensor$) ;; torch.isnan($Tensor$) ;; torch.isfinite($Tensor$) ;;
    torch.logical_and($Tensor$, $Tensor$) ;; torch.bitwise_left_shift($Tensor$, $int$) ;;
    torch.gcd($Tensor$, $Tensor$) ;; torch.hypot($Tensor$, $Tensor$) ;;
    torch.cat([$Tensor$, $Tensor$]) ;; torch.stack([$Tensor$, $Tensor$]) ;;
    $Tensor$.masked_fill($Tensor$ > 0, $scalar$) ;; torch.dot($Tensor$, $Tensor$) ;;
    torch.outer($Tensor$, $Tensor$) ;; $Tensor$ @ $Tensor$ ;; $Tensor$.nonzero() ;;
    torch.bucketize($Tensor$, torch.tensor([0, 1, 2])) ;;
    torch.searchsorted(torch.tensor([0.0, 1.5]), $Tensor$) ;; torch.isin($Tensor$, $Tensor$) ;;
    $Tensor$.view(torch.uint8) ;; $Tensor$.view(torch.int16) ;; $Tensor$[0] ;;
    torch.copysign($Tensor$, $scalar$) ;; torch.nextafter($Tensor$, $Tensor$) ;;
    torch.heaviside($Tensor$, $Tensor$) ;; torch.nan_to_num($Tensor$) ;;
    torch.rsub($Tensor$, $scalar$) ;; torch.float_power($Tensor$, $scalar$) ;;
    torch.ldexp($Tensor$, $Tensor$) ;; torch.frac($Tensor$) ;; torch.diff($Tensor$) ;;
    torch.count_nonzero($Tensor$) ;; torch.logsumexp($Tensor$, 0) ;; torch.norm($Tensor$) ;;
    torch.aminmax($Tensor$)[0] ;; torch.trapezoid($Tensor$)
""")
DTYPES = Family(
    types=ways(r"""
    Tensor ;; Tensor ;; Tensor ;; Tensor ;; int ;; float ;; bool ;; str ;; complex
"""),
    parameters=ways("Tensor ;; Tensor ;; Tensor ;; int ;; float"),
    ways={
        "Tensor": [*_COMPUTED, *_SOME],
        "scalar": ways(r"""
    $int$ ;; $float$ ;; $bool$ ;; $Tensor$.item() ;; $complex$
"""),
        "int": ways(r"""
    int($Tensor$) ;; $Tensor$.element_size() ;; $Tensor$.dtype ;; ($int$ + 1) ;;
    torch.result_type($Tensor$, $Tensor$) ;;
    torch.promote_types($Tensor$.dtype, $Tensor$.dtype) ;; torch.result_type($Tensor$, $scalar$)
"""),
        "float": ways(r"""
    float($Tensor$) ;; float($Tensor$.sum()) ;; ($float$ * 2)
"""),
        "complex": ways("complex($Tensor$) ;; ($complex$ * 2)"),
        "bool": ways(r"""
    bool($Tensor$) ;; torch.equal($Tensor$, $Tensor$) ;; $Tensor$.is_complex() ;; not $bool$ ;;
    torch.allclose($Tensor$, $Tensor$) ;; $Tensor$.is_floating_point() ;; $int$ < $int$ ;;
    torch.can_cast($Tensor$.dtype, $Tensor$.dtype) ;; $Tensor$.is_signed()
"""),
        "str": ways(r"""
    str($Tensor$) ;; f'{$Tensor$} {$Tensor$.dtype}' ;; str($Tensor$.item())
"""),
    },
    literals={
        **TENSORS.literals,
        "scalar": ["2", "0.5", "-1", "True", "300", "1.7", "-200", "2 + 1j"],
        "complex": ["1j", "complex(0.5, -2.0)"],
        "Tensor": ["torch.ones(2, 3)", "torch.tensor([1, 2, 3])", "torch.tensor(2)"],
    },
    inputs={
        "Tensor": _of_each(r"""
    torch.tensor([[1, 2, 3], [0, 5, 100]]).to(@) ;; torch.tensor([1.5, -2.25, 7.0]).to(@) ;;
    torch.tensor(3).to(@) ;; torch.tensor([[0.5], [127.9]]).to(@) ;; torch.tensor(-1.5).to(@)
"""),
        "int": ["0", "3", "-2", "200", "2**40"],
        "float": ["0.5", "-2.5", "1e5", "float('inf')"],
    },
    statements=ways(r"""
    $var:Tensor$ += $Tensor$ ;; $var:Tensor$ -= $scalar$ ;; $var:Tensor$ *= $Tensor$ ;;
    $var:Tensor$ /= $scalar$ ;; $var:Tensor$.floor_divide_($scalar$) ;;
    $var:Tensor$ %= $scalar$ ;; $var:Tensor$ **= $scalar$ ;; $var:Tensor$ &= $Tensor$ ;;
    $var:Tensor$ |= $int$ ;; $var:Tensor$ ^= $Tensor$ ;; $var:Tensor$ <<= 1 ;;
    $var:Tensor$[0] = $scalar$ ;; $var:Tensor$[0] = $Tensor$ ;; $var:Tensor$.copy_($Tensor$) ;;
    $var:Tensor$.fill_($scalar$) ;; $var:Tensor$.clamp_($scalar$, 5) ;; $var:Tensor$.sqrt_() ;;
    $var:Tensor$.abs_() ;; $var:Tensor$.masked_fill_($Tensor$ > 1, $scalar$) ;;
    $var:Tensor$.round_() ;; print($Tensor$) ;; $var:Tensor$[$Tensor$ > 0] = $Tensor$ ;;
    $var:Tensor$.cumsum_(0) ;; $var:Tensor$ = $Tensor$ ;;
    $var:Tensor$.index_put_([torch.tensor([0, 0])], $Tensor$, accumulate=True) ;;
    $var:Tensor$.index_add_(0, torch.tensor([0]), $Tensor$) ;;
    $var:Tensor$.lerp_($Tensor$, 0.5) ;; $var:Tensor$.addcmul_($Tensor$, $Tensor$) ;;
    $var:Tensor$.add_($Tensor$, alpha=$scalar$) ;;
    $var:Tensor$.div_($Tensor$, rounding_mode='trunc') ;; $var:Tensor$.eq_($scalar$) ;;
    $var:Tensor$.scatter_add_(0, torch.tensor([0, 1, 0]), $Tensor$) ;; $var:Tensor$.neg_() ;;
    $var:Tensor$.logical_not_() ;; $var:Tensor$.bitwise_and_($int$) ;; $var:Tensor$.pow_($scalar$)
"""),
    heads=ways(r"""
    if $bool$: ;; for $name$ in $Tensor$: #Tensor ;; for $name$ in range(2): #int
"""),
)

# ----------------------------------------------------------------------------------- functions

_OF_SHAPES = HEADER + (
    "from torch.nn import functional as F\nImage = Tensor\nMatrix = Tensor\nVector = Tensor\n"
    "Index = Tensor\n"
)
_IMAGES = ways(r"""
    F.interpolate($Image$, scale_factor=2.0) ;;
    F.interpolate($Image$, size=[3, 5], mode='bilinear') ;;
    F.interpolate($Image$, scale_factor=[0.5, 2.0], mode='bicubic', align_corners=$bool$) ;;
    F.interpolate($Image$, size=[2, 7], mode='area') ;;
    F.interpolate($Image$, size=3, mode='nearest-exact') ;;
    F.interpolate($Image$, scale_factor=1.5, mode='bilinear', align_corners=$bool$,
    recompute_scale_factor=$bool$) ;;
    F.interpolate($Image$, scale_factor=0.6, mode='bilinear', antialias=True) ;;
    F.pad($Image$, [1, 2, 0, 1], mode='reflect') ;; F.pad($Image$, [1, -1, 2], value=$float$) ;;
    F.pad($Image$, [0, 1, 1, 0], mode='replicate') ;;
    F.pad($Image$, [2, 1, 0, 3], mode='circular') ;;
    F.conv2d($Image$, torch.ones(2, 2, 3, 3), padding=$small$) ;;
    F.max_pool2d($Image$, 2, stride=1) ;;
    F.conv2d($Image$, torch.full([2, 1, 2, 2], 0.5), groups=2, dilation=$small$ + 1) ;;
    F.conv_transpose2d($Image$, torch.ones(2, 2, 2, 2), stride=2) ;;
    F.max_pool2d($Image$, [2, 3], padding=1) ;; F.avg_pool2d($Image$, 2, ceil_mode=$bool$) ;;
    F.avg_pool2d($Image$, 3, 2, 1, count_include_pad=$bool$) ;;
    F.adaptive_avg_pool2d($Image$, [2, 3]) ;; F.adaptive_max_pool2d($Image$, 2) ;;
    F.lp_pool2d($Image$, 2.0, 2) ;; F.instance_norm($Image$) ;; F.group_norm($Image$, $small$) ;;
    F.local_response_norm($Image$, 2) ;; F.layer_norm($Image$, $Image$.shape[2:]) ;;
    F.normalize($Image$, dim=$dim$) ;; F.gelu($Image$) ;; F.normalize($Image$, p=$float$) ;;
    F.rms_norm($Image$, $Image$.shape[-1:]) ;; F.glu($Image$, $dim$) ;;
    F.softmax($Image$, $dim$) ;; F.log_softmax($Image$, $dim$) ;; F.elu($Image$, $float$) ;;
    F.silu($Image$) ;; F.leaky_relu($Image$, $float$) ;; F.hardtanh($Image$, -1.0, $float$) ;;
    F.softplus($Image$, 1, $int$) ;; F.hardswish($Image$) ;; F.mish($Image$) ;;
    F.threshold($Image$, $float$, $float$) ;; F.celu($Image$, 0.5) ;;
    F.prelu($Image$, torch.tensor([0.25, 0.5])) ;; F.softshrink($Image$, 0.5) ;;
    F.tanhshrink($Image$) ;; F.pixel_shuffle(F.pad($Image$, [0, 0, 0, 0, 1, 1]), 2) ;;
    F.channel_shuffle($Image$, 2) ;; F.pixel_unshuffle($Image$, 2) ;;
    F.grid_sample($Image$, torch.zeros(1, 2, 2, 2), align_corners=$bool$) ;;
    F.grid_sample($Image$, F.affine_grid(torch.eye(2, 3)[None], [1, 2, 3, 3], False), 'nearest',
    'border', False) ;; F.fold(F.unfold($Image$, 2, padding=1), [4, 4], 2, padding=1) ;;
    F.batch_norm($Image$, torch.zeros(2), torch.ones(2)) ;; ($Image$ + $Image$) ;;
    ($Image$ * $Vector$) ;; $Image$.flip([$dim$]) ;; $Image$.rot90(1, [2, 3]) ;;
    $Image$.transpose($dim$, 3) ;; $Image$[:, :, $slice$] ;; $Image$[:, :, $Index$] ;;
    $Image$.roll([1, -1], [2, 3]) ;; $Image$.index_add(1, torch.tensor([1]), $Image$[:, :1]) ;;
    $Image$.unfold(2, 2, 1) ;; $Image$.contiguous()
""")
_MATRICES = ways(r"""
    $Matrix$ @ $Matrix$ ;; torch.einsum('ij,jk->ki', $Matrix$, $Matrix$) ;;
    torch.einsum('ij,ij->i', $Matrix$, $Matrix$) ;; torch.einsum('ii->i', $Matrix$) ;;
    torch.einsum('ij,k->ijk', $Matrix$, $Vector$) ;; torch.einsum('...j,j', $Matrix$, $Vector$) ;;
    torch.einsum('bchw,hw->bc', $Image$, $Matrix$) ;; torch.einsum('ij->', $Matrix$) ;;
    torch.linalg.inv($Matrix$) ;; torch.linalg.solve($Matrix$, $Matrix$) ;;
    torch.linalg.matrix_power($Matrix$, $int$) ;; torch.linalg.pinv($Matrix$) ;;
    torch.linalg.matrix_exp($Matrix$ * 0.1) ;;
    torch.linalg.cholesky($Matrix$ @ $Matrix$.t() + torch.eye(3)) ;;
    torch.tril($Matrix$, $int$) ;; torch.triu($Matrix$, $int$) ;;
    torch.kron($Matrix$, torch.eye(2)) ;; torch.cov($Matrix$) ;; torch.corrcoef($Matrix$) ;;
    torch.cdist($Matrix$, $Matrix$, $float$) ;;
    torch.addmm($Matrix$, $Matrix$, $Matrix$, beta=$float$) ;;
    torch.baddbmm($Matrix$[None], $Matrix$[None], $Matrix$[None])[0] ;;
    torch.tensordot($Matrix$, $Matrix$, dims=1) ;; torch.diag_embed($Vector$) ;;
    torch.block_diag($Matrix$, $Vector$) ;; torch.cross($Matrix$, $Matrix$, dim=$dim$) ;;
    torch.vander($Vector$) ;; F.embedding($Index$, $Matrix$) ;;
    F.embedding($Index$, $Matrix$, padding_idx=$int$, max_norm=1.0) ;;
    F.embedding_bag($Index$, $Matrix$, torch.tensor([0, 2]), mode='mean') ;;
    F.one_hot($Index$, 3).float() ;;
    F.embedding_bag($Index$, $Matrix$, torch.tensor([0, 1]), mode='sum',
    per_sample_weights=torch.ones_like($Index$, dtype=torch.float32)) ;;
    F.linear($Matrix$, $Matrix$, $Vector$) ;;
    F.bilinear($Matrix$, $Matrix$, torch.ones(2, 3, 3)) ;; $Matrix$.t() ;;
    F.scaled_dot_product_attention($Matrix$[None], $Matrix$[None], $Matrix$[None],
    is_causal=$bool$)[0] ;; torch.index_put($Matrix$, [$Index$, $Index$], $Vector$) ;;
    $Matrix$.scatter(1, $Index$[:, None], $float$) ;;
    $Matrix$.scatter_reduce(0, $Index$[None], $Matrix$, 'amax', include_self=$bool$) ;;
    $Matrix$.index_copy(0, $Index$, $Matrix$) ;; $Matrix$.gather($dim$, $Index$[None]) ;;
    torch.take_along_dim($Matrix$, $Index$[None], 0) ;;
    $Matrix$.index_fill($dim$, $Index$, $float$) ;; $Matrix$.logcumsumexp($dim$) ;;
    $Matrix$.cummax($dim$)[0] ;; $Matrix$.kthvalue(1, $dim$)[0] ;;
    $Matrix$.renorm(2, 0, $float$) ;; $Matrix$.sort($dim$, descending=$bool$)[0] ;;
    $Matrix$.topk(2, $dim$, largest=$bool$)[0] ;; torch.cartesian_prod($Vector$, $Vector$) ;;
    torch.linalg.lstsq($Matrix$ + torch.eye(3), $Matrix$)[0] ;;
    torch.linalg.svdvals($Matrix$)[None] ;; $Matrix$.expand(2, 3, 3) ;;
    torch.combinations($Vector$) ;; torch.histc($Vector$, 3, -1, 2)[None] ;;
    torch.unique($Matrix$, dim=0)
""")
_VECTORS = ways(r"""
    torch.linalg.norm($Matrix$, $float$, dim=$dim$) ;;
    torch.linalg.vector_norm($Matrix$, $int$, dim=$dim$) ;; $Matrix$.norm(2.0, 0) ;;
    torch.linalg.matrix_norm($Matrix$, 'nuc') ;; torch.linalg.det($Matrix$) ;;
    torch.linalg.slogdet($Matrix$)[1] ;; $Matrix$.trace() ;; torch.linalg.cond($Matrix$) ;;
    torch.linalg.matrix_rank($Matrix$) ;; torch.mv($Matrix$, $Vector$) ;; $Matrix$.sum($dim$) ;;
    $Matrix$.mean([0, 1], keepdim=$bool$) ;; $Matrix$.quantile(0.3, $dim$) ;;
    $Matrix$.median($dim$)[0] ;; $Matrix$.mode($dim$)[0] ;; F.cross_entropy($Matrix$, $Index$) ;;
    F.nll_loss($Matrix$, $Index$, reduction='none') ;;
    F.mse_loss($Matrix$, $Matrix$, reduction='sum') ;;
    F.smooth_l1_loss($Matrix$, $Matrix$, beta=$float$) ;;
    F.kl_div($Matrix$, $Matrix$, reduction='batchmean', log_target=$bool$) ;;
    F.binary_cross_entropy_with_logits($Matrix$, $Matrix$, pos_weight=$Vector$) ;;
    F.huber_loss($Vector$, $Vector$, delta=$float$) ;;
    F.cosine_similarity($Matrix$, $Matrix$, $dim$) ;;
    F.pairwise_distance($Matrix$, $Matrix$, $float$) ;;
    F.cross_entropy($Matrix$, $Matrix$.softmax(1), label_smoothing=0.1) ;;
    F.triplet_margin_loss($Matrix$, $Matrix$, $Matrix$) ;;
    F.hinge_embedding_loss($Vector$, torch.tensor([1, -1, 1])) ;;
    F.poisson_nll_loss($Vector$, $Vector$) ;; F.multi_margin_loss($Matrix$, $Index$) ;;
    F.margin_ranking_loss($Vector$, $Vector$, torch.ones(3), margin=$float$) ;;
    F.soft_margin_loss($Vector$, torch.ones(3)) ;;
    F.gaussian_nll_loss($Vector$, $Vector$, $Vector$.abs() + 0.1) ;;
    torch.bincount($Index$, $Vector$) ;; torch.diagonal($Matrix$, $int$) ;;
    torch.bernoulli($Vector$ * 0) ;;
    F.conv1d($Vector$.view(1, 1, -1), torch.ones(1, 1, 2)).flatten() ;;
    F.max_pool1d($Vector$[None], 2)[0] ;;
    F.interpolate($Vector$[None, None], scale_factor=2.0, mode='linear')[0, 0] ;;
    torch.fft.rfft($Vector$).abs() ;; torch.fft.irfft(torch.fft.rfft($Vector$), n=$int$ + 4) ;;
    torch.cumulative_trapezoid($Vector$) ;; torch.gradient($Vector$)[0] ;; $Vector$[$Index$] ;;
    $Matrix$[$Index$, $Index$] ;; $Matrix$[:, $Index$][0] ;;
    $Vector$.put(torch.tensor([0]), torch.tensor([$float$])) ;; $Vector$.logit(0.1) ;;
    torch.special.erfinv($Vector$ * 0.1) ;; torch.lgamma($Vector$) ;; torch.digamma($Vector$) ;;
    torch.special.i0($Vector$) ;; torch.sinc($Vector$) ;; torch.xlogy($Vector$, $Vector$) ;;
    torch.inner($Vector$, $Vector$) ;; $Vector$.softmax(0) ;;
    torch.linspace($float$, $float$, 3) ;; torch.logspace(0, $float$, 3) ;;
    torch.hann_window(3) ;; $Vector$.repeat_interleave($Index$)
""")
FUNCTIONS = Family(
    header=_OF_SHAPES,
    types=ways(r"""
    Image ;; Image ;; Matrix ;; Matrix ;; Vector ;; Vector ;; Index ;; str
"""),
    parameters=ways("Image ;; Matrix ;; Vector ;; Index ;; Matrix"),
    ways={
        "Image": _IMAGES,
        "Matrix": _MATRICES,
        "Vector": _VECTORS,
        "Index": ways(r"""
    $Vector$.argsort() ;; $Matrix$.argmax($dim$) ;; torch.arange(3) ;; $Index$.flip(0) ;;
    ($Index$ + 1) % 3 ;; torch.searchsorted($Vector$.sort()[0], $Vector$) ;;
    $Vector$.nonzero().flatten() ;; torch.unique($Index$)
"""),
        "float": ways("float($Vector$.sum()) ;; ($float$ * 2)"),
        "str": ways(r"""
    str($Image$.shape) ;; str($Matrix$.shape) ;; str($Vector$) ;; str($Image$.stride())
"""),
        "bool": ways(r"""
    torch.equal($Matrix$, $Matrix$) ;; $Image$.is_contiguous() ;; not $bool$
"""),
    },
    literals={
        **TENSORS.literals,
        "Image": ["torch.ones(1, 2, 4, 4)", "torch.arange(32.0).view(1, 2, 4, 4)"],
        "Matrix": ["torch.eye(3)", "torch.arange(9.0).view(3, 3)"],
        "Vector": ["torch.tensor([0.5, -1.5, 2.0])", "torch.ones(3)"],
        "Index": ["torch.tensor([0, 2, 1])", "torch.tensor([1, 1, 0])"],
        "float": ["0.5", "2.0", "-1.0", "1.0", "float('inf')"],
        "int": ["0", "1", "2", "-1"],
        "dim": ["0", "1", "-1", "2"],
    },
    inputs={
        "Image": ways(r"""
    torch.arange(32.0).view(1, 2, 4, 4).sin() ;;
    torch.arange(24.0).view(1, 2, 3, 4).cos().transpose(2, 3) ;;
    torch.arange(64.0).view(2, 2, 4, 4).sin().to(memory_format=torch.channels_last) ;;
    torch.arange(32.0, dtype=torch.float64).view(1, 2, 4, 4).sin() ;; torch.zeros(0, 2, 4, 4)
"""),
        "Matrix": ways(r"""
    torch.arange(9.0).view(3, 3).sin() ;; torch.arange(9.0).view(3, 3).cos().t() ;;
    torch.arange(9.0, dtype=torch.float64).view(3, 3).sin() ;;
    torch.arange(18.0).view(3, 6).cos()[:, ::2]
"""),
        "Vector": ways(r"""
    torch.tensor([0.25, -0.5, 1.5]) ;; torch.arange(6.0)[::2] ;;
    torch.tensor([1.0, float('nan'), 0.0])
"""),
        "Index": ways(r"""
    torch.tensor([0, 1, 2]) ;; torch.tensor([2, 0, 0], dtype=torch.int32) ;;
    torch.tensor([1, 2, 5])
"""),
    },
    statements=ways(r"""
    $var:Image$ += $Image$ ;; $var:Matrix$.add_($Matrix$) ;; $var:Matrix$[$Index$] = $Vector$ ;;
    $var:Vector$ *= $Vector$ ;; $var:Matrix$.index_put_([$Index$], $Matrix$, accumulate=$bool$) ;;
    $var:Matrix$[$Index$, $Index$] += $float$ ;; $var:Image$[:, 0] = $Matrix$ ;;
    $var:Image$.mul_($float$) ;; $var:Matrix$.fill_diagonal_($float$) ;;
    $var:Vector$.clamp_(0, 1) ;; $var:Matrix$.addmm_($Matrix$, $Matrix$) ;;
    $var:Matrix$ = $Matrix$ ;; $var:Vector$.index_add_(0, $Index$, $Vector$) ;;
    $var:Matrix$.scatter_(0, $Index$[None], $float$) ;; print($Vector$) ;;
    $var:Matrix$[:, $Index$] *= $float$ ;; F.relu($var:Image$, inplace=True) ;;
    $var:Matrix$.masked_scatter_($Matrix$ > 0, $Matrix$) ;;
    $var:Vector$[$Vector$ > 0] = $float$ ;; $var:Matrix$.copy_($Vector$)
"""),
    heads=ways(r"""
    if $bool$: ;; for $name$ in range(2): #int ;; with torch.no_grad():
"""),
)

# --------------------------------------------------------------------------------------- forms

_DEFINED = r"""from typing import Union


class Pair(NamedTuple):
    first: int
    rest: List[int]
    second: Optional[str] = "s"


def helper(x: int, y: int = 2, z: int = 0) -> int:
    return x * y - z


def either(flag: bool, x: int) -> Optional[int]:
    if flag:
        return x
    return None


def several(x: int) -> Tuple[int, str, List[int]]:
    return x, str(x), [x, x + 1]


def fails(x: int) -> int:
    if x > 2:
        raise IndexError("too large: " + str(x))
    if x < -1:
        raise KeyError(f"too small: {x}")
    return x


def kind(x: Union[int, str, List[int]]) -> str:
    if isinstance(x, int):
        return "int" + str(x + 1)
    elif isinstance(x, str):
        return x.upper()
    else:
        return str(len(x))


def of_any(x: Any) -> int:
    if isinstance(x, int):
        return x
    elif isinstance(x, (str, float)):
        return -1
    elif torch.jit.isinstance(x, List[int]):
        return len(x)
    return 0

"""
FORMS = Family(
    header=HEADER + _DEFINED,
    types=ways(r"""
    int ;; int ;; str ;; Optional[int] ;; Optional[str] ;; Pair ;; Tuple[int, str, List[int]] ;;
    List[int] ;; List[Optional[int]] ;; Dict[str, List[int]] ;; float ;; bool ;; List[Pair] ;;
    Any ;; Union[int, str, List[int]]
"""),
    parameters=ways(r"""
    int ;; str ;; Optional[int] ;; List[int] ;; Pair ;; Dict[str, List[int]] ;; float ;;
    Union[int, str, List[int]] ;; Tuple[int, str, List[int]]
"""),
    ways={
        "int": ways(r"""
    helper($int$) ;; helper($int$, $int$) ;; helper(y=$int$, x=$int$) ;; helper($int$, z=$int$) ;;
    fails($int$) ;; of_any($Any$) ;; $Pair$.first ;; several($int$)[0] ;;
    several($int$)[2][$index$] ;; $Tuple[int, str, List[int]]$[-1][0] ;; len($str$) ;;
    torch.jit.fork(helper, $int$).wait() ;; torch.jit.wait(torch.jit.fork(fails, $int$)) ;;
    ($int$ if $Optional[int]$ is None else 3) ;; torch.jit._unwrap_optional($Optional[int]$) ;;
    torch.jit.annotate(int, $int$) ;; sum([x for x in $List[int]$]) ;;
    len($Dict[str, List[int]]$) ;; ($int$ + $int$) ;; ($int$ * $int$) ;; ($int$ // $int$) ;;
    ($int$ % $int$) ;; -$int$ ;; abs($int$) ;; int($str$ == $str$) ;;
    min([len($List[int]$), $int$]) ;; int($float$) ;; round($float$) ;; ($int$ ** 2) ;;
    ($int$ << 3)
"""),
        "str": ways(r"""
    kind($int$) ;; kind($str$) ;; kind($List[int]$) ;; kind($Union[int, str, List[int]]$) ;;
    several($int$)[1] ;; f'{$int$}' ;; f'{$float$} and {$str$}' ;; f'{$Optional[int]$}' ;;
    f'{$Pair$}' ;; f'{{}}{$int$}' ;; '{:d}'.format($int$) ;; '{0} {1} {0}'.format($int$, $str$) ;;
    '{}'.format($Pair$) ;; '%s %r' % ($str$, $str$) ;; '%5.1f' % $float$ ;; '%08d' % $int$ ;;
    str($Dict[str, List[int]]$) ;; str($Tuple[int, str, List[int]]$) ;;
    str($List[Optional[int]]$) ;; str($Optional[str]$) ;; str($Any$) ;; 'a' 'b' ;;
    str($List[Pair]$) ;; str(None) ;; ($str$ + $str$) ;;
    ' '.join([str(x) for x in $List[int]$]) ;; str($int$)
"""),
        "float": ways(r"""
    ($float$ + $int$) ;; ($int$ / $int$) ;; ($float$ // $float$) ;; ($float$ ** $int$) ;;
    float($str$) ;; float($int$) ;; math.sqrt($float$) ;; ($float$ % $int$) ;;
    (1.0 if $bool$ else $float$) ;; min($float$, $int$) ;; 1e-8 ;; 1_000.5 ;; float('1e400')
"""),
        "bool": ways(r"""
    $Optional[int]$ is None ;; $Optional[int]$ is not None ;; $int$ in $List[int]$ ;;
    isinstance($Any$, int) ;; isinstance($Union[int, str, List[int]]$, str) ;;
    isinstance($Optional[int]$, int) ;; $str$ in $Dict[str, List[int]]$ ;;
    $int$ < $int$ < $int$ ;; not $bool$ ;; $bool$ and $bool$ or $bool$ ;;
    torch.jit.is_scripting() ;; len($List[int]$) == 0 ;; bool($int$) ;; $List[int]$ == [] ;;
    hasattr($Pair$, 'first') ;; any([x > 1 for x in $List[int]$]) ;;
    all([x < 5 for x in $List[int]$]) ;; $float$ == $int$ ;; isinstance($int$, (int, float))
"""),
        "Optional[int]": ways(r"""
    either($bool$, $int$) ;; None ;; $int$ ;; $List[Optional[int]]$[$index$] ;;
    ($int$ if $bool$ else None)
"""),
        "Optional[str]": ways("None ;; $str$ ;; $Pair$.second"),
        "Pair": ways(r"""
    Pair($int$, $List[int]$) ;; Pair($int$, $List[int]$, $str$) ;;
    Pair($int$, rest=$List[int]$) ;; Pair(rest=$List[int]$, first=$int$, second=None) ;;
    $List[Pair]$[$index$]
"""),
        "List[Pair]": ways(r"""
    [$Pair$, $Pair$] ;; [Pair(x, []) for x in $List[int]$] ;; sorted($List[Pair]$)
"""),
        "Tuple[int, str, List[int]]": ways(r"""
    several($int$) ;; ($int$, $str$, $List[int]$) ;; ($int$,) + ($str$, $List[int]$)
"""),
        "List[int]": ways(r"""
    [$int$, $int$] ;; $Pair$.rest ;; [x for x in $List[int]$] ;; $List[int]$[$slice$] ;;
    $List[int]$[::-1] ;; [n1 for n1, n2 in enumerate($str$)] ;;
    [len(k) for k in $Dict[str, List[int]]$] ;; $List[int]$[::2] ;;
    [n3 + n4 for n3, n4 in zip($List[int]$, range(3))] ;;
    $Dict[str, List[int]]$.get($str$, $List[int]$) ;; $Dict[str, List[int]]$[$str$] ;;
    several($int$)[2] ;; [x if x > 1 else -x for x in $List[int]$] ;;
    torch.jit.annotate(List[int], []) ;; list($Tuple[int, str, List[int]]$[2]) ;;
    list({1: 2, $int$: 3}.keys()) ;; [ord(n5) for n5 in $str$]
"""),
        "List[Optional[int]]": ways(r"""
    [$Optional[int]$, $Optional[int]$] ;; [$Optional[int]$] ;;
    [either(x > 1, x) for x in $List[int]$]
"""),
        "Dict[str, List[int]]": ways(r"""
    {$str$: $List[int]$} ;; {s: [len(s)] for s in [$str$, $str$]} ;; dict(a=$List[int]$) ;;
    {str(x): [x] for x in $List[int]$}
"""),
        "Any": ways(r"""
    $int$ ;; $str$ ;; $List[int]$ ;; None ;; $Pair$ ;; $float$
"""),
        "Union[int, str, List[int]]": ways("$int$ ;; $str$ ;; $List[int]$"),
    },
    literals={
        **TENSORS.literals,
        "str": ["''", "'a'", "'x y'", "'3'", "'\u00e9'"],
        "float": ["0.5", "-2.0", "1e16", "3.0"],
        "int": ["0", "1", "2", "3", "-1", "9223372036854775807"],
        "Pair": ["Pair(1, [4])"],
        "List[int]": ["[1, 2, 3]", "[0]"],
        "Dict[str, List[int]]": ["{'a': [1]}"],
    },
    inputs={
        "int": ["0", "1", "-2", "3", "2**62"],
        "str": ["'a'", "''", "'7'", "'b c'"],
        "float": ["0.5", "-0.0", "float('nan')", "1e22"],
        "Optional[int]": ["None", "4"],
        "List[int]": ["[]", "[1, 2]", "[5, -5, 5]"],
        "Pair": ["Pair(1, [])", "Pair(2, [3], 'x')"],
        "Dict[str, List[int]]": ["{}", "{'a': [1], 'b': []}"],
        "Union[int, str, List[int]]": ["1", "'u'", "[1, 2]"],
        "Tuple[int, str, List[int]]": ["(1, 'a', [2])"],
    },
    statements=ways(r"""
    x1, y1, z1 = $Tuple[int, str, List[int]]$\nprint(x1, y1, z1) ;;
    (x2, y2), z2 = ($int$, $str$), $int$\nprint(x2, y2, z2) ;; print($Any$) ;;
    o = $Optional[int]$\nif o is None:\n    o = 1\nprint(o + 1) ;;
    o = $Optional[int]$\nassert o is not None\nprint(o * 2) ;;
    o = $Optional[int]$\nif o is None or o > 1:\n    print('first')\nelse:\n    print(o - 1) ;;
    u = $Union[int, str, List[int]]$\nif isinstance(u, int):\n    print(u + 1)\nelif
    isinstance(u, str):\n    print(u + 's')\nelse:\n    print(len(u)) ;; assert $bool$ ;;
    g = $Any$\nif isinstance(g, int):\n    print(g + 1) ;;
    g = $Any$\nif isinstance(g, (int, float)):\n    print(g) ;; del $var:List[int]$[$index$] ;;
    print($Pair$) ;;
    n = 0\nwhile True:\n    n += 1\n    if n > $small$:\n        break\nprint(n) ;;
    n = 3\nwhile n > 0:\n    n -= 1\n    if n == 1:\n        continue\n    print(n) ;;
    for n6, (n7, n8) in enumerate($Dict[str, List[int]]$.items()):\n    print(n6, n7, n8) ;;
    for a1, b1 in zip($List[int]$, $str$):\n    print(a1, b1) ;; $var:List[int]$ += [$int$] ;;
    for p in $List[Pair]$:\n    print(p.first, p.second) ;; raise RuntimeError ;;
    raise ValueError($int$) ;; raise NotImplementedError(f'no {$int$}') ;;
    raise ValueError('a', $int$) ;; assert $bool$, f'{$int$}' ;; pass ;;
    $var:Dict[str, List[int]]$[$str$].append($int$) ;;
    f1 = torch.jit.fork(helper, $int$, y=$int$)\nprint(f1.wait()) ;;
    fs = [torch.jit.fork(helper, x) for x in $List[int]$]\nprint([n9.wait() for n9 in fs]) ;;
    $var:Dict[str, List[int]]$[$str$] += $List[int]$ ;; $var:int$ += $int$ ;; $var:int$ <<= 2 ;;
    $var:int$ **= 2 ;; $var:str$ += $str$ ;; $var:float$ -= $int$ ;; q = w = $int$\nprint(q, w) ;;
    $var:Pair$.rest.append($int$) ;; x4: int = $int$\nprint(x4) ;;
    x5: List[float] = []\nx5.append($float$) ;;
    if torch.jit.is_scripting():\n    print('script')\nelse:\n    print('python') ;;
    if hasattr($Pair$, 'nothing'):\n    print($Pair$.nothing) ;; $var:Optional[int]$ = None ;;
    $var:List[Optional[int]]$.append(None) ;; if not $str$:\n    print('empty') ;;
    if $List[int]$:\n    print('some') ;; if isinstance($int$, str):\n    print('never'.wrong) ;;
    if $bool$:\n    raise KeyError($str$)\nelif $bool$:\n    print('two')
"""),
    heads=ways(r"""
    if $bool$: ;; for $name$ in $List[int]$: #int ;; for $name$ in range($small$): #int ;;
    for $name$ in $str$: #str ;; if $Optional[int]$ is not None: ;;
    for $name$ in ($int$, $int$): #int ;; for $name$ in $Dict[str, List[int]]$.keys(): #str ;;
    for _i, $name$ in enumerate($List[int]$): #int ;; for $name$ in range($int$ % 9, 0, -3): #int
"""),
)
