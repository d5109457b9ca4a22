"""Buffers: memory that is shared with devices and other processes."""

import os

import numpy as np
import pytest

import millrace


def test_a_buffer_is_memory_of_zeros():
    buffer = millrace.Buffer(4096)
    assert len(buffer) == buffer.size == 4096
    assert buffer.writable and buffer.device_address % 4096 == 0
    assert not np.frombuffer(buffer, np.uint8).any()
    memoryview(buffer)[3] = 7
    assert buffer.array(np.uint8)[3] == 7


def test_an_array_keeps_the_memory_alive():
    array = millrace.Buffer(64).array(np.float32, (4, 4))
    array[...] = 3
    assert array.sum() == 48


def test_buffers_are_bound_without_a_copy(add_archive):
    model = millrace.load(add_archive)
    left, right, total = (millrace.Buffer(96) for _ in range(3))
    left.array(np.float32)[:] = np.arange(24)
    right.array(np.float32)[:] = 1
    job = model.submit((left, right), total, strict_zero_copy=True)
    assert job.result() is total
    assert np.array_equal(total.array(np.float32), np.arange(24) + 1)


def test_a_buffer_holds_the_frames_that_a_later_array_has(batch_add_archive):
    model = millrace.load(batch_add_archive)
    right = np.ones((3, 4, 2, 3), np.float32)
    assert model(millrace.Buffer(3 * 96), right).shape == (3, 4, 2, 3)
    with pytest.raises(millrace.InvalidArgument, match='"left" takes 288 bytes, the buffer has 96'):
        model(millrace.Buffer(96), right)


def test_a_buffer_that_is_too_small_is_refused(add_archive):
    model = millrace.load(add_archive)
    with pytest.raises(millrace.InvalidArgument, match='"left" takes 96 bytes, the buffer has 95'):
        model(millrace.Buffer(95), millrace.Buffer(96))


def test_a_descriptor_shares_the_memory():
    buffer = millrace.Buffer(4096)
    fd = buffer.export_fd()
    try:
        other = millrace.Buffer.import_fd(fd, 4096)
    finally:
        os.close(fd)
    other.array(np.uint8)[10] = 5
    assert buffer.array(np.uint8)[10] == 5
    buffer.sync_for_device()
    buffer.sync_for_host()


def test_slices_share_the_memory():
    buffer = millrace.Buffer(100)
    part = buffer.slice(10, 20)
    part.array(np.uint8)[0] = 9
    assert buffer.array(np.uint8)[10] == 9
    with pytest.raises(millrace.Unsupported):
        part.export_fd()
    with pytest.raises(millrace.InvalidArgument):
        buffer.slice(90, 20)


def test_dlpack_shares_the_memory():
    buffer = millrace.Buffer(16)
    array = np.from_dlpack(buffer)
    buffer.array(np.uint8)[2] = 4
    assert array[2] == 4


def test_wrong_sizes_and_sources_are_refused():
    with pytest.raises(millrace.InvalidArgument):
        millrace.Buffer(0)
    with pytest.raises(millrace.InvalidArgument, match="source"):
        millrace.Buffer(10, source="disk")
