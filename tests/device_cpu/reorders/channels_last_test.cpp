// Copies of images pixel by pixel, whether or not networks of this machine need them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "device/cpu/reorders/channels_last.h"
#include "device/cpu/reorders/channels_last_loops.h"
#include "tests/device_cpu/at_page_end.h"
#include "tests/support/test_run.h"

namespace millrace::device::cpu::reorders::channels_last {
namespace {

// Around every number of elements that a vector may have, down to kLeastBytes of bytes.
constexpr size_t kCounts[] = {16, 17, 31, 32, 33, 48, 63, 64, 65, 96, 100, 130};
constexpr size_t kPixels = 3;

// Elements that all differ, as far as their type allows.
template <class Element>
std::vector<Element> numbered(size_t count) {
  std::vector<Element> elements(count);
  std::iota(elements.begin(), elements.end(), Element{1});
  return elements;
}

TEST(ChannelsAsBytes, ArePutIntoTheirPartOfEachPixel) {
  for (const size_t channels : kCounts) {
    SCOPED_TRACE(channels);
    const size_t distance = channels + 5;
    const std::vector<uint8_t> from = numbered<uint8_t>(kPixels * channels);
    std::vector<uint8_t> to((kPixels - 1) * distance + channels, 0xee), expected = to;
    for (size_t i = 0; i < kPixels; ++i)
      for (size_t c = 0; c < channels; ++c) expected[i * distance + c] = from[i * channels + c];
    AtPageEnd guarded_from(from), guarded_to(to);
    copy(guarded_from.data(), guarded_to.data(), {kPixels, channels, distance, channels});
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), guarded_to.data()));
  }
}

template <class Element>
class EveryOtherChannel : public ::testing::Test {};
using Elements = ::testing::Types<uint8_t, uint16_t, uint32_t>;
TYPED_TEST_SUITE(EveryOtherChannel, Elements);

TYPED_TEST(EveryOtherChannel, IsTakenOfEachPixel) {
  for (const size_t channels : kCounts)
    for (const bool second : {false, true}) {
      SCOPED_TRACE(testing::Message() << channels << " channels, second: " << second);
      const size_t distance = 2 * channels + 6;
      const auto from = numbered<TypeParam>((kPixels - 1) * distance + 2 * channels);
      std::vector<TypeParam> expected(kPixels * channels);
      for (size_t i = 0; i < kPixels; ++i)
        for (size_t c = 0; c < channels; ++c)
          expected[i * channels + c] = from[i * distance + 2 * c + (second ? 1 : 0)];
      AtPageEnd guarded_from(from), guarded_to(std::vector<TypeParam>(expected.size()));
      take_every_other(guarded_from.data(), second, guarded_to.data(),
                       {kPixels, distance, channels, channels});
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), guarded_to.data()));
    }
}

// The channels from `first` on, as many as there are in `dims`.
Desc part(const Desc& whole, const Dims& dims, int64_t first) {
  return whole.submemory_desc(dims, {0, first, 0, 0});
}

// One of each pair of channels.
Desc every_other(const Dims& dims, ElementType type, int64_t first) {
  constexpr std::array<uint32_t, 5> kPairsInnermost = {0, 3, 4, 1, 2};
  const Desc split = ordered_desc({1, dims[1], 2, dims[2], dims[3]}, type, kPairsInnermost);
  return split.submemory_desc({1, dims[1], 1, dims[2], dims[3]}, {0, 0, first, 0, 0})
      .reshape({1, dims[1], dims[2], dims[3]});
}

// The result of oneDNN's reorder for the same bytes.
std::vector<std::byte> by_onednn(const Desc& from, const Desc& to,
                                 std::vector<std::byte> from_bytes,
                                 std::vector<std::byte> to_bytes) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  dnnl::memory source(from, engine, from_bytes.data()), result(to, engine, to_bytes.data());
  dnnl::reorder(source, result).execute(stream, source, result);
  stream.wait();
  return to_bytes;
}

struct Move {
  const char* name;
  Desc from, to;
  size_t from_elements, to_elements;  // of the memory that they are in
};

std::vector<Move> moves(ElementType type) {
  const Dims image = {1, 40, 5, 7}, wide = {1, 100, 5, 7}, batch = {2, 40, 5, 7};
  const Desc dense = channels_last_desc(image, type), room = channels_last_desc(wide, type),
             two = channels_last_desc({2, 100, 5, 7}, type);
  return {
      {"into a part", dense, part(room, image, 60), 1400, 3500},
      {"out of a part", part(room, image, 3), dense, 3500, 1400},
      {"of two images", channels_last_desc(batch, type), part(two, batch, 60), 2800, 7000},
      {"the first of each pair", every_other(image, type, 0), dense, 2800, 1400},
      {"the second of each pair", every_other(image, type, 1), part(room, image, 20), 2800, 3500}};
}

TEST(ChannelsLastStep, GivesTheBytesOfOneDnn) {
  for (const ElementType type : {ElementType::u8, ElementType::bf16, ElementType::f32})
    for (const Move& move : moves(type))
      for (const uint32_t chunks : {1U, 3U}) {
        SCOPED_TRACE(testing::Message() << move.name << ", " << chunks << " chunks");
        const size_t size = dnnl::memory::data_type_size(type);
        std::vector<std::byte> from(move.from_elements * size), to(move.to_elements * size);
        for (size_t i = 0; i < from.size(); ++i) from[i] = std::byte(i % 120);
        const auto expected = by_onednn(move.from, move.to, from, to);
        const auto step = reorder_step({0, move.from}, {1, move.to}, chunks);
        ASSERT_NE(step, nullptr);
        EXPECT_THAT(step->buffers(), ::testing::ElementsAre(0, 1));
        test::TestRun control;
        const dnnl::stream stream(dnnl::engine(dnnl::engine::kind::cpu, 0));
        const std::array<std::byte*, 2> buffers = {from.data(), to.data()};
        EXPECT_TRUE(step->run({control, stream, buffers, {}}).ok());
        EXPECT_EQ(to, expected);
      }
}

TEST(ChannelsLastStep, IsNotMadeForOtherOperands) {
  const Dims image = {1, 40, 5, 7};
  const Desc bf16 = channels_last_desc(image, ElementType::bf16);
  const auto is_made = [](const Desc& from, const Desc& to) {
    return reorder_step({0, from}, {1, to}, 1) != nullptr;
  };
  EXPECT_TRUE(is_made(bf16, bf16));
  EXPECT_FALSE(is_made(bf16, channels_last_desc(image, ElementType::f32))) << "other types";
  EXPECT_FALSE(is_made(bf16, plain_desc(image, ElementType::bf16))) << "other layouts";
  EXPECT_FALSE(is_made(blocked_desc(image, ElementType::bf16, 16), bf16)) << "blocks";
  const Desc few = channels_last_desc({1, 7, 5, 7}, ElementType::bf16);
  EXPECT_FALSE(is_made(few, few)) << "pixels that fill no vector";
  const Desc rows =
      channels_last_desc({1, 40, 5, 9}, ElementType::bf16).submemory_desc(image, {0, 0, 0, 1});
  EXPECT_FALSE(is_made(rows, bf16)) << "gaps between rows";
  constexpr std::array<uint32_t, 4> kColumnsFirst = {0, 3, 2, 1};
  EXPECT_FALSE(is_made(bf16, ordered_desc(image, ElementType::bf16, kColumnsFirst)))
      << "pixels in another order";
  const Desc unpaired(image, ElementType::bf16, Dims{81 * 35, 2, 81 * 7, 81});
  EXPECT_FALSE(is_made(unpaired, bf16)) << "half a pair at the end of each pixel";
}

}  // namespace
}  // namespace millrace::device::cpu::reorders::channels_last
