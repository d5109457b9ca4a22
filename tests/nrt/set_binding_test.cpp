// What nrt_execute makes of the tensors in the sets.
#include <array>

#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

class SetBinding : public NrtModelTest {
 protected:
  NRT_STATUS execute_with(const ScopedSet& inputs, const ScopedSet& outputs) {
    return nrt_execute(model_, inputs.get(), outputs.get());
  }
};

TEST_F(SetBinding, InputsMustBeThereWithTheirSize) {
  const ScopedSet misnamed("dat", input_.get()), misfit(kTinyInput, output_.get());
  {
    const LogCapture log;
    EXPECT_EQ(execute_with(misnamed, outputs_), NRT_INVALID);
    EXPECT_EQ(log.count("no tensor \"data\""), 1u);
  }
  EXPECT_EQ(execute_with(misfit, outputs_), NRT_INVALID);
  EXPECT_EQ(execute_with(inputs_, ScopedSet(kTinyOutput, input_.get())), NRT_INVALID);
  nrt_tensor_t* empty = nullptr;
  ASSERT_EQ(nrt_tensor_allocate_empty("e", &empty), NRT_SUCCESS);
  EXPECT_EQ(execute_with(ScopedSet(kTinyInput, empty), outputs_), NRT_INVALID);
  nrt_tensor_free(&empty);
}

TEST_F(SetBinding, MissingOutputsAreDroppedWithOneWarning) {
  const ScopedSet nothing("unknown", output_.get());  // a name that the model does not have
  const LogCapture log;
  EXPECT_EQ(execute_with(inputs_, nothing), NRT_SUCCESS);
  EXPECT_EQ(execute_with(inputs_, nothing), NRT_SUCCESS);
  EXPECT_EQ(log.count("output \"probs\" of model \"tiny\" is in no output set"), 1u);
  EXPECT_EQ(nrt_tensor_check_output_completion(output_.get(), 0, 1), NRT_TIMEOUT);
}

TEST_F(SetBinding, DeadHandlesAreRefused) {
  ScopedTensor gone(kTinyInputBytes);
  const ScopedSet inputs(kTinyInput, gone.get());
  nrt_tensor_free(gone.address());
  EXPECT_EQ(execute_with(inputs, outputs_), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_execute(nullptr, inputs_.get(), outputs_.get()), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_execute(model_, nullptr, outputs_.get()), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_execute(model_, inputs_.get(), nullptr), NRT_INVALID_HANDLE);
}

TEST_F(SetBinding, AttachedBuffersAreUsedWhereTheyAre) {
  std::vector<float> x = some_input(2), y(kTinyOutputBytes / sizeof(float));
  ASSERT_EQ(nrt_tensor_attach_buffer(input_.get(), x.data(), kTinyInputBytes), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_attach_buffer(output_.get(), y.data(), kTinyOutputBytes), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(y, tiny_reference(x));
}

TEST_F(SetBinding, TensorsOfTheHostWillDo) {
  nrt_tensor_t* host = nullptr;
  ASSERT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, -1, kTinyInputBytes, "h", &host),
            NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_write(host, some_input(6).data(), 0, kTinyInputBytes), NRT_SUCCESS);
  ASSERT_EQ(execute_with(ScopedSet(kTinyInput, host), outputs_), NRT_SUCCESS);
  EXPECT_EQ(read_output(), tiny_reference(some_input(6)));
  nrt_tensor_free(&host);
}

TEST_F(SetBinding, ManyThreadsExecuteOneModel) {
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 4; ++seed)
    threads.emplace_back([this, seed] {
      const std::vector<float> x = some_input(seed);
      std::vector<float> y(kTinyOutputBytes / sizeof(float));
      const ScopedTensor input(kTinyInputBytes), output(kTinyOutputBytes);
      const ScopedSet inputs(kTinyInput, input.get()), outputs(kTinyOutput, output.get());
      for (int round = 0; round < 20; ++round) {
        ASSERT_EQ(nrt_tensor_write(input.get(), x.data(), 0, kTinyInputBytes), NRT_SUCCESS);
        ASSERT_EQ(execute_with(inputs, outputs), NRT_SUCCESS);
        ASSERT_EQ(nrt_tensor_read(output.get(), y.data(), 0, kTinyOutputBytes), NRT_SUCCESS);
        ASSERT_EQ(y, tiny_reference(x));
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace millrace::test
