"""Model.map and Model.amap."""

import asyncio
import itertools

import numpy as np
import pytest

import millrace


@pytest.fixture(scope="module")
def relu(relu_archive):
    return millrace.load(relu_archive)


def numbered(number):
    return np.full((1, 8), number, np.float32)


def numbers(results):
    return [int(result[0, 0]) for result in results]


def test_results_keep_the_order(relu):
    assert numbers(relu.map(map(numbered, range(100)))) == list(range(100))
    assert numbers(relu.map(map(numbered, range(10)), in_flight=1)) == list(range(10))
    assert numbers(relu.map([])) == []


def test_results_as_they_end(relu):
    results = relu.map(map(numbered, range(100)), in_flight=8, ordered=False)
    assert sorted(numbers(results)) == list(range(100))


def test_an_endless_iterable_is_read_as_far_as_needed(relu):
    read = []

    def inputs():
        for number in itertools.count():
            read.append(number)
            yield numbered(number)

    results = relu.map(inputs(), in_flight=4)
    assert numbers(itertools.islice(results, 10)) == list(range(10))
    assert len(read) <= 10 + 4
    results.close()


def test_inputs_by_name_and_a_unit(relu):
    unit = millrace.Unit(relu, depth=4)
    results = list(relu.map(({"x": numbered(n)} for n in range(5)), in_flight=4, unit=unit))
    assert [list(result) for result in results] == [["positive"]] * 5


def test_a_failure_comes_in_its_place_and_cancels_the_rest(relu_archive, monkeypatch):
    monkeypatch.setenv("MILLRACE_FAULTS", "fail=3")
    model = millrace.load(relu_archive)
    unit = millrace.Unit(model, depth=4, auto_reset=True)
    results = model.map(map(numbered, range(100)), in_flight=4, unit=unit)
    assert numbers([next(results), next(results)]) == [0, 1]
    with pytest.raises(millrace.DeviceFailed):
        next(results)
    assert unit.in_flight == 0


def test_a_bound_below_one_is_refused(relu):
    with pytest.raises(millrace.InvalidArgument):
        relu.map([], in_flight=0)


def test_asynchronous_iteration(relu):
    async def source():
        for number in range(50):
            await asyncio.sleep(0)
            yield numbered(number)

    async def main():
        first = [result async for result in relu.amap(source(), in_flight=4)]
        second = [result async for result in relu.amap(map(numbered, range(5)))]
        return numbers(first), numbers(second)

    assert asyncio.run(main()) == (list(range(50)), list(range(5)))
