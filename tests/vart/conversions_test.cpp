// Tests what the boundary converts, as a runner's user learns of it, and how that is forbidden.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "tests/support/log_capture.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

// A BF16 model, whose CPU views (FLOAT32) the software NPU does not take.
class Conversions : public RunnerTest {
 protected:
  Conversions() { use_device("cpu"); }
  ~Conversions() override { unsetenv("MILLRACE_STRICT_ZERO_COPY"); }

  std::shared_ptr<Runner> make(const Options& options = {}, uint32_t batch_size = 1) {
    return make_runner(options, {.batch_size = batch_size, .precision = graph::Precision::kBf16});
  }
  static size_t property(const Runner& runner, const char* key) {
    return std::any_cast<size_t>(runner.get_property(key));
  }
  static size_t tensors(const Runner& runner) { return property(runner, "converted_tensors"); }
  static size_t bytes(const Runner& runner) { return property(runner, "converted_bytes"); }
  static size_t bytes_of(const Runner& runner, TensorDirection direction) {
    return runner.get_tensors_info(direction, TensorType::CPU)[0].size_in_bytes;
  }
};

TEST_F(Conversions, HwViewsAreUsedInPlace) {
  const auto runner = make();
  const Tensors in = inputs(*runner);
  Tensors out = outputs(*runner);
  ASSERT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  ASSERT_EQ(runner->wait(runner->execute_async(in, out), kForever), StatusCode::SUCCESS);
  EXPECT_EQ(tensors(*runner), 0u);
  EXPECT_EQ(bytes(*runner), 0u);
}

TEST_F(Conversions, CpuViewsCountWithTheirBytesFrameByFrame) {
  const auto runner = make({}, 3);
  const size_t in_bytes = bytes_of(*runner, TensorDirection::INPUT);
  const size_t out_bytes = bytes_of(*runner, TensorDirection::OUTPUT);
  ASSERT_EQ(in_bytes, 3u * 4 * 4 * sizeof(float));
  ASSERT_EQ(out_bytes, 10u * 4 * 4 * sizeof(float));
  Tensors hw_out = outputs(*runner, 2), cpu_out = outputs(*runner, 2, TensorType::CPU);
  ASSERT_EQ(runner->execute(inputs(*runner, 2, TensorType::CPU), hw_out), StatusCode::SUCCESS);
  EXPECT_EQ(tensors(*runner), 2u);
  EXPECT_EQ(bytes(*runner), 2 * in_bytes);
  const Tensors hw_in = inputs(*runner, 2);
  ASSERT_EQ(runner->wait(runner->execute_async(hw_in, cpu_out), kForever), StatusCode::SUCCESS);
  EXPECT_EQ(tensors(*runner), 4u);
  EXPECT_EQ(bytes(*runner), 2 * in_bytes + 2 * out_bytes);
}

TEST_F(Conversions, AnFp32ModelTakesBothViewsInPlace) {
  const auto runner = make_runner();
  Tensors out = outputs(*runner, 1, TensorType::CPU);
  ASSERT_EQ(runner->execute(inputs(*runner, 1, TensorType::CPU), out), StatusCode::SUCCESS);
  EXPECT_EQ(bytes(*runner), 0u);
}

TEST_F(Conversions, StrictZeroCopyRefusesThemWithTheReason) {
  const auto runner = make({{"strict_zero_copy", true}});
  const Tensors hw_in = inputs(*runner), cpu_in = inputs(*runner, 1, TensorType::CPU);
  Tensors hw_out = outputs(*runner), cpu_out = outputs(*runner, 1, TensorType::CPU);
  EXPECT_EQ(runner->execute(hw_in, hw_out), StatusCode::SUCCESS);
  const test::LogCapture log;
  EXPECT_EQ(runner->execute(cpu_in, hw_out), StatusCode::INVALID_INPUT);
  EXPECT_EQ(runner->execute_async(hw_in, cpu_out).status, StatusCode::INVALID_OUTPUT);
  EXPECT_THAT(log.lines(), Contains(AllOf(HasSubstr("input \"data\": the CPU view is converted"),
                                          HasSubstr("(192 bytes)"))));
  EXPECT_THAT(log.lines(), Contains(HasSubstr("output \"probs\": the CPU view is converted")));
  EXPECT_EQ(tensors(*runner), 0u);
}

TEST_F(Conversions, TheEnvironmentForbidsThemUnlessTheOptionAllowsThem) {
  setenv("MILLRACE_STRICT_ZERO_COPY", "1", 1);
  const auto strict = make();
  Tensors out = outputs(*strict);
  EXPECT_EQ(strict->execute(inputs(*strict, 1, TensorType::CPU), out), StatusCode::INVALID_INPUT);
  const auto allowed = make({{"strict_zero_copy", false}});
  EXPECT_EQ(allowed->execute(inputs(*allowed, 1, TensorType::CPU), out), StatusCode::SUCCESS);
  setenv("MILLRACE_STRICT_ZERO_COPY", "perhaps", 1);
  EXPECT_THROW(make(), std::runtime_error);
}

// Another program writes through its own mapping of the file; no call tells the runner.
TEST_F(Conversions, APixelChangedThroughAnotherMappingChangesTheNextOutput) {
  const auto runner = make();
  const NpuTensorInfo& info = runner->get_tensors_info(TensorDirection::INPUT, TensorType::HW)[0];
  NpuTensor source = runner->allocate_npu_tensor(info);
  int fd = source.export_buffer();
  void* const elsewhere =
      mmap(nullptr, info.size_in_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ASSERT_NE(elsewhere, MAP_FAILED);
  const Tensors in{{NpuTensor(info, &fd, MemoryType::DMA_FD)}};
  close(fd);
  Tensors before = outputs(*runner), after = outputs(*runner);
  ASSERT_EQ(runner->execute(in, before), StatusCode::SUCCESS);
  std::fill_n(static_cast<uint16_t*>(elsewhere), 3, uint16_t{0x4100});  // 8.0 in three channels
  ASSERT_EQ(runner->execute(in, after), StatusCode::SUCCESS);
  const size_t bytes = after[0][0].get_info().size_in_bytes;
  EXPECT_NE(std::memcmp(data(before[0][0]), data(after[0][0]), bytes), 0);
  munmap(elsewhere, info.size_in_bytes);
}

}  // namespace
}  // namespace millrace::vartml
