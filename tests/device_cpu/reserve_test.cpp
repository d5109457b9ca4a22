// The memory set aside for the kernel libraries. What they do with it when the system refuses
// theirs is tested by tests/failing_resources.
#include "device/cpu/reserve/reserve.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "device/registry.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"
#include "tests/support/test_run.h"

namespace millrace::device::cpu {
namespace {

// Uses so much of the reserve that fewer than `bytes` are free, until it is destroyed.
class UsedReserve {
 public:
  explicit UsedReserve(size_t bytes) {
    constexpr size_t kPiece = size_t{256} << 10;
    while (reserve::bytes_free() >= bytes) {
      pieces_.push_back(reserve::allocate(kPiece, 64));
      if (pieces_.back() == nullptr) break;
    }
  }
  ~UsedReserve() {
    for (void* const piece : pieces_)
      if (piece != nullptr) reserve::release(piece);
  }
  UsedReserve(const UsedReserve&) = delete;
  UsedReserve& operator=(const UsedReserve&) = delete;

 private:
  std::vector<void*> pieces_;
};

std::shared_ptr<const graph::CompiledModel> convolution() {
  ModelBuilder builder;
  const graph::ValueId x = builder.input({1, 2, 4, 4});
  const graph::ValueId weight = builder.constant(Tensor::numbers({2, 2, 1, 1}, 1));
  builder.output(
      builder.node(graph::Conv{{1, 1}, {1, 1}, {0, 0}, {0, 0}, 1, {graph::UnaryKind::kRelu, 0, 0}},
                   {x, weight, builder.constant(Tensor::numbers({2}, 2))}));
  return builder.build();
}

TEST(Reserve, GivesMemoryThatIsItsOwnAndTakesItBack) {
  const size_t before = reserve::bytes_free();
  void* const memory = reserve::allocate(10'000, 4096);
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 4096, 0u);
  EXPECT_GE(reserve::size_of(memory), 10'000u);
  EXPECT_TRUE(reserve::owns(memory));
  EXPECT_FALSE(reserve::owns(&before));
  std::memset(memory, 1, 10'000);
  EXPECT_LE(reserve::bytes_free() + 10'000, before);
  reserve::release(memory);
  EXPECT_EQ(reserve::bytes_free(), before);
}

TEST(Reserve, EndsWithNullAndIsWholeAgainAfterwards) {
  const size_t before = reserve::bytes_free();
  {
    const UsedReserve used(1);
    EXPECT_EQ(reserve::allocate(size_t{1} << 20, 64), nullptr);
  }
  EXPECT_EQ(reserve::bytes_free(), before);
}

TEST(Reserve, TheKernelLibrariesCallIt) {
  ASSERT_TRUE(open_device("cpu").ok());
  EXPECT_GT(reserve::replace_calls(), 0);
}

TEST(Reserve, WithoutEnoughOfItNothingIsLoaded) {
  const auto device = open_device("cpu").value();
  {
    const UsedReserve used(reserve::kForMaking);
    const auto refused = device->load(convolution());
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.status().code(), StatusCode::kOutOfMemory);
  }
  EXPECT_TRUE(device->load(convolution()).ok());
}

TEST(Reserve, WithoutEnoughOfItAJobFailsAndTheNextOneRuns) {
  const auto program = load(convolution());
  const auto context = program->create_context().value();
  std::vector<float> data(32, 1), result(32);
  const Binding inputs[] = {{data.data(), View::kCpu}};
  const Binding outputs[] = {{result.data(), View::kCpu}};
  test::TestRun control;
  {
    const UsedReserve used(reserve::kForRunning);
    EXPECT_EQ(context->run(inputs, outputs, control).code(), StatusCode::kOutOfMemory);
  }
  const Status status = context->run(inputs, outputs, control);
  EXPECT_TRUE(status.ok()) << status.to_string();
}

}  // namespace
}  // namespace millrace::device::cpu
