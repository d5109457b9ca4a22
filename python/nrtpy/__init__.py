"""nrtpy: models on the Neuron runtime from Python, on Millrace's `libnrt.so.1`.

The names, arguments and errors are those of the vendor's package `nrtpy`, as its public
documentation states them, so that programs written for it run unchanged. Models are `.rai` archives
instead of NEFF files (`millrace compile`).

    from nrtpy import NrtpyModel, NrtpyTensor

    model = NrtpyModel.load_from_neff("model.rai")
    outputs = model(inputs={"input": NrtpyTensor.from_numpy(array)})
    result = outputs["output"].numpy()

A process has one runtime, which starts with the first tensor or model. `configure()` before that
says which cores it sees; `reset()` closes it. Models and tensors may be used from several threads;
`reset()` may not be called while another thread uses them.
"""

from ._benchmark import BenchmarkResult
from ._errors import NrtError, NrtpyError
from ._model import NrtpyModel, TensorMetadata
from ._runtime import configure, get_nrtpy_singleton, reset
from ._tensor import NrtpyTensor, NrtTensor

__all__ = [
    "BenchmarkResult",
    "NrtError",
    "NrtTensor",
    "NrtpyError",
    "NrtpyModel",
    "NrtpyTensor",
    "TensorMetadata",
    "configure",
    "get_nrtpy_singleton",
    "reset",
]
