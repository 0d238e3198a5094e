"""Settings of torch's compiler, which is not here; names, values and errors are torch 2.13's."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import rushlight as torch


def settings(name: str) -> Any:
    return importlib.import_module(f"rushlight.{name}")


def test_blocks_and_functions_with_other_settings() -> None:
    config = settings("_dynamo.config")
    assert torch._dynamo.config is config
    with config.patch(verbose=True), config.patch("recompile_limit", 3):
        assert (config.verbose, config.recompile_limit) == (True, 3)

    @config.patch({"suppress_errors": True})
    def told() -> bool:
        return bool(config.suppress_errors)

    assert told()
    assert (config.verbose, config.suppress_errors) == (False, False)


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        ("_functorch.config", "donated_buffer", True),
        ("_functorch.config", "activation_memory_budget", 1.0),
        ("_dynamo.config", "trace_autograd_ops", False),
        ("_dynamo.config", "reorderable_logging_functions", set()),
        ("_inductor.config", "triton.unique_kernel_names", True),
        ("_inductor.config", "cpp.threads", -1),
        ("fx.experimental._config", "use_duck_shape", True),
        ("compiler.config", "job_id", None),
    ],
)
def test_first_values(module: str, name: str, value: object) -> None:
    assert settings(module).get_config_copy()[name] == value


def test_settings_in_groups() -> None:
    config = settings("_inductor.config")
    with config.patch({"triton.cudagraphs": True}):
        assert config.triton.cudagraphs
    assert not config.triton.cudagraphs
    with pytest.raises(AttributeError, match=r"torch\._inductor\.config\.triton\.speed does not"):
        config.triton.speed = 1


def test_two_names_of_one_setting() -> None:
    config = settings("_dynamo.config")
    with config.patch(cache_size_limit=77):
        assert config.recompile_limit == settings("compiler.config").recompile_limit == 77
        settings("compiler.config").recompile_limit = 9
        assert config.cache_size_limit == 9
    assert config.recompile_limit == 8


def test_unknown_settings() -> None:
    config = settings("_dynamo.config")
    with pytest.raises(AttributeError, match=r"torch\._dynamo\.config\.speed does not exist"):
        config.speed = 1
    with pytest.raises(AttributeError, match=r"torch\._dynamo\.config\.speed does not exist"):
        _ = config.speed
    with pytest.warns(UserWarning, match="key speed with value 1 is not understood by this config"):
        config.load_config({"speed": 1})


def test_settings_are_saved_and_loaded() -> None:
    config = settings("_dynamo.config")
    with config.patch(verbose=True):
        assert config.codegen_config() == "torch._dynamo.config.verbose = True"
        saved = config.save_config()
    config.load_config(saved)
    assert config.verbose
    config.load_config({"verbose": False})
    assert config.codegen_config() == ""


def test_a_removed_setting_can_be_set_again() -> None:
    config = settings("_dynamo.config")
    del config.verbose
    assert not hasattr(config, "verbose")
    config.verbose = False
    assert config.verbose is False


def test_no_program_is_traced_for_the_compiler() -> None:
    context = settings("_guards").TracingContext
    assert context.try_get() is None
    with pytest.raises(RuntimeError, match="must be called within an ongoing trace"):
        context.get()
