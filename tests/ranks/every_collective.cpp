#include "tests/ranks/every_collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>

#include "base/settings/environment.h"
#include "ranks/small_float.h"
#include "tests/ranks/reference.h"

namespace millrace::ranks {
namespace {

template <int kExponent, int kFraction>
struct Fp8Codec : SmallFloat<kExponent, kFraction> {
  using Stored = uint8_t;
  using Value = float;
};

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}
template <class T>
std::span<std::byte> bytes_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

void expect_ok(const Status& status) {
  EXPECT_TRUE(status.ok()) << status.message();
}

template <class Codec>
void expect_reductions(Communicator& own, Element element, std::initializer_list<size_t> counts,
                       uint32_t seed) {
  for (const size_t count : counts)
    for (const Reduction reduction : {Reduction::kSum, Reduction::kMax, Reduction::kMin}) {
      const auto operands = patterns<Codec>(own.size(), own.size() * count, seed);
      const auto expected = expected_reduction<Codec>(operands, reduction);
      const auto& input = operands[own.rank()];
      auto output = input;
      expect_ok(own.all_reduce(bytes_of(input), bytes_of(output), element, reduction, {}));
      EXPECT_TRUE(output == expected) << "all_reduce " << to_string(element) << ", seed " << seed;
      output = input;
      expect_ok(own.all_reduce(bytes_of(output), bytes_of(output), element, reduction, {}));
      EXPECT_TRUE(output == expected) << "in place " << to_string(element) << ", seed " << seed;

      output.resize(count);
      const InputBlocks blocks(bytes_of(input).data(), bytes_of(output).size(), own.size());
      expect_ok(own.reduce_scatter(blocks, bytes_of(output), element, reduction, {}));
      EXPECT_TRUE(std::equal(output.begin(), output.end(), expected.begin() + own.rank() * count))
          << "reduce_scatter " << to_string(element) << ", seed " << seed;
    }
}

// The bytes of each rank, which differ between ranks and from block to block.
std::vector<std::vector<uint8_t>> marks(uint32_t ranks, size_t bytes, uint32_t seed) {
  std::vector<std::vector<uint8_t>> data(ranks, std::vector<uint8_t>(bytes));
  for (uint32_t r = 0; r < ranks; ++r)
    for (size_t i = 0; i < bytes; ++i)
      data[r][i] = static_cast<uint8_t>((seed + 31 * r + i) * 2654435761u >> 24);
  return data;
}

void expect_movements(Communicator& own, size_t bytes, uint32_t seed) {
  const uint32_t ranks = own.size();
  const auto data = marks(ranks, ranks * bytes, seed);
  const auto block = [&](const std::vector<uint8_t>& of, uint32_t r) {
    return std::span(of).subspan(r * bytes, bytes);
  };
  const std::vector<uint8_t>& input = data[own.rank()];
  std::vector<uint8_t> all(ranks * bytes), one(bytes);
  const OutputBlocks outputs(bytes_of(all).data(), bytes, ranks);

  expect_ok(own.all_gather(bytes_of(input).first(bytes), outputs, {}));
  for (uint32_t r = 0; r < ranks; ++r)
    EXPECT_TRUE(std::ranges::equal(block(all, r), block(data[r], 0))) << "all_gather " << seed;
  expect_ok(own.all_to_all(InputBlocks(bytes_of(input).data(), bytes, ranks), outputs, {}));
  for (uint32_t r = 0; r < ranks; ++r)
    EXPECT_TRUE(std::ranges::equal(block(all, r), block(data[r], own.rank())))
        << "all_to_all " << seed;
  all = input;
  const uint32_t root = seed % ranks;
  expect_ok(own.broadcast(bytes_of(all), root, {}));
  EXPECT_TRUE(all == data[root]) << "broadcast " << seed;
  const uint32_t step = 1 + seed % ranks, from = (own.rank() + ranks - step % ranks) % ranks;
  expect_ok(own.permute(bytes_of(input).first(bytes), (own.rank() + step) % ranks, bytes_of(one),
                        from, {}));
  EXPECT_TRUE(std::ranges::equal(one, block(data[from], 0))) << "permute " << seed;
  expect_ok(own.barrier({}));
}

}  // namespace

uint32_t rank_runs() {
  return static_cast<uint32_t>(number_variable("MILLRACE_TEST_RANK_RUNS", 1, 1, 1'000'000).value());
}

void expect_every_collective(Communicator& own, uint32_t seed) {
  expect_reductions<Codec<int8_t>>(own, Element::kInt8, {60}, seed);
  expect_reductions<Codec<uint8_t>>(own, Element::kUint8, {60}, seed);
  expect_reductions<Codec<int16_t>>(own, Element::kInt16, {60}, seed);
  expect_reductions<Codec<uint16_t>>(own, Element::kUint16, {60}, seed);
  expect_reductions<Codec<int32_t>>(own, Element::kInt32, {60}, seed);
  expect_reductions<Codec<uint32_t>>(own, Element::kUint32, {60}, seed);
  expect_reductions<Codec<int64_t>>(own, Element::kInt64, {60}, seed);
  expect_reductions<Codec<uint64_t>>(own, Element::kUint64, {60}, seed);
  expect_reductions<Bf16Codec>(own, Element::kBf16, {60}, seed);
  expect_reductions<Fp16Codec>(own, Element::kFp16, {60}, seed);
  expect_reductions<Codec<float>>(own, Element::kFloat32, {1, 60, 20'001 / own.size()}, seed);
  expect_reductions<Codec<double>>(own, Element::kFloat64, {60}, seed);
  expect_reductions<Fp8Codec<3, 4>>(own, Element::kFp8E3M4, {60}, seed);
  expect_reductions<Fp8Codec<4, 3>>(own, Element::kFp8E4M3, {60}, seed);
  expect_reductions<Fp8Codec<5, 2>>(own, Element::kFp8E5M2, {60}, seed);
  for (const size_t bytes : {1, 5000, 70'000}) expect_movements(own, bytes, seed);
}

}  // namespace millrace::ranks
