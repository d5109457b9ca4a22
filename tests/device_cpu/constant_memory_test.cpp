// Tests where packed weights lie: aligned, apart from each other, in few blocks, and in huge pages
// if they are large.
#include "device/cpu/weights/constant_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace millrace::device::cpu {
namespace {

using ::testing::HasSubstr;

constexpr size_t kMiB = size_t{1} << 20;

uintptr_t address(const std::byte* data) {
  return reinterpret_cast<uintptr_t>(data);
}

TEST(ConstantMemory, ConstantsAreAlignedAndApart) {
  ConstantMemory memory;
  std::vector<std::pair<std::byte*, size_t>> taken;
  for (const size_t bytes : {size_t{1}, size_t{64}, size_t{65}, size_t{4095}, size_t{4096},
                             size_t{100'000}, 3 * kMiB, size_t{7}, 40 * kMiB, size_t{5000}}) {
    std::byte* const data = memory.take(bytes);
    EXPECT_EQ(address(data) % (bytes < 4096 ? 64 : 4096), 0u) << bytes;
    std::memset(data, static_cast<int>(taken.size() + 1), bytes);
    taken.emplace_back(data, bytes);
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    const auto [data, bytes] = taken[i];
    EXPECT_EQ(data[0], static_cast<std::byte>(i + 1)) << bytes;
    EXPECT_EQ(data[bytes - 1], static_cast<std::byte>(i + 1)) << bytes;
  }
}

// Constants that a job walks through lie together, so that they share pages.
TEST(ConstantMemory, SmallConstantsFollowEachOther) {
  ConstantMemory memory;
  const std::byte* const first = memory.take(100);
  EXPECT_EQ(memory.take(100), first + 128);
  EXPECT_EQ(memory.take(64), first + 256);
  EXPECT_EQ(memory.take(64), first + 320);
}

TEST(ConstantMemory, AConstantOfNoBytesHasAnAddress) {
  ConstantMemory memory;
  EXPECT_NE(memory.take(0), nullptr);
}

TEST(ConstantMemory, MovesWithWhatItHolds) {
  ConstantMemory memory;
  std::byte* const data = memory.take(1000);
  std::memset(data, 7, 1000);
  const ConstantMemory other = std::move(memory);
  EXPECT_EQ(data[999], std::byte{7});
}

TEST(ConstantMemory, ASizeThatCannotBeIsRefused) {
  ConstantMemory memory;
  std::byte* const data = memory.take(1000);
  for (const size_t bytes :
       {std::numeric_limits<size_t>::max(), std::numeric_limits<size_t>::max() - 4096})
    EXPECT_THROW(memory.take(bytes), std::bad_alloc) << bytes;
  std::memset(data, 1, 1000);
  EXPECT_EQ(memory.take(10), data + 1024);  // as if nothing had been asked for
}

// The flags that the system shows in /proc/self/smaps for the pages around an address.
std::string flags_at(const std::byte* data) {
  std::ifstream maps("/proc/self/smaps");
  bool found = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (std::istringstream range(line); range >> std::hex >> begin >> dash >> end && dash == '-')
      found = begin <= address(data) && address(data) < end;
    else if (found && line.starts_with("VmFlags:"))
      return line;
  }
  return {};
}

// "hg": madvise(MADV_HUGEPAGE) was called for it.
TEST(ConstantMemory, LargeBlocksAskForHugePages) {
  ConstantMemory memory;
  const std::byte* const small = memory.take(1000);
  const std::byte* const large = memory.take(4 * kMiB);
  EXPECT_EQ(address(large) % (2 * kMiB), 0u);
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  EXPECT_THAT(flags_at(large), HasSubstr(" hg"));
  EXPECT_THAT(flags_at(large + 4 * kMiB - 1), HasSubstr(" hg"));
  EXPECT_THAT(flags_at(small), ::testing::Not(HasSubstr(" hg")));
}

}  // namespace
}  // namespace millrace::device::cpu
