// Random small graphs give on the CPU device what the plain kernels give.
#include <gtest/gtest.h>

#include "tests/random_graphs/check_graph.h"
#include "tests/support/address_checks.h"

namespace millrace::test {
namespace {

// 2,000 graphs in all; AddressSanitizer takes ten times as long.
constexpr uint64_t kShares = 8, kGraphs = kChecksAddresses ? 25 : 250;

class RandomGraphs : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomGraphs, GiveWhatThePlainKernelsGive) {
  for (uint64_t i = 0; i < kGraphs; ++i) {
    const auto wrong = check_graph(GetParam() * kGraphs + i);
    EXPECT_FALSE(wrong) << *wrong;
  }
}

INSTANTIATE_TEST_SUITE_P(Share, RandomGraphs, ::testing::Range(uint64_t{0}, kShares));

}  // namespace
}  // namespace millrace::test
