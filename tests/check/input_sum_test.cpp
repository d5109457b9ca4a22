// Sums of inputs: which bytes have changed, and that memory which is gone does no harm.
#include "check/input_sum.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
#include <vector>

namespace millrace::check {
namespace {

// Returns the bytes that are said to change when one of them does.
ByteRange changed(std::vector<std::byte>& data, size_t at) {
  const InputSum before = sum_of(data.data(), data.size());
  data[at] ^= std::byte{1};
  const auto range = difference(before, sum_of(data.data(), data.size()), data.size());
  EXPECT_TRUE(range) << at;
  return range.value_or(ByteRange{});
}

TEST(InputSum, TellsWhichPartHasChanged) {
  for (const size_t bytes : {size_t{1}, size_t{64}, size_t{200}, size_t{4096}, size_t{300'001}}) {
    std::vector<std::byte> data(bytes);
    for (const size_t at : {size_t{0}, bytes / 3, bytes / 2, bytes - 1}) {
      const auto [begin, end] = changed(data, at);
      EXPECT_LE(begin, at);
      EXPECT_GT(end, at);
      EXPECT_LE(end, bytes);
      EXPECT_LE(end - begin, bytes / 64 + 64) << bytes;
    }
  }
}

TEST(InputSum, CoversAllChanges) {
  std::vector<std::byte> data(1000);
  const InputSum before = sum_of(data.data(), data.size());
  data[100] = data[700] = std::byte{1};
  const auto range = difference(before, sum_of(data.data(), data.size()), data.size());
  ASSERT_TRUE(range);
  EXPECT_LE(range->begin, 100u);
  EXPECT_GT(range->end, 700u);
}

TEST(InputSum, IsTheSameForTheSameBytes) {
  const std::vector<std::byte> data(100'000), copy = data;
  EXPECT_FALSE(
      difference(sum_of(data.data(), data.size()), sum_of(copy.data(), copy.size()), data.size()));
  EXPECT_TRUE(sum_of(nullptr, 0).known());
}

TEST(InputSum, KnowsNothingOfMemoryThatIsGone) {
  constexpr size_t kBytes = 8192;
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const InputSum before = sum_of(memory, kBytes);
  ::munmap(memory, kBytes);
  const InputSum after = sum_of(memory, kBytes);
  EXPECT_EQ(after.error, SumError::kUnmapped);
  EXPECT_FALSE(difference(before, after, kBytes));
  EXPECT_FALSE(difference(before, InputSum(), kBytes));
}

}  // namespace
}  // namespace millrace::check
