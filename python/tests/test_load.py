"""Loading models, and what they say of themselves."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import millrace


def test_a_model_describes_its_tensors(add_archive):
    model = millrace.load(add_archive, device="null")
    assert [tensor.name for tensor in model.inputs] == ["left", "right"]
    left = model.inputs[0]
    assert left.dtype == np.float32
    assert left.shape == (1, 4, 2, 3)
    assert left.cpu.data_type == "FLOAT32" and left.cpu.layout == "NCHW"
    assert left.hw.layout.startswith("HCWNC")
    assert left.hw.bytes >= left.cpu.bytes
    assert (left.scale, left.zero_point) == (1.0, 0)
    assert [tensor.name for tensor in model.outputs] == ["sum"]
    assert model.batch_size == 1
    assert "computes nothing" in model.note
    assert model.device.name == "null"


def test_bf16_views_are_uint16(bf16_archive):
    model = millrace.load(bf16_archive, device="null")
    assert model.inputs[0].dtype == np.float32
    assert model.inputs[0].hw.data_type == "BF16"
    assert model.inputs[0].hw.dtype == np.uint16


def test_open_dimensions_are_none(open_archive):
    model = millrace.load(open_archive)
    assert model.inputs[0].shape == (None, 4)


def import_error_of(folder):
    program = f"import sys; sys.path.insert(0, {str(folder)!r}); import millrace"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


def test_a_package_for_another_python_says_so(tmp_path):
    package = Path(millrace.__file__).parent
    copy = tmp_path / "millrace"
    copy.mkdir()
    for source in package.glob("*.py"):
        (copy / source.name).write_bytes(source.read_bytes())
    assert "no extension module" in import_error_of(tmp_path)
    (copy / "_core.cpython-39-x86_64-linux-gnu.so").touch()
    error = import_error_of(tmp_path)
    assert error.startswith("ImportError: this package of millrace was built for CPython 3.9 on x86_64")
    assert f"this is CPython {sys.version_info.major}.{sys.version_info.minor}" in error


def test_a_model_is_loaded_from_bytes(relu_archive):
    model = millrace.load(relu_archive.read_bytes())
    x = np.array([[-1, 2, -3, 4, -5, 6, -7, 8]], np.float32)
    assert np.array_equal(model(x), np.maximum(x, 0))


def test_models_of_one_device_share_it(relu_archive, add_archive):
    device = millrace.Device("null")
    first = millrace.load(relu_archive, device)
    second = millrace.load(add_archive, device)
    assert first.device is device and second.device is device


def test_the_package_has_a_version_and_shows_its_public_names_only():
    assert re.fullmatch(r"\d+\.\d+\.\d+", millrace.__version__)
    shown = dir(millrace)
    assert set(millrace.__all__) < set(shown)
    assert {"compile", "read_inputs", "__version__"} < set(shown)
    assert [name for name in shown if name.startswith("_")] == ["__version__"]
    assert not {"os", "threading", "importlib", "Any"} & set(vars(millrace))


def test_a_missing_file_is_not_found():
    with pytest.raises(millrace.NotFound, match="no-such.rai") as caught:
        millrace.load("no-such.rai")
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.code == "NOT_FOUND"


def test_an_unknown_device_is_not_found(relu_archive):
    with pytest.raises(millrace.NotFound, match="no device"):
        millrace.load(relu_archive, device="no-such")


def test_a_damaged_archive_is_corrupt(relu_archive):
    content = bytearray(relu_archive.read_bytes())
    content[100] ^= 0xFF
    with pytest.raises(millrace.CorruptData):
        millrace.load(bytes(content))


def test_a_memory_limit_refuses_a_model(glyphs_archive):
    with pytest.raises(millrace.OutOfMemory) as caught:
        millrace.load(glyphs_archive, memory_limit=1000)
    assert isinstance(caught.value, MemoryError)


def test_an_unknown_profile_is_an_invalid_argument(open_archive):
    with pytest.raises(millrace.InvalidArgument):
        millrace.load(open_archive, shape_profile="no-such")


@pytest.mark.skipif(
    not list(Path(millrace.__file__).parent.glob("_compiler*.so")), reason="there is no compiler"
)
def test_a_model_of_onnx_is_compiled(folder, relu_archive):
    x = np.array([[-1, 2, -3, 4, -5, 6, -7, 8]], np.float32)
    assert np.array_equal(millrace.load(folder / "relu.onnx")(x), np.maximum(x, 0))
    assert np.array_equal(
        millrace.load((folder / "relu.onnx").read_bytes())(x), np.maximum(x, 0)
    )


def test_the_null_device_loads_neither_onednn_nor_protobuf(relu_archive):
    program = (
        "import sys, millrace\n"
        f"model = millrace.load({str(relu_archive)!r}, device='null')\n"
        "maps = open('/proc/self/maps').read()\n"
        "assert 'libmillrace.so' in maps\n"
        "assert not any(name in maps for name in ('dnnl', 'protobuf', 'onnx', '_compiler'))\n"
        "assert 'millrace.compiler' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ)
