"""What programs and training loops are made by; their files find it beside `worker.py`."""

import rushlight as torch


def network(make, inputs, seed):
    """A program: a network in evaluation, without gradients, and what makes its inputs."""

    def program():
        torch.manual_seed(seed)
        model = make().eval()
        model.requires_grad_(False)
        return model, torch.jit.script(model), inputs()

    return program


def trained(optimizer, loss):
    """A step of an optimizer on what `loss` gives, which the step returns."""

    def step():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value

    return step
