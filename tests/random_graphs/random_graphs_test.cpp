// Random small graphs give the same results on the CPU device and with the plain kernels.
#include <gtest/gtest.h>

#include "tests/random_graphs/check_graph.h"
#include "tests/support/address_checks.h"

namespace millrace::test {
namespace {

// These are 2,000 graphs in all; AddressSanitizer takes ten times as long.
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
