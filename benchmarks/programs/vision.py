"""Convolutions, pooling and two networks made of them."""

from typing import List

from makers import network

import rushlight as torch

F = torch.nn.functional


class Layer(torch.nn.Module):
    def __init__(self, inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1):
        super().__init__()
        scale = (2.0 / (inputs // groups * size * size)) ** 0.5
        self.w = torch.nn.Parameter(torch.randn(outputs, inputs // groups, size, size) * scale)
        self.mean = torch.nn.Parameter(torch.randn(outputs) * 0.1)
        self.var = torch.nn.Parameter(torch.rand(outputs) + 0.5)
        self.gain = torch.nn.Parameter(torch.rand(outputs) + 0.5)
        self.bias = torch.nn.Parameter(torch.randn(outputs) * 0.1)
        self.stride = stride
        self.pad = size // 2
        self.groups = groups

    def forward(self, x):
        x = F.conv2d(x, self.w, None, [self.stride], [self.pad], [1], self.groups)
        return F.batch_norm(x, self.mean, self.var, self.gain, self.bias, False, 0.1, 1e-5)


class Basic(torch.nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int):
        super().__init__()
        self.a = Layer(inputs, outputs, 3, stride)
        self.b = Layer(outputs, outputs, 3)
        self.down = Layer(inputs, outputs, 1, stride)
        self.same = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.b(F.relu(self.a(x)))
        return F.relu(y + x) if self.same else F.relu(y + self.down(x))


class ResNet18(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Layer(3, 64, 7, 2)
        blocks: List[torch.nn.Module] = []
        inputs = 64
        for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks += [Basic(inputs, outputs, stride), Basic(outputs, outputs, 1)]
            inputs = outputs
        self.blocks = torch.nn.ModuleList(blocks)
        self.fc = torch.nn.Linear(512, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.stem(x)), [3], [2], [1])
        for block in self.blocks:
            x = block(x)
        return self.fc(torch.flatten(F.adaptive_avg_pool2d(x, [1, 1]), 1))


class Inverted(torch.nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int, expand: int):
        super().__init__()
        self.up = Layer(inputs, inputs * expand, 1)
        self.mid = Layer(inputs * expand, inputs * expand, 3, stride, inputs * expand)
        self.down = Layer(inputs * expand, outputs, 1)
        self.expand = expand != 1
        self.same = stride == 1 and inputs == outputs

    def forward(self, x):
        y = F.relu6(self.up(x)) if self.expand else x
        y = self.down(F.relu6(self.mid(y)))
        return x + y if self.same else y


class MobileNetV2(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Layer(3, 32, 3, 2)
        blocks: List[torch.nn.Module] = []
        inputs = 32
        for expand, outputs, count, stride in (
            (1, 16, 1, 1),
            (6, 24, 2, 2),
            (6, 32, 3, 2),
            (6, 64, 4, 2),
            (6, 96, 3, 1),
            (6, 160, 3, 2),
            (6, 320, 1, 1),
        ):
            for i in range(count):
                blocks.append(Inverted(inputs, outputs, stride if i == 0 else 1, expand))
                inputs = outputs
        self.blocks = torch.nn.ModuleList(blocks)
        self.last = Layer(320, 1280, 1)
        self.fc = torch.nn.Linear(1280, 1000)

    def forward(self, x):
        x = F.relu6(self.stem(x))
        for block in self.blocks:
            x = block(x)
        return self.fc(F.relu6(self.last(x)).mean([2, 3]))


def classifier(make, batch=1):
    return network(make, lambda: (torch.randn(batch, 3, 224, 224),), 9)


class Convolution(torch.nn.Module):
    def __init__(self, shape: List[int], stride: int, groups: int):
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(shape) * 0.05)
        self.b = torch.nn.Parameter(torch.randn(shape[0]))
        self.stride = stride
        self.groups = groups
        self.pad = shape[2] // 2

    def forward(self, x):
        return F.conv2d(x, self.w, self.b, [self.stride], [self.pad], [1], self.groups)


def conv(weights, inputs, stride=1, groups=1):
    def make():
        torch.manual_seed(10)
        model = Convolution(weights, stride, groups)
        model.requires_grad_(False)
        return model, torch.jit.script(model), (torch.randn(*inputs),)

    return make


def conv1d(x, w):
    return F.conv1d(x, w, None, 1, 2)


def convs1d():
    torch.manual_seed(11)
    return conv1d, torch.jit.script(conv1d), (torch.randn(1, 64, 1000), torch.randn(64, 64, 5))


def maxpool(x):
    return F.max_pool2d(x, [3], [2], [1])


def avgpool(x):
    return F.avg_pool2d(x, [2])


def batchnorm_relu(x, mean, var):
    return F.relu(F.batch_norm(x, mean, var, mean, var, False, 0.1, 1e-5))


def upsample(x):
    return F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)


def plain(function, *shapes):
    def make():
        torch.manual_seed(12)
        arguments = tuple(torch.rand(*shape) for shape in shapes)
        return function, torch.jit.script(function), arguments

    return make


PROGRAMS = {
    "conv3x3": conv([64, 64, 3, 3], (1, 64, 56, 56)),
    "conv3x3_b8": conv([64, 64, 3, 3], (8, 64, 56, 56)),
    "conv1x1": conv([256, 256, 1, 1], (1, 256, 28, 28)),
    "depthwise3x3": conv([128, 1, 3, 3], (1, 128, 56, 56), 1, 128),
    "conv3x3_s2": conv([128, 64, 3, 3], (1, 64, 56, 56), 2),
    "stem7x7": conv([64, 3, 7, 7], (1, 3, 224, 224), 2),
    "conv1d": convs1d,
    "maxpool": plain(maxpool, (1, 64, 112, 112)),
    "avgpool": plain(avgpool, (1, 64, 112, 112)),
    "batchnorm_relu": plain(batchnorm_relu, (1, 64, 56, 56), (64,), (64,)),
    "upsample": plain(upsample, (1, 64, 56, 56)),
    "resnet18_b1": classifier(ResNet18),
    "resnet18_b8": classifier(ResNet18, 8),
    "mobilenetv2_b1": classifier(MobileNetV2),
    "mobilenetv2_b8": classifier(MobileNetV2, 8),
}
