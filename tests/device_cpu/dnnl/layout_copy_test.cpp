// Copies between layouts put every element where the descriptors say, and zeros into the padding.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "device/cpu/dnnl/reorder.h"

namespace millrace::device::cpu {
namespace {

constexpr uint8_t kUntouched = 0xee;

// Returns the memory of `to` after a copy of 1, 2, 3 ... from `from`.
std::vector<uint8_t> copy(const Desc& from, const Desc& to) {
  std::vector<uint8_t> elements(from.get_size()), result(to.get_size(), kUntouched);
  std::iota(elements.begin(), elements.end(), uint8_t{1});
  LayoutCopy(from, to).run(reinterpret_cast<const std::byte*>(elements.data()),
                           reinterpret_cast<std::byte*>(result.data()));
  return result;
}

TEST(LayoutCopy, FillsThePaddingOfBlocksWithZeros) {
  const Dims dims = {2, 3, 1, 2};
  const std::vector<uint8_t> expected = {1, 3, 5, 0, 2, 4, 6, 0, 7, 9, 11, 0, 8, 10, 12, 0};
  EXPECT_EQ(copy(plain_desc(dims, ElementType::u8), blocked_desc(dims, ElementType::u8, 4)),
            expected);
}

TEST(LayoutCopy, TakesElementsOutOfBlocks) {
  const Dims dims = {1, 5, 1, 2};
  // Blocks of four channels: 1 3 5 7, 2 4 6 8, 9 . . ., 10 . . .
  const std::vector<uint8_t> expected = {1, 5, 2, 6, 3, 7, 4, 8, 9, 13};
  EXPECT_EQ(copy(blocked_desc(dims, ElementType::u8, 4), plain_desc(dims, ElementType::u8)),
            expected);
}

TEST(LayoutCopy, LeavesTheGapsOfAViewAlone) {
  const Dims dims = {2, 3};
  const Desc whole = plain_desc({2, 5}, ElementType::u8);
  const Desc part = *submemory(whole, dims, {0, 1});
  std::vector<uint8_t> result(whole.get_size(), kUntouched), elements = {1, 2, 3, 4, 5, 6};
  LayoutCopy(plain_desc(dims, ElementType::u8), part)
      .run(reinterpret_cast<const std::byte*>(elements.data()),
           reinterpret_cast<std::byte*>(result.data()));
  const std::vector<uint8_t> expected = {kUntouched, 1, 2, 3, kUntouched,
                                         kUntouched, 4, 5, 6, kUntouched};
  EXPECT_EQ(result, expected);
}

TEST(LayoutCopy, TakesElementsOfSeveralBytes) {
  const Dims dims = {1, 3, 2};
  const std::vector<float> elements = {1, 2, 3, 4, 5, 6};
  const Desc to = blocked_desc(dims, ElementType::f32, 4);
  std::vector<float> result(8, -1);
  LayoutCopy(plain_desc(dims, ElementType::f32), to)
      .run(reinterpret_cast<const std::byte*>(elements.data()),
           reinterpret_cast<std::byte*>(result.data()));
  EXPECT_EQ(result, (std::vector<float>{1, 3, 5, 0, 2, 4, 6, 0}));
}

// oneDNN's reorder does this, or the copy where that is defective.
TEST(Reorder, ConvertsAndFillsPadding) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnnl::stream stream(engine);
  const Dims dims = {1, 17, 3};
  std::vector<float> elements(51), back(51);
  std::iota(elements.begin(), elements.end(), 1.0F);
  const Desc plain = plain_desc(dims, ElementType::f32);
  const Desc blocked = blocked_desc(dims, ElementType::bf16, 16);
  std::vector<uint16_t> in_blocks(blocked.get_size() / 2, 0xeeee);
  reorder(engine, stream, plain, elements.data(), blocked, in_blocks.data());
  for (size_t i = 0; i < 3; ++i)
    for (size_t channel = 17; channel < 32; ++channel)
      EXPECT_EQ(in_blocks[(16 * 3) + (16 * i) + channel - 16], 0) << channel;
  reorder(engine, stream, blocked, in_blocks.data(), plain, back.data());
  EXPECT_EQ(back, elements);
}

// A part of a tensor in blocks has gaps and padding.
TEST(Reorder, FillsAViewOfATensorInBlocks) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const dnnl::stream stream(engine);
  const Dims dims = {1, 7, 17, 6};
  const Desc whole = blocked_desc({1, 7, 17, 9}, ElementType::f32, 16);
  const Desc plain = plain_desc(dims, ElementType::f32);
  const Desc view = *submemory(whole, dims, {0, 0, 0, 3}), part = from_first_element(view);
  std::vector<float> elements(plain.get_size() / sizeof(float)), back(elements.size());
  std::iota(elements.begin(), elements.end(), 1.0F);
  std::vector<float> in_blocks(whole.get_size() / sizeof(float));
  float* const first = in_blocks.data() + (bytes_before(view) / sizeof(float));
  reorder(engine, stream, plain, elements.data(), part, first);
  reorder(engine, stream, part, first, plain, back.data());
  EXPECT_EQ(back, elements);
}

}  // namespace
}  // namespace millrace::device::cpu
