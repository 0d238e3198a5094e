"""Losses."""

from __future__ import annotations

import math

from ..items import Item, Operand
from ..table import EXPORTS, exports
from ..writer import INT, Writer
from .reductions import log_softmax


def _reduced(w: Writer, x: Operand, reduction: Item) -> Operand:
    """0 keeps all, 1 is the mean, 2 the sum."""
    number = w.whole(reduction, "reduction")
    if number == 0:
        return x
    kind = "ReduceMean" if number == 1 else "ReduceSum"
    return w.reduce(kind, x, range(w.rank(x)), False)


@exports("aten::mse_loss")
def mse_loss(w: Writer, self: Item, target: Item, reduction: Item = 1) -> Item:
    gap = w.op("Sub", *w.common(self, target))
    return _reduced(w, w.op("Mul", gap, gap), reduction)


@exports("aten::l1_loss")
def l1_loss(w: Writer, self: Item, target: Item, reduction: Item = 1) -> Item:
    return _reduced(w, w.op("Abs", w.op("Sub", *w.common(self, target))), reduction)


def _bent(w: Writer, self: Item, target: Item, limit: float, scale: float) -> Operand:
    """Quadratic up to a limit, then straight: Huber's loss over `scale`."""
    x, y = w.common(self, target)
    gap = w.op("Abs", w.op("Sub", x, y))
    half, edge = w.constant(0.5, x.dtype), w.constant(limit, x.dtype)
    round_part = w.op("Mul", half, w.op("Mul", gap, gap))
    straight = w.op("Mul", edge, w.op("Sub", gap, w.op("Mul", half, edge)))
    found = w.where(w.op("Less", gap, edge), round_part, straight)
    return found if scale == 1 else w.op("Div", found, w.constant(scale, x.dtype))


@exports("aten::smooth_l1_loss")
def smooth_l1_loss(
    w: Writer, self: Item, target: Item, reduction: Item = 1, beta: Item = 1.0
) -> Item:
    limit = w.real(beta, "beta")
    if limit == 0:
        return l1_loss(w, self, target, reduction)
    return _reduced(w, _bent(w, self, target, limit, limit), reduction)


@exports("aten::huber_loss")
def huber_loss(w: Writer, self: Item, target: Item, reduction: Item = 1, delta: Item = 1.0) -> Item:
    return _reduced(w, _bent(w, self, target, w.real(delta, "delta"), 1.0), reduction)


_KINDS = ("none", "mean", "sum")


@exports("aten::nll_loss_nd", "aten::nll_loss", "aten::nll_loss2d")
def nll_loss(
    w: Writer,
    self: Item,
    target: Item,
    weight: Item = None,
    reduction: Item = 1,
    ignore_index: Item = -100,
) -> Item:
    x, y = w.tensor(self), w.tensor(target)
    is_single = w.rank(x) == 1
    if is_single:
        x, y = w.unsqueeze(x, 0), w.unsqueeze(y, 0)
    kind = w.whole(reduction, "reduction")
    found = w.op(
        "NegativeLogLikelihoodLoss",
        x,
        y,
        w.optional(weight),
        reduction=_KINDS[kind],
        ignore_index=w.whole(ignore_index, "ignore_index"),
    )
    return w.squeeze(found, 0) if is_single and kind == 0 else found


@exports("aten::cross_entropy_loss")
def cross_entropy_loss(
    w: Writer,
    self: Item,
    target: Item,
    weight: Item = None,
    reduction: Item = 1,
    ignore_index: Item = -100,
    label_smoothing: Item = 0.0,
) -> Item:
    x, y = w.tensor(self), w.tensor(target)
    axis = 0 if w.rank(x) == 1 else 1
    logs = w.tensor(log_softmax(w, x, axis))
    share = w.real(label_smoothing, "label_smoothing")
    weighted = logs if weight is None else w.op("Mul", logs, _along(w, weight, logs, axis))
    if y.dtype.kind == "f":
        if share != 0:
            classes = w.known_size(x, axis, "the number of classes")
            kept, added = (w.constant(n, y.dtype) for n in (1 - share, share / classes))
            y = w.op("Add", w.op("Mul", y, kept), added)
        each = w.op("Neg", w.reduce("ReduceSum", w.op("Mul", weighted, y), [axis], False))
        return _reduced(w, each, reduction)
    sharp = nll_loss(w, logs, y, weight, reduction, ignore_index)
    if share == 0:
        return sharp
    ignored = w.op("Equal", y, w.constant(w.whole(ignore_index, "ignore_index"), y.dtype))
    nothing = w.constant(0.0, x.dtype)
    each = w.op("Neg", w.reduce("ReduceSum", weighted, [axis], False))
    flat = w.where(ignored, nothing, each)
    if w.whole(reduction, "reduction") == 1:
        counted = _counted(w, y, weight, ignored, x)
        flat = w.op("Div", _reduced(w, flat, 2), _reduced(w, counted, 2))
    else:
        flat = _reduced(w, flat, reduction)
    classes = w.known_size(x, axis, "the number of classes")
    part, rest = w.constant(share / classes, x.dtype), w.constant(1 - share, x.dtype)
    return w.op("Add", w.op("Mul", w.tensor(sharp), rest), w.op("Mul", flat, part))


def _along(w: Writer, weight: Item, x: Operand, axis: int) -> Operand:
    """Weights of classes, as they lie along an axis."""
    given = w.tensor(weight)
    return w.unsqueeze(given, *range(1, w.rank(x) - axis)) if w.rank(x) - axis > 1 else given


def _counted(w: Writer, y: Operand, weight: Item, ignored: Operand, x: Operand) -> Operand:
    """How much each label counts in a mean: the weight of its class, 0 if it is ignored."""
    nothing, one = w.constant(0.0, x.dtype), w.constant(1.0, x.dtype)
    if weight is None:
        return w.where(ignored, nothing, one)
    places = w.where(ignored, w.constant(0, INT), w.cast(y, INT))
    return w.where(ignored, nothing, w.op("Gather", w.tensor(weight), places, axis=0))


@exports("aten::cosine_embedding_loss")
def cosine_embedding_loss(
    w: Writer, input1: Item, input2: Item, target: Item, margin: Item = 0.0, reduction: Item = 1
) -> Item:
    x, y = w.common(input1, input2)
    axes, tiny = [w.rank(x) - 1], w.constant(1e-12, x.dtype)
    products = w.reduce("ReduceSum", w.op("Mul", x, y), axes, False)
    one, other = (
        w.op("Add", w.reduce("ReduceSum", w.op("Mul", each, each), axes, False), tiny)
        for each in (x, y)
    )
    cosine = w.op("Div", products, w.op("Sqrt", w.op("Mul", one, other)))
    limit = w.constant(w.real(margin, "margin"), x.dtype)
    alike = w.op("Sub", w.constant(1, x.dtype), cosine)
    apart = w.op("Relu", w.op("Sub", cosine, limit))
    wanted = w.tensor(target)
    positive = w.op("Greater", wanted, w.constant(0, wanted.dtype))
    return _reduced(w, w.where(positive, alike, apart), reduction)


@exports("aten::triplet_margin_loss")
def triplet_margin_loss(
    w: Writer,
    anchor: Item,
    positive: Item,
    negative: Item,
    margin: Item = 1.0,
    p: Item = 2.0,
    eps: Item = 1e-6,
    swap: Item = False,
    reduction: Item = 1,
) -> Item:
    distance = EXPORTS["aten::pairwise_distance"]
    near = w.tensor(distance(w, anchor, positive, p, eps))
    far = w.tensor(distance(w, anchor, negative, p, eps))
    if swap is True:
        far = w.op("Min", far, w.tensor(distance(w, positive, negative, p, eps)))
    gap = w.op("Sub", near, far)
    moved = w.op("Add", gap, w.constant(w.real(margin, "margin"), gap.dtype))
    return _reduced(w, w.op("Relu", moved), reduction)


@exports("aten::binary_cross_entropy")
def binary_cross_entropy(
    w: Writer, self: Item, target: Item, weight: Item = None, reduction: Item = 1
) -> Item:
    x, y = w.common(self, target)
    one, least = w.constant(1.0, x.dtype), w.constant(-100.0, x.dtype)
    yes = w.op("Max", w.op("Log", x), least)
    no = w.op("Max", w.op("Log", w.op("Sub", one, x)), least)
    total = w.op("Add", w.op("Mul", y, yes), w.op("Mul", w.op("Sub", one, y), no))
    found = w.op("Neg", total)
    if weight is not None:
        found = w.op("Mul", found, w.tensor(weight))
    return _reduced(w, found, reduction)


@exports("aten::binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    w: Writer,
    self: Item,
    target: Item,
    weight: Item = None,
    pos_weight: Item = None,
    reduction: Item = 1,
) -> Item:
    x, y = w.common(self, target)
    one = w.constant(1.0, x.dtype)
    soft = w.op("Softplus", w.op("Neg", x))
    if pos_weight is not None:
        more = w.op("Sub", w.tensor(pos_weight), one)
        soft = w.op("Mul", soft, w.op("Add", w.op("Mul", more, y), one))
    found = w.op("Add", w.op("Mul", w.op("Sub", one, y), x), soft)
    if weight is not None:
        found = w.op("Mul", found, w.tensor(weight))
    return _reduced(w, found, reduction)


@exports("aten::kl_div")
def kl_div(
    w: Writer, self: Item, target: Item, reduction: Item = 1, log_target: Item = False
) -> Item:
    x, y = w.common(self, target)
    if log_target is True:
        return _reduced(w, w.op("Mul", w.op("Exp", y), w.op("Sub", y, x)), reduction)
    zero = w.constant(0.0, x.dtype)
    logs = w.where(w.op("Greater", y, zero), w.op("Mul", y, w.op("Log", y)), zero)
    return _reduced(w, w.op("Sub", logs, w.op("Mul", y, x)), reduction)


def _hinge(w: Writer, x: Operand) -> Operand:
    return w.op("Max", x, w.constant(0.0, x.dtype))


@exports("aten::margin_ranking_loss")
def margin_ranking_loss(
    w: Writer, input1: Item, input2: Item, target: Item, margin: Item = 0.0, reduction: Item = 1
) -> Item:
    x, y, sign = w.common(input1, input2, target)
    gap = w.op("Mul", w.op("Neg", sign), w.op("Sub", x, y))
    return _reduced(w, _hinge(w, w.op("Add", gap, w.tensor(margin, x.dtype))), reduction)


@exports("aten::soft_margin_loss")
def soft_margin_loss(w: Writer, self: Item, target: Item, reduction: Item = 1) -> Item:
    x, y = w.common(self, target)
    return _reduced(w, w.op("Softplus", w.op("Neg", w.op("Mul", x, y))), reduction)


@exports("aten::hinge_embedding_loss")
def hinge_embedding_loss(
    w: Writer, self: Item, target: Item, margin: Item = 1.0, reduction: Item = 1
) -> Item:
    x, y = w.common(self, target)
    one, zero = w.constant(1.0, x.dtype), w.constant(0.0, x.dtype)
    far = w.where(w.op("Equal", y, one), zero, _hinge(w, w.op("Sub", w.tensor(margin, x.dtype), x)))
    near = w.where(w.op("Equal", y, w.constant(-1.0, x.dtype)), zero, x)
    return _reduced(w, w.op("Add", far, near), reduction)


@exports("aten::poisson_nll_loss")
def poisson_nll_loss(
    w: Writer, input: Item, target: Item, log_input: Item, full: Item, eps: Item, reduction: Item
) -> Item:
    x, y = w.common(input, target)
    if log_input is True:
        found = w.op("Sub", w.op("Exp", x), w.op("Mul", y, x))
    else:
        logs = w.op("Log", w.op("Add", x, w.tensor(eps, x.dtype)))
        found = w.op("Sub", x, w.op("Mul", y, logs))
    if full is not False:
        found = w.op("Add", found, _stirling(w, y))
    return _reduced(w, found, reduction)


def _stirling(w: Writer, y: Operand) -> Operand:
    """About the logarithm of y!, from 2 on; 0 below (Stirling's formula)."""
    one = w.constant(1.0, y.dtype)
    large = w.op("Greater", y, one)
    safe = w.where(large, y, one)
    flat = w.op("Sub", w.op("Mul", safe, w.op("Log", safe)), safe)
    turned = w.op("Log", w.op("Mul", w.constant(2 * math.pi, y.dtype), safe))
    rest = w.op("Mul", w.constant(0.5, y.dtype), turned)
    return w.where(large, w.op("Add", flat, rest), w.constant(0.0, y.dtype))


def _margins(w: Writer, margin: Item, gap: Operand) -> Operand:
    """What is above 0 of a margin minus a gap."""
    return _hinge(w, w.op("Sub", w.constant(w.real(margin, "margin"), gap.dtype), gap))


@exports("aten::multi_margin_loss")
def multi_margin_loss(
    w: Writer,
    self: Item,
    target: Item,
    p: Item = 1,
    margin: Item = 1,
    weight: Item = None,
    reduction: Item = 1,
) -> Item:
    x, y = w.tensor(self), w.tensor(target)
    is_single = w.rank(x) == 1
    if is_single:
        x, y = w.unsqueeze(x, 0), w.op("Reshape", y, w.ints(1))
    classes = w.known_size(x, 1, "the number of classes")
    places = w.unsqueeze(w.cast(y, INT), 1)
    right = w.op("GatherElements", x, places, axis=1)
    gaps = _margins(w, margin, w.op("Sub", right, x))
    if w.whole(p, "p") == 2:
        gaps = w.op("Mul", gaps, gaps)
    if weight is not None:
        gaps = w.op("Mul", gaps, w.unsqueeze(w.op("Gather", w.tensor(weight), w.cast(y, INT)), 1))
    own = w.op("Equal", places, w.ints(*range(classes)))
    gaps = w.where(own, w.constant(0.0, x.dtype), gaps)
    found = w.op("Div", w.reduce("ReduceSum", gaps, [1], False), w.constant(classes, x.dtype))
    found = _reduced(w, found, reduction)
    return w.squeeze(found, 0) if is_single and w.whole(reduction, "reduction") == 0 else found


@exports("aten::multilabel_margin_loss")
def multilabel_margin_loss(w: Writer, self: Item, target: Item, reduction: Item = 1) -> Item:
    """Labels of a row end where the first negative one is."""
    x, labels = w.tensor(self), w.cast(w.tensor(target), INT)
    is_single = w.rank(x) == 1
    if is_single:
        x, labels = w.unsqueeze(x, 0), w.unsqueeze(labels, 0)
    classes = w.known_size(x, 1, "the number of classes")
    zero, nothing = w.constant(0, INT), w.constant(0.0, x.dtype)
    ended = w.op("CumSum", w.cast(w.op("Less", labels, zero), INT), w.constant(1, INT))
    counts = w.op("Equal", ended, zero)
    places = w.where(counts, labels, zero)
    # (rows, labels, classes): which labels are which classes
    same = w.op("Equal", w.unsqueeze(places, 2), w.ints(*range(classes)))
    same = w.op("And", same, w.unsqueeze(counts, 2))
    is_label = w.op("Greater", w.reduce("ReduceMax", w.cast(same, INT), [1], True), zero)
    right = w.unsqueeze(w.op("GatherElements", x, places, axis=1), 2)
    gaps = _margins(w, 1.0, w.op("Sub", right, w.unsqueeze(x, 1)))
    counted = w.op("And", w.unsqueeze(counts, 2), w.op("Not", is_label))
    total = w.reduce("ReduceSum", w.where(counted, gaps, nothing), [1, 2], False)
    found = _reduced(w, w.op("Div", total, w.constant(classes, x.dtype)), reduction)
    return w.squeeze(found, 0) if is_single and w.whole(reduction, "reduction") == 0 else found
