// The loops that move pictures, whether or not networks of this machine come to it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "device/cpu/kernels/pixels/loops.h"

namespace millrace::device::cpu::kernels::pixels {
namespace {

TEST(Pixels, LoseTheirFourthElement) {
  // Around every number of lanes that a vector of 16-bit elements may have.
  for (const size_t pixels : {0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100}) {
    SCOPED_TRACE(pixels);
    constexpr uint16_t kGuard = 0x1234, kUnused = 0xffff;
    std::vector<uint16_t> from, expected;
    for (size_t i = 0; i < pixels; ++i) {
      for (size_t c = 0; c < kChannels; ++c) {
        expected.push_back(static_cast<uint16_t>(i * kChannels + c));
        from.push_back(expected.back());
      }
      from.push_back(kUnused);
    }
    std::vector<uint16_t> to(expected.size() + 64, kGuard);
    expected.resize(to.size(), kGuard);
    compact(from.data(), to.data(), pixels);
    EXPECT_EQ(to, expected);
  }
}

TEST(Pixels, AreSplitIntoPlanes) {
  for (const size_t pixels : {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 100}) {
    SCOPED_TRACE(pixels);
    constexpr float kGuard = -1, kUnused = -2;
    const size_t plane = pixels + 3;
    std::vector<float> from, to(kChannels * plane, kGuard), expected = to;
    for (size_t i = 0; i < pixels; ++i) {
      for (size_t c = 0; c < kChannels; ++c) {
        from.push_back(static_cast<float>(i * kChannels + c));
        expected[c * plane + i] = from.back();
      }
      from.push_back(kUnused);
    }
    split(from.data(), to.data(), plane, pixels);
    EXPECT_EQ(to, expected);
  }
}

}  // namespace
}  // namespace millrace::device::cpu::kernels::pixels
