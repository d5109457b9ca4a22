// Executions read and write the tensors of their sets, in all the ways that programs use.
#include <algorithm>

#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

class ExecuteSets : public NrtModelTest {
 protected:
  NRT_STATUS execute_with(nrt_tensor_set_t* inputs, nrt_tensor_set_t* outputs) {
    return nrt_execute(model_, inputs, outputs);
  }
  static NRT_STATUS add(nrt_tensor_set_t* set, const char* name, nrt_tensor_t* tensor) {
    return nrt_add_tensor_to_tensor_set(set, name, tensor);
  }
};

TEST_F(ExecuteSets, NeedEveryInput) {
  const ScopedSet other("other", input_.get());
  {
    const LogCapture log;
    EXPECT_EQ(execute_with(other.get(), outputs_.get()), NRT_INVALID);
    EXPECT_EQ(log.count("no tensor \"data\""), 1u);
  }
  ASSERT_EQ(add(other.get(), kTinyInput, input_.get()), NRT_SUCCESS);
  EXPECT_EQ(execute_with(other.get(), outputs_.get()), NRT_SUCCESS);
}

TEST_F(ExecuteSets, NeedTensorsThatAreLargeEnough) {
  const ScopedTensor small(kTinyInputBytes - 1), short_output(kTinyOutputBytes - 1);
  const ScopedSet inputs(kTinyInput, small.get()), outputs(kTinyOutput, short_output.get());
  EXPECT_EQ(execute_with(inputs.get(), outputs_.get()), NRT_INVALID);
  EXPECT_EQ(execute_with(inputs_.get(), outputs.get()), NRT_INVALID);
  nrt_tensor_t* empty = nullptr;
  ASSERT_EQ(nrt_tensor_allocate_empty("empty", &empty), NRT_SUCCESS);
  ASSERT_EQ(add(inputs.get(), kTinyInput, empty), NRT_SUCCESS);
  EXPECT_EQ(execute_with(inputs.get(), outputs_.get()), NRT_INVALID);
  nrt_tensor_free(&empty);
}

TEST_F(ExecuteSets, UseTheFirstBytesOfLargerTensors) {
  const LogCapture log(LogLevel::kInfo);
  const ScopedTensor wide(kTinyInputBytes + 40), large(kTinyOutputBytes + 40);
  const ScopedSet inputs(kTinyInput, wide.get()), outputs(kTinyOutput, large.get());
  const std::vector<float> numbers = some_input(4);
  ASSERT_EQ(nrt_tensor_write(wide.get(), numbers.data(), 0, kTinyInputBytes), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_memset(large.get(), 0, 0x7b, kTinyOutputBytes + 40), NRT_SUCCESS);
  ASSERT_EQ(execute_with(inputs.get(), outputs.get()), NRT_SUCCESS);
  std::vector<float> result(kTinyOutputBytes / sizeof(float));
  ASSERT_EQ(nrt_tensor_read(large.get(), result.data(), 0, kTinyOutputBytes), NRT_SUCCESS);
  EXPECT_EQ(result, tiny_reference(numbers));
  std::vector<char> rest(40);
  ASSERT_EQ(nrt_tensor_read(large.get(), rest.data(), kTinyOutputBytes, 40), NRT_SUCCESS);
  EXPECT_EQ(rest, std::vector<char>(40, 0x7b)) << "is not the model's";
  EXPECT_EQ(log.count("INFO tensor \"t\" has"), 2u);
}

TEST_F(ExecuteSets, SayThatATensorIsNotAlignedToItsElements) {
  const LogCapture log;
  const ScopedTensor wide(kTinyInputBytes + 8);
  nrt_tensor_t* odd = nullptr;
  ASSERT_EQ(nrt_tensor_allocate_slice(wide.get(), 1, kTinyInputBytes, "odd", &odd), NRT_SUCCESS);
  const ScopedSet inputs(kTinyInput, odd);
  EXPECT_EQ(execute_with(inputs.get(), outputs_.get()), NRT_INVALID);
  EXPECT_EQ(log.count("not aligned to its 4 byte elements"), 1u);
  nrt_tensor_free(&odd);
}

TEST_F(ExecuteSets, MayLeaveOutOutputsWhichIsWarnedOfOnce) {
  const LogCapture log(LogLevel::kWarning);
  const ScopedSet none("other", output_.get());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(execute_with(inputs_.get(), none.get()), NRT_SUCCESS);
  EXPECT_EQ(log.count(kTinyOutput), 1u);
  EXPECT_EQ(nrt_tensor_check_output_completion(output_.get(), 0, 1), NRT_TIMEOUT);
}

TEST_F(ExecuteSets, AreNoneOnceDestroyedOrNull) {
  ScopedSet dead(kTinyInput, input_.get());
  nrt_tensor_set_t* const handle = dead.get();
  nrt_destroy_tensor_set(dead.address());
  EXPECT_EQ(dead.get(), nullptr);
  EXPECT_EQ(execute_with(handle, outputs_.get()), NRT_INVALID_HANDLE);
  EXPECT_EQ(execute_with(nullptr, outputs_.get()), NRT_INVALID_HANDLE);
  EXPECT_EQ(execute_with(inputs_.get(), nullptr), NRT_INVALID_HANDLE);
}

TEST_F(ExecuteSets, RefuseTensorsThatWereFreed) {
  EXPECT_EQ(execute(), NRT_SUCCESS);
  nrt_tensor_free(input_.address());
  EXPECT_EQ(execute(), NRT_INVALID_HANDLE);
  EXPECT_EQ(schedule(nullptr, nullptr), NRT_INVALID_HANDLE);
}

TEST_F(ExecuteSets, MayBeReplacedTensorByTensor) {
  const ScopedTensor other(kTinyInputBytes);
  ASSERT_EQ(nrt_tensor_write(other.get(), some_input(8).data(), 0, kTinyInputBytes), NRT_SUCCESS);
  write_input(some_input(2));
  ASSERT_EQ(execute(), NRT_SUCCESS);
  ASSERT_EQ(add(inputs_.get(), kTinyInput, other.get()), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(read_output(), tiny_reference(some_input(8)));
}

TEST_F(ExecuteSets, UseAttachedBuffersWhereTheyAre) {
  EXPECT_EQ(execute(), NRT_SUCCESS);
  for (int round = 0; round < 2; ++round) {
    std::vector<float> x = some_input(round), y(kTinyOutputBytes / sizeof(float));
    ASSERT_EQ(nrt_tensor_attach_buffer(input_.get(), x.data(), kTinyInputBytes), NRT_SUCCESS);
    ASSERT_EQ(nrt_tensor_attach_buffer(output_.get(), y.data(), kTinyOutputBytes), NRT_SUCCESS);
    ASSERT_EQ(execute(), NRT_SUCCESS);
    EXPECT_EQ(y, tiny_reference(x));
  }
}

TEST_F(ExecuteSets, MayHaveTensorsOfTheHost) {
  nrt_tensor_t* host = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, kTinyInputBytes, "h", &host),
            NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_write(host, some_input(6).data(), 0, kTinyInputBytes), NRT_SUCCESS);
  ASSERT_EQ(execute_with(ScopedSet(kTinyInput, host).get(), outputs_.get()), NRT_SUCCESS);
  EXPECT_EQ(read_output(), tiny_reference(some_input(6)));
  nrt_tensor_free(&host);
}

TEST_F(ExecuteSets, MayChangeBeforeEveryExecution) {
  for (int round = 0; round < 2000; ++round) {
    ASSERT_EQ(add(inputs_.get(), kTinyInput, input_.get()), NRT_SUCCESS);
    ASSERT_EQ(execute(), NRT_SUCCESS);
  }
}

TEST_F(ExecuteSets, MayTakeTurns) {
  const ScopedTensor other_input(kTinyInputBytes), other_output(kTinyOutputBytes);
  const ScopedSet other_inputs(kTinyInput, other_input.get());
  const ScopedSet other_outputs(kTinyOutput, other_output.get());
  nrta_seq_t sequence = 0;
  for (int round = 0; round < 20; ++round) {
    const bool odd = round % 2 == 1;
    nrt_tensor_t* const input = odd ? other_input.get() : input_.get();
    nrt_tensor_t* const output = odd ? other_output.get() : output_.get();
    ASSERT_EQ(nrt_tensor_write(input, some_input(round).data(), 0, kTinyInputBytes), NRT_SUCCESS);
    ASSERT_EQ(nrta_execute_schedule(model_, odd ? other_inputs.get() : inputs_.get(),
                                    odd ? other_outputs.get() : outputs_.get(), 0,
                                    static_cast<NRT_STATUS*>(nullptr), &sequence),
              NRT_SUCCESS);
    await(sequence);
    std::vector<float> result(kTinyOutputBytes / sizeof(float));
    ASSERT_EQ(nrt_tensor_read(output, result.data(), 0, kTinyOutputBytes), NRT_SUCCESS);
    ASSERT_EQ(result, tiny_reference(some_input(round)));
  }
}

TEST_F(ExecuteSets, MayHaveOneTensorAsInputAndOutput) {
  // One piece of memory for both, in sets of one request after the other.
  std::vector<float> state(kTinyOutputBytes / sizeof(float));
  std::ranges::copy(some_input(4), state.begin());
  nrt_tensor_t *input = nullptr, *output = nullptr;
  for (nrt_tensor_t** tensor : {&input, &output})
    ASSERT_EQ(nrt_tensor_allocate_empty("state", tensor), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_attach_buffer(input, state.data(), kTinyInputBytes), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_attach_buffer(output, state.data(), kTinyOutputBytes), NRT_SUCCESS);
  const ScopedSet inputs(kTinyInput, input), outputs(kTinyOutput, output);
  std::vector<float> expected = some_input(4);
  nrta_seq_t sequence = 0;
  for (int round = 0; round < 2; ++round) {
    ASSERT_EQ(nrta_execute_schedule(model_, inputs.get(), outputs.get(), 0,
                                    static_cast<NRT_STATUS*>(nullptr), &sequence),
              NRT_SUCCESS);
    expected.resize(some_input(4).size());
    expected = tiny_reference(expected);
  }
  await(sequence);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(state[i], expected[i], 1e-4) << i;
  nrt_tensor_free(&input);
  nrt_tensor_free(&output);
}

TEST_F(ExecuteSets, OfABatchHoldItsFramesBehindEachOther) {
  constexpr uint32_t kFrames = 3;
  TinyModelOptions options;
  options.batch_size = kFrames;
  nrt_model_t* const model = load(0, options);
  const ScopedTensor input(kFrames * kTinyInputBytes), output(kFrames * kTinyOutputBytes);
  const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
  for (uint32_t frame = 0; frame < kFrames; ++frame)
    ASSERT_EQ(nrt_tensor_write(input.get(), some_input(static_cast<int>(frame)).data(),
                               frame * kTinyInputBytes, kTinyInputBytes),
              NRT_SUCCESS);
  EXPECT_EQ(nrt_execute(model, inputs_.get(), outputs.get()), NRT_INVALID);
  ASSERT_EQ(nrt_execute(model, inputs.get(), outputs.get()), NRT_SUCCESS);
  for (uint32_t frame = 0; frame < kFrames; ++frame) {
    std::vector<float> result(kTinyOutputBytes / sizeof(float));
    ASSERT_EQ(
        nrt_tensor_read(output.get(), result.data(), frame * kTinyOutputBytes, kTinyOutputBytes),
        NRT_SUCCESS);
    EXPECT_EQ(result, tiny_reference(some_input(static_cast<int>(frame))));
  }
}

TEST_F(ExecuteSets, OfSeveralThreadsServeOneModel) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      const ScopedTensor input(kTinyInputBytes), output(kTinyOutputBytes);
      const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
      std::vector<float> result(kTinyOutputBytes / sizeof(float));
      for (int round = 0; round < 30; ++round) {
        const std::vector<float> numbers = some_input(thread * 30 + round);
        EXPECT_EQ(nrt_tensor_write(input.get(), numbers.data(), 0, kTinyInputBytes), NRT_SUCCESS);
        EXPECT_EQ(execute_with(inputs.get(), outputs.get()), NRT_SUCCESS);
        EXPECT_EQ(nrt_tensor_read(output.get(), result.data(), 0, kTinyOutputBytes), NRT_SUCCESS);
        EXPECT_EQ(result, tiny_reference(numbers));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace millrace::test
