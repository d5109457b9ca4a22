"""Programs that are written for the vendor's nrtpy run on Millrace's libnrt."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import nrtpy
from millrace import compiler
from nrtpy import NrtError, NrtpyError, NrtpyModel, NrtpyTensor

GLYPHS = Path(__file__).resolve().parents[2] / "models" / "glyphs"
PIXELS = np.float32(1 / 255)


@pytest.fixture(autouse=True)
def fresh_runtime() -> Iterator[None]:
    yield
    nrtpy.reset()


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("nrtpy") / "glyphs.rai"
    compiler.compile(GLYPHS / "glyphs.onnx", path)
    return path


@pytest.fixture(scope="session")
def pictures() -> npt.NDArray[np.float32]:
    images = np.load(GLYPHS / "heldback_images.npy")[:40]
    scaled: npt.NDArray[np.float32] = images.reshape(-1, 1, 32, 32) * PIXELS
    return scaled


def test_names_and_shapes_of_the_tensors(archive: Path) -> None:
    model = NrtpyModel.load_from_neff(archive)
    assert list(model.input_tensors_info) == ["image"]
    assert model.input_tensors_info["image"].shape == (1, 1, 32, 32)
    assert model.input_tensors_info["image"].size == 4096
    assert model.output_tensors_info["scores"].shape == (1, 40)


def test_reads_the_characters(archive: Path, pictures: npt.NDArray[np.float32]) -> None:
    model = NrtpyModel.load_from_neff(str(archive))
    labels = np.load(GLYPHS / "heldback_labels.npy")[:40]
    tensor = NrtpyTensor.from_numpy(pictures[:1], name="image")
    best = []
    for picture in pictures:
        tensor.write_from_numpy(picture[np.newaxis])
        outputs = model(inputs={"image": tensor})
        assert outputs is not None
        scores = outputs["scores"].numpy()
        assert scores.shape == (1, 40)
        assert scores.dtype == np.dtype(np.float32)
        best.append(int(scores.argmax()))
    assert np.mean(np.array(best) == labels) > 0.95


def test_writes_into_outputs_that_are_given(
    archive: Path, pictures: npt.NDArray[np.float32]
) -> None:
    model = NrtpyModel.load_from_neff(archive)
    inputs = {"image": NrtpyTensor.from_numpy(pictures[:1])}
    scores = NrtpyTensor.from_numpy(np.zeros((1, 40), np.float32))
    assert model(inputs, outputs={"scores": scores}) is None
    made = model(inputs)
    assert made is not None
    np.testing.assert_array_equal(scores.numpy(), made["scores"].numpy())


def test_tensors_keep_what_is_written() -> None:
    array = np.arange(24, dtype=np.int16).reshape(4, 6)
    tensor = NrtpyTensor.from_numpy(array.T, name="numbers")
    assert (tensor.name, tensor.shape) == ("numbers", (6, 4))
    assert tensor.dtype == np.dtype(np.int16)
    np.testing.assert_array_equal(tensor.numpy(), array.T)
    tensor.write_from_numpy(np.full((6, 4), 7, np.int16))
    assert (tensor.numpy() == 7).all()
    with pytest.raises(ValueError, match="4 bytes, but the tensor 48"):
        tensor.write_from_numpy(np.zeros(2, np.int16))


def test_a_tensor_that_was_freed_is_refused(archive: Path) -> None:
    model = NrtpyModel.load_from_neff(archive)
    tensor = NrtpyTensor.from_numpy(np.zeros((1, 1, 32, 32), np.float32))
    nrtpy.get_nrtpy_singleton().free_tensor(tensor)
    with pytest.raises(NrtpyError, match="has been freed"):
        tensor.numpy()
    with pytest.raises(NrtpyError, match="has been freed"):
        model({"image": tensor})


def test_names_that_the_model_does_not_have(archive: Path) -> None:
    model = NrtpyModel.load_from_neff(archive)
    tensor = NrtpyTensor.from_numpy(np.zeros((1, 1, 32, 32), np.float32))
    with pytest.raises(NrtError, match=r"NRT_INVALID\(2\).*\['picture'\].*\['image'\]"):
        model({"picture": tensor})
    with pytest.raises(NrtError, match="output tensors"):
        model({"image": tensor}, outputs={})


def test_a_tensor_that_is_too_small(archive: Path) -> None:
    model = NrtpyModel.load_from_neff(archive)
    with pytest.raises(NrtError, match=r"NRT_INVALID\(2\)") as failure:
        model({"image": NrtpyTensor.from_numpy(np.zeros(4, np.float32))})
    assert failure.value.status == 2


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(NrtError, match=r"NRT Error NRT_FAILURE\(1\): Failed to load model"):
        NrtpyModel.load_from_neff(tmp_path / "nonexistent.neff")
    (tmp_path / "bad.neff").write_bytes(b"not a model" * 100)
    with pytest.raises(NrtError, match=r"NRT_INVALID\(2\): Failed to load model"):
        NrtpyModel.load_from_neff(tmp_path / "bad.neff")
    assert issubclass(NrtError, RuntimeError) and issubclass(NrtpyError, RuntimeError)


def test_configures_the_visible_cores(archive: Path) -> None:
    nrtpy.configure(visible_cores=[0, 1])
    assert os.environ["NEURON_RT_VISIBLE_CORES"] == "0,1"
    first = NrtpyTensor.from_numpy(np.zeros(4, np.float32), core_id=1)
    with pytest.raises(NrtpyError, match=r"call nrtpy.reset\(\)"):
        nrtpy.configure(visible_cores=[0])
    nrtpy.reset()
    assert "NEURON_RT_VISIBLE_CORES" not in os.environ
    with pytest.raises(NrtpyError, match="invalid"):
        first.numpy()
    nrtpy.configure(visible_cores=range(1))
    with pytest.raises(NrtError, match="NRT_LOAD_NOT_ENOUGH_NC"):
        NrtpyModel.load_from_neff(archive, core_id=1)


@pytest.mark.parametrize(
    ("cores", "error"), [(3, TypeError), (["a"], TypeError), ([1.5], TypeError), ([-1], ValueError)]
)
def test_refuses_other_cores(cores: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        nrtpy.configure(visible_cores=cores)  # type: ignore[arg-type]


def test_a_model_is_invalid_after_a_reset(archive: Path) -> None:
    model = NrtpyModel.load_from_neff(archive)
    nrtpy.reset()
    tensor = NrtpyTensor.from_numpy(np.zeros((1, 1, 32, 32), np.float32))
    with pytest.raises(NrtpyError, match="the model is invalid"):
        model({"image": tensor})
    del model
    gc.collect()


@pytest.mark.parametrize("mode", ["device", "host"])
def test_benchmarks(archive: Path, pictures: npt.NDArray[np.float32], mode: str) -> None:
    model = NrtpyModel.load_from_neff(archive)
    inputs = {"image": NrtpyTensor.from_numpy(pictures[:1])}
    stats = model.benchmark(inputs, warmup_iter=2, benchmark_iter=7, mode=mode)
    assert (stats.iterations, stats.warmup_iterations) == (7, 2)
    assert len(stats.durations_ms) == 7
    assert 0 < stats.min_ms <= stats.mean_ms <= stats.max_ms
    assert stats.std_dev_ms >= 0


def test_refuses_other_benchmarks(archive: Path) -> None:
    model = NrtpyModel.load_from_neff(archive)
    inputs = {"image": NrtpyTensor.from_numpy(np.zeros((1, 1, 32, 32), np.float32))}
    with pytest.raises(ValueError, match="mode"):
        model.benchmark(inputs, mode="guess")
    with pytest.raises(ValueError, match="benchmark_iter"):
        model.benchmark(inputs, benchmark_iter=0)


def test_saves_a_trace(archive: Path, tmp_path: Path) -> None:
    model = NrtpyModel.load_from_neff(archive)
    inputs = {"image": NrtpyTensor.from_numpy(np.zeros((1, 1, 32, 32), np.float32))}
    model(inputs, save_trace=True)
    assert archive.with_suffix(".ntff").stat().st_size > 0
    model(inputs, save_trace=True, ntff_name=str(tmp_path / "own.ntff"))
    assert json.loads((tmp_path / "own.ntff").read_text())


def test_ends_without_a_word_while_objects_live(archive: Path) -> None:
    code = f"""
import numpy
from nrtpy import NrtpyModel, NrtpyTensor
model = NrtpyModel.load_from_neff({str(archive)!r})
tensor = NrtpyTensor.from_numpy(numpy.zeros((1, 1, 32, 32), numpy.float32))
outputs = model(inputs={{"image": tensor}})
"""
    # libnrt warns of variables of Millrace that it does not know, as those of the tests are.
    environment = {name: value for name, value in os.environ.items() if name != "MILLRACE_PROGRAM"}
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, capture_output=True, text=True, env=environment
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
