"""The names of `torch` itself that are refused, with the reasons (see `refused_names`).

`isinstance(x, torch.SymInt)` is False, `torch.SymInt(...)` raises.
"""

from __future__ import annotations

from typing import Any, Final

from .refused_names import refusing

__all__ = ["REASONS", "refused"]

REASONS: Final[dict[str, str]] = {
    "is a size that torch's tracers leave open; sizes are ints here": """
        SymBool SymBoolType SymFloat SymInt SymIntType sym_constrain_range
        sym_constrain_range_for_size sym_fresh_size""",
    "calls a vendor's library by its name; the plain operator of the same meaning runs here": """
        batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt
        batch_norm_gather_stats batch_norm_gather_stats_with_counts batch_norm_stats
        batch_norm_update_stats cudnn_affine_grid_generator cudnn_batch_norm cudnn_convolution
        cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose
        cudnn_grid_sampler cudnn_is_acceptable fbgemm_linear_fp16_weight
        fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
        fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
        fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix miopen_batch_norm
        miopen_convolution miopen_convolution_add_relu miopen_convolution_relu
        miopen_convolution_transpose miopen_ctc_loss miopen_depthwise_convolution miopen_rnn
        mkldnn_adaptive_avg_pool2d mkldnn_linear_backward_weights mkldnn_max_pool2d
        mkldnn_max_pool3d mkldnn_rnn_layer""",
    "is an inner part of torch's own compiler and files; `torch.jit` is the way in": """
        AggregationType ArgumentSpec BenchmarkConfig BenchmarkExecutionStats CallStack Capsule Code
        CompleteArgumentSpec ConcreteModuleType ConcreteModuleTypeBuilder DeepCopyMemoTable
        DeserializationStorageContext ErrorReport ExcludeDispatchKeyGuard ExecutionPlan FileCheck
        Gradient GraphExecutorState IODescriptor InferredType LiteScriptModule LockingLogger
        LoggerBase NoopLogger OperatorInfo PyObjectType PyTorchFileReader PyTorchFileWriter
        ScriptClass ScriptClassFunction ScriptDictIterator ScriptDictKeyIterator ScriptListIterator
        ScriptModuleSerializer ScriptObjectProperty SerializationStorageContext StaticModule
        ThroughputBenchmark TracingState import_ir_module import_ir_module_from_buffer
        merge_type_from_type_comment parse_type_comment unify_type_list""",
    "steers a device that is not there": """
        Event Stream get_device_module get_autocast_ipu_dtype get_autocast_xla_dtype
        is_autocast_ipu_enabled is_autocast_xla_enabled set_autocast_ipu_dtype
        set_autocast_ipu_enabled set_autocast_xla_dtype set_autocast_xla_enabled
        profiler_allow_cudagraph_cupti_lazy_reinit_cuda12""",
    "was removed from torch; `torch.linalg` has its successor": """
        eig lstsq matrix_rank solve symeig""",
}
"""Why they are refused, with the names of `torch` that are."""


def refused(name: str) -> Any:
    """What stands for a name of `torch`'s that is refused; None for other names.

    Whatever calls it meets NotImplementedError, with the reason.
    """
    for reason, names in REASONS.items():
        if name in names.split():
            return refusing(__name__.partition(".")[0], name, reason)[name]
    return None
