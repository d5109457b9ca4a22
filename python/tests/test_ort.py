"""The session shaped as onnxruntime's."""

import threading

import numpy as np
import pytest

import millrace
import millrace.ort as ort

SHAPE = (1, 4, 2, 3)


@pytest.fixture(scope="module")
def session(add_archive):
    return ort.InferenceSession(str(add_archive), providers=["CPUExecutionProvider"])


@pytest.fixture
def pair():
    left = np.arange(24, dtype=np.float32).reshape(SHAPE)
    return left, left * 10


def test_run_returns_a_list(session, pair):
    feeds = {"left": pair[0], "right": pair[1]}
    (total,) = session.run(None, feeds)
    assert np.array_equal(total, pair[0] + pair[1])
    assert np.array_equal(session.run(["sum"], feeds)[0], total)


def test_outputs_come_in_the_order_asked_for(two_outputs_archive):
    session = ort.InferenceSession(two_outputs_archive.read_bytes())
    x = np.ones((1, 8), np.float32)
    opposite, positive = session.run(["opposite", "positive"], {"x": x})
    assert np.array_equal(opposite, -x) and np.array_equal(positive, x)


def test_tensors_are_described(session, open_archive):
    left, right = session.get_inputs()
    assert (left.name, left.type, left.shape) == ("left", "tensor(float)", [1, 4, 2, 3])
    assert [output.name for output in session.get_outputs()] == ["sum"]
    assert ort.InferenceSession(open_archive).get_inputs()[0].shape == [None, 4]
    assert session.get_modelmeta().graph_name == session.model.name
    assert "CPUExecutionProvider" in session.get_providers()


def test_options_of_other_programs_are_taken(add_archive, pair):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    options.enable_mem_pattern = False
    ort.set_default_logger_severity(3)
    session = ort.InferenceSession(add_archive, options, providers=ort.get_all_providers())
    (total,) = session.run(None, {"left": pair[0], "right": pair[1]})
    assert np.array_equal(total, pair[0] + pair[1])


def test_run_async_calls_back(session, pair):
    ended = threading.Event()
    seen = []

    def callback(outputs, user_data, error):
        seen.append((outputs, user_data, error))
        ended.set()

    session.run_async(None, {"left": pair[0], "right": pair[1]}, callback, "mine")
    assert ended.wait(30)
    (outputs, user_data, error) = seen[0]
    assert np.array_equal(outputs[0], pair[0] + pair[1])
    assert (user_data, error) == ("mine", "")


def test_run_async_refuses_an_output_that_the_model_lacks(session, pair):
    with pytest.raises(ValueError, match="no output"):
        session.run_async(["mean"], {"left": pair[0], "right": pair[1]}, print, None)


def test_run_async_reports_failures(add_archive, pair, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "fail=1")
    session = ort.InferenceSession(add_archive)
    ended = threading.Event()
    seen = []

    def callback(outputs, user_data, error):
        seen.append((outputs, error))
        ended.set()

    session.run_async(["sum"], {"left": pair[0], "right": pair[1]}, callback, None)
    assert ended.wait(30)
    assert seen[0][0] == [] and seen[0][1]


def test_bindings(session, pair):
    memory = np.zeros(SHAPE, np.float32)
    binding = session.io_binding()
    binding.bind_cpu_input("left", pair[0])
    binding.bind_input("right", "cpu", 0, np.float32, SHAPE, pair[1].ctypes.data)
    binding.bind_output("sum", "cpu", 0, np.float32, SHAPE, memory.ctypes.data)
    session.run_with_iobinding(binding)
    assert np.array_equal(memory, pair[0] + pair[1])
    assert np.array_equal(binding.get_outputs()[0].numpy(), memory)
    (copy,) = binding.copy_outputs_to_cpu()
    memory[...] = 0
    assert np.array_equal(copy, pair[0] + pair[1])
    binding.clear_binding_outputs()
    binding.bind_output("sum")
    session.run_with_iobinding(binding)
    assert np.array_equal(binding.copy_outputs_to_cpu()[0], pair[0] + pair[1])


def test_ort_values(session, pair):
    left = ort.OrtValue.ortvalue_from_numpy(pair[0])
    assert left.numpy() is pair[0] and left.shape() == list(SHAPE)
    assert left.data_type() == "tensor(float)" and left.device_name() == "cpu"
    total = ort.OrtValue.ortvalue_from_shape_and_type(SHAPE, np.float32)
    binding = session.io_binding()
    binding.bind_ortvalue_input("left", left)
    binding.bind_cpu_input("right", pair[1])
    binding.bind_ortvalue_output("sum", total)
    session.run_with_iobinding(binding)
    assert np.array_equal(total.numpy(), pair[0] + pair[1])
    values = session.run_with_ort_values(None, {"left": left, "right": left})
    assert np.array_equal(values[0].numpy(), 2 * pair[0])
    with pytest.raises(millrace.Unsupported):
        ort.OrtValue.ortvalue_from_numpy(pair[0], "cuda")


def test_options(add_archive, pair):
    options = ort.SessionOptions()
    options.device = "null"
    options.intra_op_num_threads = 1
    options.graph_optimization_level = 99
    options.add_session_config_entry("session.something", "1")
    session = ort.InferenceSession(add_archive, options)
    assert session.model.device.name == "null"
    assert session.get_session_options() is options
    run_options = ort.RunOptions()
    run_options.deadline = 60
    assert session.run(None, {"left": pair[0], "right": pair[1]}, run_options)[0].shape == SHAPE


def test_terminate_cancels_runs_until_it_is_reset(session, pair):
    feeds = {"left": pair[0], "right": pair[1]}
    options = ort.RunOptions()
    assert not options.terminate
    options.terminate = True
    with pytest.raises(millrace.Cancelled, match="terminate"):
        session.run(None, feeds, options)
    with pytest.raises(millrace.Cancelled, match="terminate"):
        session.run_async(None, feeds, lambda *_: None, None, options)
    session.run(None, feeds)
    options.terminate = False
    assert np.array_equal(session.run(None, feeds, options)[0], pair[0] + pair[1])


def test_terminate_reaches_runs_that_wait_and_that_run(add_archive, pair, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "slow:jobs=1,for=60s")
    options = ort.SessionOptions()
    options.device = "null"
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(add_archive, options)
    feeds = {"left": pair[0], "right": pair[1]}
    run_options = ort.RunOptions()
    ended = threading.Semaphore(0)
    errors = []

    def note(outputs, data, error):
        errors.append((outputs, error))
        ended.release()

    for _ in range(2):  # the only lane runs the first, and the second waits for it
        session.run_async(None, feeds, note, None, run_options)
    run_options.terminate = True
    for _ in range(2):
        assert ended.acquire(timeout=30)
    assert all(outputs == [] and "cancelled" in error for outputs, error in errors)


def test_foreign_providers_are_refused(add_archive):
    with pytest.raises(millrace.InvalidArgument, match="CUDAExecutionProvider"):
        ort.InferenceSession(add_archive, providers=["CUDAExecutionProvider"])
    ort.InferenceSession(
        add_archive, providers=[("CUDAExecutionProvider", {}), "CPUExecutionProvider"]
    )
