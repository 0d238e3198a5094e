"""Families of tensor programs: changes through views, indices of all kinds, and gradients."""

from __future__ import annotations

from dataclasses import replace

from fuzz_families import TENSORS, Family, Ways, ways

__all__ = ["GRADIENTS", "VIEWS"]

_VIEWS = ways(r"""
    $Tensor$[$slice$] ;; $Tensor$[$index$] ;; $Tensor$[:, $index$] ;; $Tensor$[..., $index$] ;;
    $Tensor$.t() ;; $Tensor$.view(-1) ;; $Tensor$.select($dim$, $index$) ;; $Tensor$[None] ;;
    $Tensor$.narrow($dim$, 0, $small$) ;; $Tensor$.transpose(0, $dim$) ;; $Tensor$.diagonal() ;;
    $Tensor$.unsqueeze($dim$) ;; $Tensor$.squeeze($dim$) ;; $Tensor$[$index$, $slice$] ;;
    $Tensor$.reshape(-1) ;; $Tensor$.T ;; $Tensor$.detach() ;; $Tensor$[:, None, $slice$] ;;
    $Tensor$.view(3, 2) ;; $Tensor$.permute(1, 0) ;; $Tensor$.unfold(0, 2, 1) ;; $Tensor$.mT ;;
    $Tensor$.expand_as($Tensor$) ;; $Tensor$.as_strided([2, 2], [1, 1]) ;;
    $Tensor$.movedim(0, -1) ;; $Tensor$.flatten() ;; $Tensor$.unflatten(0, [1, -1]) ;;
    $Tensor$.split(1)[0] ;; $Tensor$.chunk(2, -1)[$index$] ;; $Tensor$.unbind($dim$)[$index$] ;;
    $Tensor$.view_as($Tensor$) ;; $Tensor$.ravel() ;; $Tensor$.swapdims(0, 1) ;; $Tensor$.real ;;
    $Tensor$.view(torch.int32) ;; torch.atleast_2d($Tensor$) ;; $Tensor$.contiguous()
""")
_ADVANCED = ways(r"""
    $Tensor$[$List[int]$] ;; $Tensor$[$List[int]$, $index$] ;; $Tensor$[$Tensor$ > 0] ;;
    $Tensor$[torch.tensor([1, 0]), $slice$] ;; $Tensor$[:, torch.tensor([0, 0, 1])] ;;
    $Tensor$[None, ..., $index$] ;; $Tensor$[torch.tensor([True, False])] ;; $Tensor$[True] ;;
    $Tensor$[torch.tensor([[0], [1]]), torch.tensor([0, 1])] ;; $Tensor$[$Tensor$.long()] ;;
    $Tensor$[$index$, $List[int]$] ;; $Tensor$.take(torch.tensor([0, -1])) ;;
    $Tensor$[torch.tensor(1)] ;; $Tensor$[torch.tensor([], dtype=torch.int64)] ;;
    $Tensor$[$index$][$index$] ;; $Tensor$[$slice$][$slice$] ;; $Tensor$[$index$:$index$] ;;
    $Tensor$[[0, 1], [1, 0]] ;; $Tensor$[:, $List[int]$, None] ;; $Tensor$[($index$, $index$)] ;;
    torch.index_select($Tensor$, $dim$, torch.tensor([0, 0])) ;; torch.argwhere($Tensor$) ;;
    $Tensor$.masked_select($Tensor$ > 0) ;; torch.take_along_dim($Tensor$, $Tensor$.argsort(0))
""")
_MADE = ways(r"""
    $Tensor$.clone() ;; $Tensor$.to($Tensor$) ;; $Tensor$.to($Tensor$.dtype) ;; torch.zeros(2, 3) ;;
    torch.arange(6.0).view(2, 3) ;; torch.arange(6).view(2, 3) ;; $Tensor$.sum($dim$) ;;
    ($Tensor$ + $Tensor$) ;; ($Tensor$ * $scalar$) ;; $Tensor$.new_full([2], $scalar$) ;;
    $Tensor$.float() ;; $Tensor$.long() ;; ($Tensor$ > $scalar$) ;;
    torch.empty_like($Tensor$).zero_() ;; torch.tensor([$int$, $int$]) ;;
    torch.tensor([[$float$], [$float$]]) ;; $Tensor$.half() ;;
    torch.tensor($float$, dtype=$Tensor$.dtype) ;; torch.full_like($Tensor$, $scalar$) ;;
    $Tensor$.index_fill(0, torch.tensor([0]), $scalar$) ;; torch.cat([$Tensor$, $Tensor$], $dim$) ;;
    $Tensor$.scatter(0, torch.tensor([[0, 1]]), $scalar$) ;; $Tensor$.repeat_interleave(2) ;;
    $Tensor$.type(torch.float64) ;; $Tensor$.clamp($scalar$, $scalar$) ;; torch.round($Tensor$) ;;
    $Tensor$.where($Tensor$ > 0, $scalar$) ;; torch.logical_not($Tensor$) ;;
    torch.fmod($Tensor$, 2)
""")
_CHANGES = ways(r"""
    $var:Tensor$[$slice$] += $scalar$ ;; $var:Tensor$[$slice$].mul_($scalar$) ;;
    $var:Tensor$[:, $slice$] = $scalar$ ;; $var:Tensor$.view(-1)[$slice$] *= $scalar$ ;;
    $var:Tensor$.t()[$index$] -= 1 ;; $var:Tensor$.select($dim$, $index$).add_($Tensor$) ;;
    $var:Tensor$.narrow(0, 0, 1).fill_($scalar$) ;; $var:Tensor$[$Tensor$ > 0] += $scalar$ ;;
    $var:Tensor$[torch.tensor([0, 1])] = $Tensor$ ;; $var:Tensor$[$index$, $index$] = $scalar$ ;;
    $var:Tensor$.index_put_([torch.tensor([0])], $Tensor$) ;; $var:Tensor$.transpose_(0, 1) ;;
    $var:Tensor$.index_add_(0, torch.tensor([0, 0]), $Tensor$) ;; $var:Tensor$.squeeze_() ;;
    $var:Tensor$.unsqueeze_($dim$) ;; $var:Tensor$.diagonal().zero_() ;; $var:Tensor$.neg_() ;;
    $var:Tensor$[$index$][$index$] = $scalar$ ;; $var:Tensor$[None, $index$] = $Tensor$ ;;
    for row in $var:Tensor$:\n    row.add_($scalar$) ;; $var:Tensor$ **= 2 ;; $var:Tensor$ %= 3 ;;
    $var:Tensor$ &= $Tensor$ ;; $var:Tensor$ |= 1 ;; $var:Tensor$ -= $Tensor$ ;;
    $var:Tensor$[$slice$, $slice$] = $Tensor$ ;; $var:Tensor$[$slice$] = $Tensor$[$slice$] ;;
    $var:Tensor$.copy_($Tensor$) ;; print($Tensor$) ;;
    $var:Tensor$.index_fill_(0, torch.tensor([0]), $scalar$) ;; $var:Tensor$.zero_() ;;
    $var:Tensor$.scatter_(0, torch.tensor([[0, 1]]), $scalar$) ;; $var:Tensor$ = $Tensor$ ;;
    $var:Tensor$.masked_fill_($var:Tensor$ > 1, $scalar$) ;;
    $var:Tensor$[0], $var:Tensor$ = 1, $Tensor$ ;; $var:Tensor$.add_($var:Tensor$, alpha=2) ;;
    $var:Tensor$.set_($Tensor$) ;; $var:Tensor$.tril_() ;; $var:List[Tensor]$[$index$] += 1 ;;
    $var:List[Tensor]$[$index$][0] = 5 ;; $var:Tensor$.clamp_(0, 2) ;;
    for t in $var:List[Tensor]$:\n    t += $scalar$ ;; $var:Tensor$[$List[int]$] *= 2 ;;
    i = 0\nwhile i < len($var:Tensor$):\n    $var:Tensor$[i] = i\n    i += 1 ;;
    $var:Tensor$.swapaxes_(0, 1) ;; $var:Tensor$.requires_grad_(False) ;; $var:Tensor$.relu_() ;;
    print($Tensor$.shape, $Tensor$.dtype) ;; $var:Tensor$[$index$] = $var:Tensor$[$index$]
""")
_FACTS: Ways = {
    "int": ways(r"""
        $Tensor$.ndim ;; $Tensor$.element_size() ;; $Tensor$.nbytes ;; $Tensor$.storage_offset() ;;
        len($Tensor$) ;; $Tensor$.size($dim$) ;; $Tensor$.stride($dim$) ;; int($Tensor$[0]) ;;
        torch.promote_types($Tensor$.dtype, torch.float32) ;; torch.result_type($Tensor$, 1.5) ;;
        $Tensor$.dtype ;; $Tensor$.itemsize ;; int($Tensor$.max()) ;; len($Tensor$.shape) ;;
        torch.result_type($Tensor$, $Tensor$) ;; $Tensor$.argmax().item() ;; $Tensor$.numel()
    """),
    "bool": ways(r"""
        $Tensor$.is_signed() ;; $Tensor$.requires_grad ;; $Tensor$.is_contiguous() ;;
        $Tensor$.is_cuda ;; torch.equal($Tensor$, $Tensor$) ;; bool($Tensor$.any()) ;;
        $Tensor$.is_same_size($Tensor$) ;; torch.can_cast($Tensor$.dtype, torch.int32) ;;
        $Tensor$.is_leaf ;; $int$ < $int$ ;; $Tensor$.is_set_to($Tensor$) ;;
        $Tensor$.dtype == torch.int64 ;; $Tensor$.shape == $List[int]$ ;;
        isinstance($Tensor$, torch.Tensor) ;; $Tensor$ is $Tensor$
    """),
    "str": ways(r"""
        str($Tensor$.device) ;; $Tensor$.device.type ;; str($Tensor$) ;; f'{$Tensor$.shape}'
    """),
}

VIEWS = replace(
    TENSORS,
    ways={**TENSORS.ways, **_FACTS, "Tensor": [*_VIEWS, *_VIEWS, *_ADVANCED, *_MADE]},
    statements=_CHANGES,
)

# ----------------------------------------------------------------------------------- gradients

_SMOOTH = ways(r"""
    ($Tensor$ + $Tensor$) ;; ($Tensor$ * $Tensor$) ;; ($Tensor$ - $float$) ;;
    ($float$ * $Tensor$) ;; ($Tensor$ / ($Tensor$.abs() + 1)) ;; $Tensor$ ** 2 ;;
    torch.sigmoid($Tensor$) ;; -$Tensor$ ;; torch.tanh($Tensor$) ;; torch.relu($Tensor$) ;;
    $Tensor$.exp() ;; $Tensor$.sum() ;; $Tensor$.mean(0) ;; $Tensor$ @ $Tensor$.t() ;;
    $Tensor$[0] ;; $Tensor$[:, 1:] ;; $Tensor$.t() ;; $Tensor$.view(-1) ;;
    torch.cat([$Tensor$, $Tensor$]) ;; torch.stack([$Tensor$, $Tensor$]) ;; $Tensor$.clone() ;;
    torch.where($Tensor$ > 0, $Tensor$, $Tensor$) ;; $Tensor$.max(0)[0] ;; $Tensor$.cumsum(0) ;;
    $Tensor$.expand(2, 2, 3) ;; $Tensor$.softmax(-1) ;; $Tensor$[$Tensor$ > 0] ;;
    $Tensor$.detach() ;; $Tensor$.unsqueeze(0) ;; $Tensor$.transpose(0, 1) ;;
    $Tensor$.clamp(-1, 1) ;; $Tensor$.prod(0) ;; torch.nn.functional.linear($Tensor$, $Tensor$) ;;
    $Tensor$[[0, 1]] ;; $Tensor$.norm() ;; $Tensor$.index_select(0, torch.tensor([0, 0])) ;;
    $Tensor$.masked_fill($Tensor$ > 0, 2.0) ;; ($Tensor$ if $bool$ else $Tensor$) ;;
    torch.log1p($Tensor$.abs()) ;; $Tensor$.float()
""")
GRADIENTS = Family(
    types=ways(r"""
        Tensor ;; Tensor ;; Tensor ;; Tensor ;; bool ;; float
    """),
    parameters=ways(r"""
        Tensor ;; Tensor ;; float ;; bool
    """),
    ways={
        "Tensor": _SMOOTH,
        "float": [
            "float($Tensor$.sum())",
            "($float$ * $float$)",
        ],
        "bool": ways(r"""
            $Tensor$.requires_grad ;; $Tensor$.is_leaf ;; $Tensor$.grad is None ;;
            $float$ < $float$ ;; torch.is_grad_enabled() ;; bool($Tensor$.sum() > 0) ;;
            not $bool$
        """),
    },
    literals={
        **TENSORS.literals,
        "Tensor": ["torch.ones(2, 3)", "torch.full([2, 3], -0.5)"],
        "float": ["0.5", "-2.0", "3.0"],
    },
    inputs={
        "Tensor": [
            "torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.25, -1.0]], requires_grad=True)",
            "torch.tensor([[0.5, 2.0, -0.5], [1.0, -3.0, 4.0]])",
            "torch.tensor([[1.5, 0.5, 2.5], [-1.0, 2.0, -4.0]], requires_grad=True)",
        ],
        "float": ["0.5", "-2.0"],
        "bool": ["True", "False"],
    },
    statements=ways(r"""
        $Tensor$.sum().backward() ;; $var:Tensor$ = $Tensor$ ;; $var:Tensor$ += $Tensor$ ;;
        $var:Tensor$ = $var:Tensor$ * $float$ ;; $var:Tensor$.mul_($float$) ;; print($bool$) ;;
        $var:Tensor$[0] = $float$ ;; $var:Tensor$.detach_() ;; $var:Tensor$.requires_grad_() ;;
        with torch.no_grad():\n    $var:Tensor$ = $Tensor$ ;;
        $Tensor$.sum().backward(retain_graph=True) ;; print($Tensor$.sum() > 0) ;;
        with torch.no_grad():\n    $var:Tensor$ *= 2 ;; $var:Tensor$[:, 0] = $Tensor$[0, 0] ;;
        $var:Tensor$ = $var:Tensor$.clone()
    """),
    heads=ways(r"""
        if $bool$: ;; for $name$ in range(3): #int ;; for $name$ in $Tensor$: #Tensor ;;
        with torch.no_grad():
    """),
)
