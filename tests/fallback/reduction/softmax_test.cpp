#include <gmock/gmock.h>

#include <cmath>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::compute;
using test::vector_of;
using ::testing::DoubleEq;
using ::testing::ElementsAre;

TEST(FallbackSoftmax, NormalisesLines) {
  const double e = std::exp(1.0);
  const auto x = array<double>({2, 2}, {1000, 1001, 0, -1});
  EXPECT_THAT(compute("Softmax", {x}).as<double>(),
              ElementsAre(DoubleEq(1 / (1 + e)), DoubleEq(e / (1 + e)), DoubleEq(e / (1 + e)),
                          DoubleEq(1 / (1 + e))));
  EXPECT_THAT(compute("LogSoftmax", {x}).as<double>()[0], DoubleEq(-std::log(1 + e)));
  EXPECT_THAT(compute("Softmax", {x}, {{"axis", int64_t{0}}}).as<double>()[0], DoubleEq(1));
}

TEST(FallbackGlobalPool, OfEachChannel) {
  const auto x = array<double>({1, 2, 2}, {1, 2, -3, -5});
  const auto mean = compute("GlobalAveragePool", {x});
  EXPECT_EQ(mean.dims, (Dims{1, 2, 1}));
  EXPECT_THAT(mean.as<double>(), ElementsAre(1.5, -4));
  EXPECT_THAT(compute("GlobalMaxPool", {x}).as<double>(), ElementsAre(2, -3));
}

}  // namespace
}  // namespace millrace::fallback
