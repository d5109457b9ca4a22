// Reorders of RGBX images, whether or not networks of this machine need them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "device/cpu/reorders/rgbx.h"
#include "device/cpu/reorders/rgbx_loops.h"
#include "tests/support/test_run.h"

namespace millrace::device::cpu::reorders::rgbx {
namespace {

TEST(RgbxPixels, LoseTheirFourthElement) {
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

TEST(RgbxPixels, AreSplitIntoPlanes) {
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

Desc padded(const Dims& dims, ElementType type) {
  return hcwnc_desc(dims, type, kRoom);
}

TEST(RgbxStep, MovesThePartsOfAnImage) {
  const Dims dims = {1, kChannels, 5, 7};
  constexpr size_t kPixels = 35;
  for (const uint32_t chunks : {1U, 3U}) {
    test::TestRun control;
    const dnnl::stream stream(dnnl::engine(dnnl::engine::kind::cpu, 0));
    const auto move = [&](const Desc& from, const Desc& to, auto& source, auto& result) {
      const auto step = reorder_step({0, from}, {1, to}, chunks);
      ASSERT_NE(step, nullptr);
      const std::array<std::byte*, 2> buffers = {reinterpret_cast<std::byte*>(source.data()),
                                                 reinterpret_cast<std::byte*>(result.data())};
      EXPECT_TRUE(step->run({control, stream, buffers, {}}).ok());
    };
    std::vector<uint16_t> shorts(kPixels * kRoom), compact(kPixels * kChannels);
    std::vector<float> floats(kPixels * kRoom), planes(kPixels * kChannels);
    std::iota(shorts.begin(), shorts.end(), uint16_t{1});
    std::iota(floats.begin(), floats.end(), 1.0F);
    move(padded(dims, ElementType::bf16), channels_last_desc(dims, ElementType::bf16), shorts,
         compact);
    move(padded(dims, ElementType::f32), plain_desc(dims, ElementType::f32), floats, planes);
    for (size_t i = 0; i < kPixels; ++i)
      for (size_t c = 0; c < kChannels; ++c) {
        EXPECT_EQ(compact[i * kChannels + c], shorts[i * kRoom + c]);
        EXPECT_EQ(planes[c * kPixels + i], floats[i * kRoom + c]);
      }
  }
}

TEST(RgbxStep, IsNotMadeForOtherOperands) {
  const auto is_made = [](const Desc& from, const Desc& to) {
    return reorder_step({0, from}, {1, to}, 1) != nullptr;
  };
  const Dims dims = {1, 3, 5, 7}, batch = {2, 3, 5, 7}, four = {1, 4, 5, 7};
  constexpr ElementType kFp32 = ElementType::f32;
  EXPECT_TRUE(is_made(padded(dims, kFp32), plain_desc(dims, kFp32)));
  EXPECT_FALSE(is_made(padded(dims, kFp32), channels_last_desc(dims, kFp32)));
  EXPECT_FALSE(is_made(padded(dims, kFp32), plain_desc(dims, ElementType::bf16)));
  EXPECT_FALSE(is_made(padded(batch, kFp32), plain_desc(batch, kFp32)));
  EXPECT_FALSE(is_made(padded(four, kFp32), plain_desc(four, kFp32)));
}

}  // namespace
}  // namespace millrace::device::cpu::reorders::rgbx
