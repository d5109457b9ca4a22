"""Running a model on arrays: forms of arguments, conversions, shapes, frames, views."""

import array

import numpy as np
import pytest

import millrace
from conftest import ROOT, compiled
from tiny_onnx import INT64, UINT8, Node, Value, model

SHAPE = (1, 4, 2, 3)


@pytest.fixture(scope="module")
def add(add_archive):
    return millrace.load(add_archive)


@pytest.fixture(scope="module")
def relu(relu_archive):
    return millrace.load(relu_archive)


@pytest.fixture
def pair():
    left = np.arange(24, dtype=np.float32).reshape(SHAPE)
    return left, left * 10


def test_positional_arrays_give_the_output(add, pair):
    result = add(*pair)
    assert result.dtype == np.float32 and result.shape == SHAPE
    assert np.array_equal(result, pair[0] + pair[1])


def test_arrays_by_name_give_a_dict(add, pair):
    result = add.run({"right": pair[1], "left": pair[0]})
    assert list(result) == ["sum"]
    assert np.array_equal(result["sum"], pair[0] + pair[1])


def test_several_outputs_are_a_tuple(two_outputs_archive):
    model = millrace.load(two_outputs_archive)
    x = np.array([[-1, 2, -3, 4, -5, 6, -7, 8]], np.float32)
    positive, opposite = model(x)
    assert np.array_equal(positive, np.maximum(x, 0))
    assert np.array_equal(opposite, -x)
    assert list(model.run({"x": x}, ["opposite"])) == ["opposite"]


def test_outputs_are_written_to_the_callers_arrays(add, pair):
    memory = np.zeros(SHAPE, np.float32)
    assert add(*pair, outputs=memory) is memory
    assert np.array_equal(memory, pair[0] + pair[1])
    assert add.run({"left": pair[0], "right": pair[1]}, {"sum": memory})["sum"] is memory


def test_some_outputs_may_be_allocated(two_outputs_archive):
    model = millrace.load(two_outputs_archive)
    memory = np.zeros((1, 8), np.float32)
    x = -np.ones((1, 8), np.float32)
    positive, opposite = model(x, outputs=[None, memory])
    assert opposite is memory and np.array_equal(memory, -x)
    assert not positive.any()


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "uint8", "bool"])
def test_an_array_of_another_dtype_is_refused(add, pair, dtype):
    message = f'"left" takes float32, and the array is {dtype}'
    with pytest.raises(millrace.InvalidArgument, match=message):
        add(pair[0].astype(dtype), pair[1])


def test_what_has_a_dtype_without_being_an_array_is_refused_alike(relu):
    with pytest.raises(millrace.InvalidArgument, match="takes float32, and the array is float64"):
        relu(array.array("d", [0] * 8))

    class Frame:
        def __array__(self, dtype=None):
            return np.zeros((1, 8), dtype or np.int64)

    with pytest.raises(millrace.InvalidArgument, match="takes float32, and the array is int64"):
        relu(Frame())


def test_lists_of_numbers_are_converted(add, pair):
    job = add.submit((pair[0].tolist(), pair[1].astype(int).tolist()))
    assert np.array_equal(job.result(), pair[0] + pair[1])
    assert job.copied_inputs == ("left", "right")


def test_arrays_that_fit_are_not_copied(add, pair):
    job = add.submit(pair, strict_zero_copy=True)
    assert np.array_equal(job.result(), pair[0] + pair[1])
    assert job.copied_inputs == () and job.conversions == (0, 0)


@pytest.mark.parametrize(
    "change, reason",
    [
        (lambda x: x.astype(">f4"), "byte order"),
        (lambda x: np.asfortranarray(x), "not contiguous"),
        (lambda x: np.repeat(x, 2, axis=3)[..., ::2], "not contiguous"),
        (lambda x: x.tolist(), "no memory of its own"),
    ],
)
def test_strict_jobs_refuse_copies_and_name_the_tensor(add, pair, change, reason):
    changed = change(pair[0])
    assert np.array_equal(add(changed, pair[1]), pair[0] + pair[1])
    with pytest.raises(millrace.InvalidArgument, match=f'"left" would be copied.*{reason}'):
        add(changed, pair[1], strict_zero_copy=True)


def test_unaligned_memory_is_copied(add, pair):
    raw = bytearray(pair[0].nbytes + 1)
    unaligned = np.frombuffer(raw, np.uint8)[1:].view(np.float32).reshape(SHAPE)
    unaligned[...] = pair[0]
    job = add.submit((unaligned, pair[1]))
    assert np.array_equal(job.result(), pair[0] + pair[1])
    assert job.copied_inputs == ("left",)


@pytest.fixture(scope="module")
def same_archive(folder):
    """Inputs "long" (INT64) and "byte" (UINT8) of two elements, which are also its outputs."""
    types = {"long": INT64, "byte": UINT8}
    return compiled(
        folder,
        "same",
        model(
            [Node("Identity", [name], [f"{name}_out"]) for name in types],
            [Value(name, [2], type) for name, type in types.items()],
            [Value(f"{name}_out", [2], type) for name, type in types.items()],
        ),
    )


@pytest.mark.parametrize("values", [[1, 255], (True, False), [np.uint8(3), np.int32(4)], []])
def test_lists_of_integers_fit_any_type_that_holds_them(same_archive, values):
    same = millrace.load(same_archive)
    if not values:
        with pytest.raises(millrace.InvalidArgument, match="has the shape"):
            same(values, values)
        return
    for result, dtype in zip(same(values, values), (np.int64, np.uint8)):
        assert result.dtype == dtype and result.tolist() == [int(value) for value in values]


@pytest.mark.parametrize(
    "values, reason",
    [
        ([1.5, 2.0], '"long" takes int64, and NumPy makes float64 of the list'),
        ([np.float32(1), 2], '"long" takes int64, and NumPy makes float64 of the list'),
        (["1", "2"], '"long" takes int64, and NumPy makes <U1 of the list'),
        ([None, None], '"long" takes int64, and NumPy makes object of the list'),
        ([[1], [2, 3]], '"long" cannot be made of the list'),
        ([2**63, 2**63], '"long" takes int64, which does not hold the 9223372036854775808'),
        ([1, 256], '"byte" takes uint8, which does not hold the 256'),
        ([-1, 1], '"byte" takes uint8, which does not hold the -1'),
    ],
)
def test_lists_whose_numbers_would_change_are_refused(same_archive, values, reason):
    with pytest.raises(millrace.InvalidArgument, match=reason):
        millrace.load(same_archive)(values, values)


def test_a_number_is_converted_as_a_list_is(open_scalar_archive):
    doubled = millrace.load(open_scalar_archive)
    for number in (3, 3.0, np.float64(3), np.int8(3)):
        assert doubled(number) == 6
    with pytest.raises(millrace.InvalidArgument, match="takes float32, and the array is float64"):
        doubled(np.array(3.0))


@pytest.fixture(scope="module")
def open_scalar_archive(folder):
    """doubled = x + x, of FLOAT32 scalars."""
    nodes = [Node("Add", ["x", "x"], ["doubled"])]
    return compiled(folder, "scalar", model(nodes, [Value("x", [])], [Value("doubled", [])]))


def test_a_wrong_shape_names_both(add, pair):
    with pytest.raises(millrace.InvalidArgument) as caught:
        add(pair[0][:, :2], pair[1])
    assert '"left" has the shape (1, 4, 2, 3), not (1, 2, 2, 3)' in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_a_wrong_number_of_inputs_names_them(add, pair):
    with pytest.raises(millrace.InvalidArgument, match='2 inputs \\("left", "right"\\), got 1'):
        add(pair[0])


def test_wrong_names_are_told(add, pair):
    with pytest.raises(millrace.InvalidArgument, match='"right" is missing'):
        add.run({"left": pair[0]})
    with pytest.raises(millrace.InvalidArgument) as caught:
        add.run({"left": pair[0], "right": pair[1], "third": pair[0]})
    assert str(caught.value) == (
        "the model has no input 'third'; its inputs are \"left\", \"right\""
    )
    with pytest.raises(millrace.InvalidArgument) as caught:
        add.submit({"left": pair[0], "rihgt": pair[1], 3: pair[0]})
    assert str(caught.value) == (
        'input "right" is missing, and the model has no input \'rihgt\' '
        '(did you mean "right"?), 3; its inputs are "left", "right"'
    )
    with pytest.raises(millrace.InvalidArgument, match="no output 'total'; its outputs are"):
        add.run({"left": pair[0], "right": pair[1]}, ["total"])
    with pytest.raises(millrace.InvalidArgument, match="no output 'sums' .did you mean \"sum\"?"):
        add.run({"left": pair[0], "right": pair[1]}, {"sums": pair[0]})


def test_inputs_by_name_are_no_keyword_arguments(add, pair):
    with pytest.raises(TypeError, match="inputs by name are given as run"):
        add(left=pair[0], right=pair[1])


def test_unsuitable_outputs_are_refused(add, pair):
    for memory, reason in [
        (np.zeros(SHAPE, np.float64), "dtype differs"),
        (np.zeros(SHAPE[::-1], np.float32).T, "not contiguous"),
        (np.zeros((1, 4, 2, 4), np.float32), "has the shape"),
        (np.frombuffer(bytes(96), np.float32).reshape(SHAPE), "read-only"),
        ([[0.0]], "must be bound to a numpy.ndarray"),
    ]:
        with pytest.raises(millrace.InvalidArgument, match=reason):
            add(*pair, outputs=(memory,))


def test_an_unknown_option_is_a_type_error(add, pair):
    with pytest.raises(TypeError, match="'timeout'"):
        add(*pair, timeout=1)
    with pytest.raises(millrace.InvalidArgument, match="view"):
        add(*pair, view="npu")
    with pytest.raises(TypeError, match="millrace.Unit"):
        add(*pair, unit="first")


def test_what_has_the_buffer_protocol_is_not_copied(relu):
    numbers = array.array("f", [-1, 2, -3, 4, -5, 6, -7, 8])
    view = memoryview(numbers).cast("B").cast("f", [1, 8])
    assert relu(view, strict_zero_copy=True).tolist() == [[0, 2, 0, 4, 0, 6, 0, 8]]


def test_what_speaks_dlpack_is_not_copied(relu):
    class Tensor:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    x = np.array([[-1, 2, -3, 4, -5, 6, -7, 8]], np.float32)
    assert np.array_equal(relu(Tensor(x), strict_zero_copy=True), np.maximum(x, 0))
    assert np.array_equal(np.from_dlpack(relu(x)), np.maximum(x, 0))


def test_frames_lie_along_the_first_dimension(batch_archive):
    model = millrace.load(batch_archive)
    assert model.batch_size == 4
    for frames in (1, 3, 4):
        x = np.arange(-8, frames * 8 - 8, dtype=np.float32).reshape(frames, 8)
        assert np.array_equal(model(x), np.maximum(x, 0))
    with pytest.raises(millrace.InvalidArgument, match="1 to 4 frames"):
        model(np.zeros((5, 8), np.float32))


def test_the_hw_view_is_used_as_it_is(add, pair):
    """Element (n, c, h, w) of HCWNC4 is at [h, c // 4, w, n, c % 4]."""
    view = add.inputs[0].hw
    assert view.layout == "HCWNC4" or pytest.skip(f"the HW view is {view.layout}")
    in_hw = [np.ascontiguousarray(x.transpose(2, 3, 0, 1).reshape(2, 1, 3, 1, 4)) for x in pair]
    job = add.submit(in_hw, view="hw", strict_zero_copy=True)
    expected = (pair[0] + pair[1]).transpose(2, 3, 0, 1).reshape(2, 1, 3, 1, 4)
    assert np.array_equal(job.result(), expected)


def test_converted_views_are_counted(bf16_archive):
    model = millrace.load(bf16_archive)
    x = np.ones((1, 16, 8, 8), np.float32)
    job = model.submit(x)
    job.wait()
    assert job.conversions == (2, x.nbytes + 16 * 6 * 6 * 4)
    with pytest.raises(millrace.InvalidArgument, match='"x"'):
        model.submit(x, strict_zero_copy=True)


def test_the_null_device_leaves_outputs_unchanged(add_archive, pair):
    model = millrace.load(add_archive, device="null")
    memory = np.full(SHAPE, 7, np.float32)
    assert (model(*pair, outputs=memory) == 7).all()


def test_the_demo_reads_its_pictures(glyphs_archive):
    model = millrace.load(glyphs_archive)
    pictures = np.load(ROOT / "models/glyphs/heldback_images.npy")[:100]
    labels = np.load(ROOT / "models/glyphs/heldback_labels.npy")[:100]
    shape = model.inputs[0].shape
    read = [
        model(picture.reshape(shape).astype(np.float32) / np.float32(255)).argmax()
        for picture in pictures
    ]
    assert np.mean(read == labels) > 0.9
