"""The compiler from Python gives the archives, numbers and messages of the program `millrace`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import millrace
from millrace import compiler
from millrace._errors import CorruptData, InvalidArgument, NotFound, Unsupported
from millrace._failures import in_words_of_python
from tiny_onnx import INT64, Node, Value, model

ROOT = Path(__file__).resolve().parents[2]
GLYPHS = ROOT / "models" / "glyphs" / "glyphs.onnx"
CALIBRATION = GLYPHS.parent / "calibration_images.npy"
IMAGES = GLYPHS.parent / "heldback_images.npy"
LABELS = GLYPHS.parent / "heldback_labels.npy"
PIXELS = 1 / 255

Program = Callable[..., str]


@pytest.fixture(scope="session")
def program() -> Program:
    """Runs the program `millrace`, and returns what it prints."""
    path = os.environ.get("MILLRACE_PROGRAM")
    if path is None:
        pytest.skip("MILLRACE_PROGRAM does not name the program to compare with")

    def run(*arguments: object) -> str:
        command = [str(path), *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    return run


def messages_of_program(*arguments: object) -> str:
    path = os.environ.get("MILLRACE_PROGRAM")
    if path is None:
        pytest.skip("MILLRACE_PROGRAM does not name the program to compare with")
    command = [path, *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    message = done.stderr.removeprefix("millrace: ").rstrip("\n")
    return message.removesuffix(f" (see millrace {arguments[0]} --help)")


@pytest.fixture(scope="session")
def pictures() -> npt.NDArray[np.float32]:
    """Pictures of the calibration as the network takes them, [N,1,32,32]."""
    images = np.load(CALIBRATION)[:24]
    scaled: npt.NDArray[np.float32] = images.reshape(-1, 1, 32, 32) * np.float32(PIXELS)
    return scaled


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_compiles_to_the_bytes_of_the_program(
    program: Program, tmp_path: Path, precision: str
) -> None:
    program("compile", GLYPHS, "-o", tmp_path / "a.rai", "--precision", precision)
    archive = compiler.compile(GLYPHS, precision=precision)
    assert bytes(archive) == (tmp_path / "a.rai").read_bytes()


def test_writes_the_output_that_is_named(program: Program, tmp_path: Path) -> None:
    printed = program("compile", GLYPHS, "-o", tmp_path / "a.rai")
    archive = compiler.compile(GLYPHS, tmp_path / "b.rai")
    assert os.fspath(archive) == str(tmp_path / "b.rai")
    assert not archive.is_in_memory
    assert (tmp_path / "b.rai").read_bytes() == (tmp_path / "a.rai").read_bytes()
    assert "\n".join(archive.messages).replace("b.rai", "a.rai") == printed.rstrip("\n")


def test_quantises_to_the_bytes_of_the_program(program: Program, tmp_path: Path) -> None:
    program(
        "compile", GLYPHS, "-o", tmp_path / "a.rai", "--precision", "int8",
        "--calibrate", CALIBRATION, "--scale", PIXELS,
    )
    archive = compiler.quantise(GLYPHS, CALIBRATION, scale=PIXELS)
    assert bytes(archive) == (tmp_path / "a.rai").read_bytes()
    assert archive.report is not None
    assert archive.report.precision == "int8"
    assert archive.report.bytes_after < archive.report.bytes_before
    assert archive.report.mean_cosine > 0.99
    assert any(layer.operator == "Conv" for layer in archive.report.layers)


def test_calibrates_on_arrays_as_on_files(
    tmp_path: Path, pictures: npt.NDArray[np.float32]
) -> None:
    np.save(tmp_path / "stack.npy", pictures)
    from_file = bytes(compiler.quantise(GLYPHS, tmp_path / "stack.npy"))
    assert bytes(compiler.quantise(GLYPHS, pictures)) == from_file
    assert bytes(compiler.quantise(GLYPHS, (picture[np.newaxis] for picture in pictures))) == from_file
    name = compiler.inspect(GLYPHS).inputs[0].name
    assert bytes(compiler.quantise(GLYPHS, {name: pictures})) == from_file
    named = [{name: picture[np.newaxis]} for picture in pictures]
    assert bytes(compiler.quantise(GLYPHS, named)) == from_file


def test_compiles_bytes_as_it_compiles_the_file() -> None:
    from_file = compiler.compile(GLYPHS)
    from_bytes = compiler.compile(GLYPHS.read_bytes(), name="glyphs.onnx")
    assert bytes(from_bytes) == bytes(from_file)


def test_saves_what_lies_in_memory(tmp_path: Path) -> None:
    archive = compiler.compile(GLYPHS)
    assert archive.is_in_memory
    saved = archive.save(tmp_path / "copy.rai")
    assert not saved.is_in_memory
    assert (tmp_path / "copy.rai").read_bytes() == bytes(archive)
    assert saved.messages == archive.messages


def test_writes_the_form_of_a_directory(tmp_path: Path) -> None:
    archive = compiler.compile(GLYPHS, tmp_path / "archive", format="dir")
    assert (tmp_path / "archive" / "vaiml_par_0").is_dir()
    assert compiler.inspect(archive).name == "glyphs"
    with pytest.raises(ValueError, match="format: 'dir' needs an output"):
        compiler.compile(GLYPHS, format="dir")


def test_lists_operators_that_are_not_supported(tmp_path: Path) -> None:
    nodes = [
        Node("Relu", ["x"], ["a"]),
        Node("Frobnicate", ["a"], ["b"]),
        Node("Transmogrify", ["b"], ["y"]),
    ]
    path = tmp_path / "net.onnx"
    path.write_bytes(model(nodes, [Value("x", [1, 4])], [Value("y", [1, 4])]))
    with pytest.raises(Unsupported, match="Frobnicate") as failure:
        compiler.compile(path)
    assert "Transmogrify" in str(failure.value)
    assert str(failure.value) == messages_of_program("compile", path, "-o", tmp_path / "a.rai")
    with pytest.raises(Unsupported, match="Transmogrify"):
        compiler.inspect(path)


def test_open_shapes_need_a_shape_for_calibration(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    nodes = [Node("Relu", ["x"], ["y"])]
    path.write_bytes(model(nodes, [Value("x", [1, "width"])], [Value("y", [1, "width"])]))
    data = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 1, 4)
    with pytest.raises(InvalidArgument, match=r'set them, as with shapes=\{"x": \(1, '):
        compiler.compile(path, precision="int8", calibrate=data)
    assert compiler.inspect(compiler.compile(path)).dynamic
    fixed = compiler.inspect(compiler.compile(path, shapes={"x": (1, 4)}))
    assert not fixed.dynamic
    assert fixed.inputs[0].cpu.shape == (1, 4)


def test_profiles_of_dynamic_models(tmp_path: Path) -> None:
    nodes = [Node("Relu", ["x"], ["y"])]
    content = model(nodes, [Value("x", [1, "width"])], [Value("y", [1, "width"])])
    archive = compiler.compile(content, profiles={"wide": {"x": (1, 64)}, "slim": {"x": (1, 2)}})
    profiles = compiler.inspect(archive).json["profiles"]
    assert [(one["name"], one["inputs"]["x"]) for one in profiles] == [
        ("wide", [1, 64]),
        ("slim", [1, 2]),
    ]
    with pytest.raises(InvalidArgument, match="profiles is for dynamic models"):
        compiler.compile(GLYPHS, profiles={"a": {"image": (1, 1, 32, 32)}})


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"precision": "fp33"}, "precision: 'fp33' is none of 'fp32', 'bf16'"),
        ({"batch": 0}, "batch: 0 is not between 1 and 4096"),
        ({"batch": 5000}, "batch: 5000 is not between 1 and 4096"),
        ({"calibrate_method": "guess"}, "calibrate_method: 'guess' is none of"),
        ({"hw_quantisation": "mine"}, "hw_quantisation: 'mine' is none of"),
        ({"calibrate_samples": 0}, "calibrate_samples: 0 is not between 1 and 100000"),
    ],
)
def test_refuses_values_that_no_model_allows(options: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        compiler.compile(GLYPHS, **options)  # type: ignore[arg-type]


def test_refuses_a_name_where_a_list_is_needed() -> None:
    with pytest.raises(TypeError, match="keep: a list of names is needed"):
        compiler.compile(GLYPHS, keep="Softmax")


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({"precision": "int8"}, ["--precision", "int8"]),
        ({"accuracy_target": 0.01}, ["--accuracy-target", "1%"]),
        ({"shapes": {"nothing": (1, 2)}}, ["--input-shape", "nothing=1,2"]),
        ({"hw_layouts": {"image": "SIDEWAYS"}}, ["--hw-layout", "image=SIDEWAYS"]),
        ({"cpu_operators": ["Nowhere"]}, ["--cpu-ops", "Nowhere"]),
    ],
)
def test_failures_have_the_messages_of_the_program(
    tmp_path: Path, options: dict[str, object], flags: list[str]
) -> None:
    expected = messages_of_program("compile", GLYPHS, "-o", tmp_path / "a.rai", *flags)
    with pytest.raises(InvalidArgument) as failure:
        compiler.compile(GLYPHS, **options)  # type: ignore[arg-type]
    assert str(failure.value) == in_words_of_python(expected)
    assert "--" not in str(failure.value)


def test_messages_name_arguments_and_not_options() -> None:
    for text, expected in (
        ("set them, as with --input-shape x=1,?,4 --input-shape y=7",
         'set them, as with shapes={"x": (1, None, 4), "y": (7,)}'),
        ("--precision int8 needs typical inputs: give a folder with --calibrate",
         'precision="int8" needs typical inputs: give a folder with calibrate'),
        ("--no-equalisation and --hw-layout: a--b", "equalise=False and hw_layouts: a--b"),
        ("--accuracy-target: '2' is no share", "accuracy_target: '2' is no share"),
    ):
        assert in_words_of_python(text) == expected


def test_a_missing_file_and_a_file_that_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="missing.onnx"):
        compiler.compile(tmp_path / "missing.onnx")
    with pytest.raises(CorruptData, match="model: this is not an ONNX model"):
        compiler.compile(b"not a model")


def test_refuses_to_replace_the_model(tmp_path: Path) -> None:
    copy = tmp_path / "glyphs.onnx"
    copy.write_bytes(GLYPHS.read_bytes())
    with pytest.raises(InvalidArgument, match="is the model itself: choose another output"):
        compiler.compile(copy, copy)
    assert copy.read_bytes() == GLYPHS.read_bytes()


def test_inspects_as_the_program(program: Program, tmp_path: Path) -> None:
    archive = compiler.compile(GLYPHS, tmp_path / "a.rai", precision="bf16", batch=4)
    info = compiler.inspect(archive)
    assert info.json == json.loads(program("inspect", tmp_path / "a.rai", "--json"))
    assert (info.precision, info.batch_size, info.dynamic) == ("bf16", 4, False)
    assert info.inputs[0].cpu.shape == (1, 1, 32, 32)
    assert info.inputs[0].cpu.type == "FLOAT32"
    assert info.operators["Conv"] > 0
    assert compiler.inspect((tmp_path / "a.rai").read_bytes()) == info


def test_evaluates_as_the_program(program: Program, tmp_path: Path) -> None:
    compiler.compile(GLYPHS, tmp_path / "fp32.rai")
    compiler.compile(GLYPHS, tmp_path / "bf16.rai", precision="bf16")
    printed = json.loads(
        program(
            "evaluate", tmp_path / "fp32.rai", "--against", tmp_path / "bf16.rai", "--data", IMAGES,
            "--labels", LABELS, "--scale", PIXELS, "--limit", 200, "--json",
        )
    )
    found = compiler.evaluate(
        tmp_path / "fp32.rai", np.load(IMAGES), np.load(LABELS), scale=PIXELS, limit=200,
        against=[compiler.compile(GLYPHS, precision="bf16")],
    )
    assert (found.samples, found.classes) == (printed["samples"], printed["classes"])
    assert [score.top1 for score in found.models] == [one["top1"] for one in printed["models"]]
    assert [score.top for score in found.models] == [one["top5"] for one in printed["models"]]
    assert found.models[1].cosine_mean == printed["models"][1]["cosine_mean"]
    assert found.models[0].top1 is not None and found.models[0].top1 > 0.95
    with pytest.raises(InvalidArgument, match="evaluate needs labels, or against another model"):
        compiler.evaluate(GLYPHS, IMAGES)


def test_compares_as_the_program(
    program: Program, tmp_path: Path, pictures: npt.NDArray[np.float32]
) -> None:
    np.save(tmp_path / "x.npy", pictures[:1])
    compiler.compile(GLYPHS, tmp_path / "bf16.rai", precision="bf16")
    printed = subprocess.run(
        [os.environ["MILLRACE_PROGRAM"], "compare", str(GLYPHS), str(tmp_path / "bf16.rai"),
         "--input", str(tmp_path / "x.npy"), "--json"],
        check=False, capture_output=True, text=True,
    ).stdout
    found = compiler.compare(GLYPHS, tmp_path / "bf16.rai", pictures[:1])
    expected = json.loads(printed)
    assert [layer.value for layer in found.layers] == [one["value"] for one in expected["layers"]]
    assert [layer.largest for layer in found.layers] == [
        one["largest"] for one in expected["layers"]
    ]
    assert found.first_beyond == expected["first_beyond"]
    same = compiler.compare(GLYPHS, compiler.compile(GLYPHS), pictures[:2])
    assert same.is_within
    assert all(layer.largest == 0 for layer in same.layers)


def test_normalises_pictures_by_name() -> None:
    by_scale = compiler.quantise(GLYPHS, CALIBRATION, scale=PIXELS)
    assert bytes(compiler.quantise(GLYPHS, CALIBRATION, normalize="unit")) == bytes(by_scale)
    assert bytes(compiler.quantise(GLYPHS, CALIBRATION, std=255)) == bytes(by_scale)
    with pytest.raises(ValueError, match="normalize: 'half' is none of"):
        compiler.quantise(GLYPHS, CALIBRATION, normalize="half")
    with pytest.raises(InvalidArgument, match="normalize stands for mean, scale and std"):
        compiler.quantise(GLYPHS, CALIBRATION, normalize="unit", scale=PIXELS)


def test_compares_with_values_of_another_framework(pictures: npt.NDArray[np.float32]) -> None:
    output = compiler.inspect(GLYPHS).outputs[0]
    zeros = np.zeros((1, 40), np.float32)
    found = compiler.compare(GLYPHS, data=pictures[:1], reference={output.name: zeros})
    assert found.first_beyond == output.name
    assert found.not_compared > 0
    with pytest.raises(InvalidArgument, match="either a second model or reference"):
        compiler.compare(GLYPHS, data=pictures[:1])


def test_tunes_in_another_process(tmp_path: Path) -> None:
    archive = compiler.compile(GLYPHS)
    before = dict(os.environ)
    tuning = compiler.tune(archive, tmp_path / "times", runs=1)
    assert tuning.record == str(tmp_path / "times") and tuning.convolutions > 0
    assert tuning.speedup == tuning.usual_ms / tuning.tuned_ms
    assert "conv" in (tmp_path / "times").read_text() and dict(os.environ) == before
    with pytest.raises(ValueError, match="record"):
        compiler.tune(archive)
    with pytest.raises(NotFound, match="none.rai"):
        compiler.tune(tmp_path / "none.rai")
    (tmp_path / "other").write_text("something else\n")
    with pytest.raises(Unsupported, match="cannot be used"):
        compiler.tune(GLYPHS, tmp_path / "other")


def test_profiles_every_step() -> None:
    found = compiler.profile(compiler.compile(GLYPHS), runs=3)
    assert found.mean_frame_us > 0
    assert {"Conv"} <= set(found.by_operation())
    assert all(step.mean_us >= 0 and 0 <= step.share <= 1 for step in found.steps)
    assert sum(step.share for step in found.steps) > 0
    with pytest.raises(ValueError, match="runs: 0 is not between"):
        compiler.profile(GLYPHS, runs=0)


def test_results_are_printed_as_tables(pictures: npt.NDArray[np.float32]) -> None:
    small = compiler.quantise(GLYPHS, CALIBRATION, normalize="unit")
    assert small.report is not None
    profile = compiler.profile(small, runs=1)
    comparison = compiler.compare(GLYPHS, small, pictures[:1])
    evaluation = compiler.evaluate(GLYPHS, CALIBRATION, against=[small], normalize="unit", limit=8)
    for result, rows, column in (
        (small.report, len(small.report.layers), "SNR dB"),
        (profile, len(profile.steps), "kernel"),
        (comparison, len(comparison.layers), "relative"),
        (evaluation, 2, "same top 1"),
    ):
        lines = str(result).splitlines()
        header = next(index for index, line in enumerate(lines) if column in line)
        assert len(lines) - header - 1 == rows
        assert "\n" not in repr(result) and len(repr(result)) < 120
        assert repr(result).startswith(f"<millrace.{type(result).__name__}: ")
    assert small.report.layers[0].name in str(small.report)
    assert f"{profile.mean_frame_us:.1f} us a frame" in str(profile)


def test_reads_pictures_as_the_network_takes_them(tmp_path: Path) -> None:
    images = np.load(IMAGES)[:3]
    archive = compiler.compile(GLYPHS)
    read = compiler.read_inputs(archive, images, normalize="unit")
    assert list(read) == ["image"]
    assert read["image"].dtype == np.float32 and read["image"].shape == (3, 1, 32, 32)
    assert np.allclose(read["image"][:, 0], images / 255, atol=1e-6)
    for index, image in enumerate(images):
        (tmp_path / f"{index}.pgm").write_bytes(b"P5 32 32 255\n" + image.tobytes())
    from_files = compiler.read_inputs(archive, {"image": tmp_path}, normalize="unit")
    assert np.array_equal(from_files["image"], read["image"])
    tensors = compiler.read_inputs(archive, read["image"])
    assert np.array_equal(tensors["image"], read["image"])
    tensors["image"][...] = 0  # the memory is the caller's
    assert read["image"].any()


def test_reads_what_an_input_of_another_type_takes() -> None:
    content = model(
        [Node("Identity", ["x"], ["y"])],
        [Value("x", [1, "width"], INT64)],
        [Value("y", [1, "width"], INT64)],
    )
    read = compiler.read_inputs(content, np.array([[1, 2, 3]]), shapes={"x": (1, 3)})
    assert read["x"].dtype == np.int64 and read["x"].tolist() == [[1, 2, 3]]
    with pytest.raises(InvalidArgument, match="no input 'z'; its inputs are x"):
        compiler.read_inputs(content, {"z": np.array([[1, 2, 3]])}, shapes={"x": (1, 3)})
    with pytest.raises(NotFound, match="missing.png"):
        compiler.read_inputs(GLYPHS, "missing.png")


def test_a_loaded_model_is_no_file_of_a_model() -> None:
    loaded = millrace.load(GLYPHS, "null")
    with pytest.raises(TypeError, match="given by its path.* not as Model"):
        compiler.read_inputs(loaded, IMAGES)  # type: ignore[arg-type]


def test_prints_nothing_and_lets_other_threads_run() -> None:
    """In a process of its own, since the streams of this one belong to pytest."""
    code = f"""
import threading, time
from millrace import compiler
from millrace._errors import CorruptData, InvalidArgument, NotFound, Unsupported
ticks, done = [0], threading.Event()
def tick():
    while not done.is_set():
        ticks[0] += 1
        time.sleep(0.001)
thread = threading.Thread(target=tick)
thread.start()
before = ticks[0]
compiler.quantise({str(GLYPHS)!r}, {str(CALIBRATION)!r}, scale={PIXELS})
assert ticks[0] > before + 5, ticks[0] - before
done.set()
thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
