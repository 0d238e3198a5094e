"""The process that runs networks as ONNX files: `served.py onnxruntime|openvino|openvino-short`.

It is driven as `worker.py` is; `prepare` is told the file, and the arrays it is given.
"""

from __future__ import annotations

import sys
import time

from worker import digest, serve, timed


def session(library, path, threads):
    """A function from arrays to arrays, and the library's version; "openvino" computes in float32,
    "openvino-short" as it does where nobody says how."""
    if library == "onnxruntime":
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = threads, 3
        made = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [each.name for each in made.get_inputs()]
        return lambda arrays: made.run(None, dict(zip(names, arrays, strict=True)))
    import openvino

    settings = {"INFERENCE_NUM_THREADS": str(threads), "PERFORMANCE_HINT": "LATENCY"}
    if library == "openvino":
        settings["INFERENCE_PRECISION_HINT"] = "f32"
    compiled = openvino.Core().compile_model(path, "CPU", settings)
    request = compiled.create_infer_request()
    return lambda arrays: list(request.infer(list(arrays)).values())


class Served:
    """The networks of this process."""

    def __init__(self, library):
        self.library, self.made = library, {}

    def about(self):
        module = __import__(self.library.partition("-")[0])
        return {"library": self.library, "version": module.__version__}

    def prepare(self, program, path, inputs, threads, seconds):
        """Load a network; say how many calls fill the time, and what they return."""
        import numpy as np

        with np.load(inputs) as file:
            arrays = [file[name] for name in sorted(file)]
        began = time.perf_counter()
        run = session(self.library, path, threads)
        (result,) = run(arrays)
        first = time.perf_counter() - began
        self.made[program] = run, arrays
        once = min(self.batch(program, 1)["seconds"] for _ in range(4))
        calls = max(1, int(seconds / once))
        return {"calls": calls, "first": first, "digest": digest(result.tolist())}

    def batch(self, program, calls):
        """The time of one call, averaged over a batch: by the clock, and of this process."""
        run, arrays = self.made[program]
        return timed(run, [arrays], calls)

    def answer(self, question):
        """What one line of the driver asks for."""
        return getattr(self, question.pop("do"))(**question)


if __name__ == "__main__":
    serve(Served(sys.argv[1]).answer)
