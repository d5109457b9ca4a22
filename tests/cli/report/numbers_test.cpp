// Numbers in reports: units that fit, and no more digits than are known.
#include "cli/report/numbers.h"

#include <gtest/gtest.h>

#include <limits>

#include "cli/report/json_text.h"

namespace millrace::test {
namespace {

using cli::json_line;
using cli::time_text;

TEST(Numbers, TimesHaveTheUnitThatFits) {
  EXPECT_EQ(time_text(87), "87.00 ns");
  EXPECT_EQ(time_text(812.34), "812.3 ns");
  EXPECT_EQ(time_text(999.96), "1.000 us");
  EXPECT_EQ(time_text(4'102'000), "4.102 ms");
  EXPECT_EQ(time_text(12'500'000'000), "12.50 s");
  EXPECT_EQ(time_text(5e12), "5000 s");
}

TEST(Numbers, JsonHasSixDigitsOrThoseOfAFloat) {
  EXPECT_EQ(json_line({{"mean", 1.23456789012345}}), R"({"mean":1.23457})");
  EXPECT_EQ(json_line({{"scale", double{0.003921569F}}}), R"({"scale":0.003921569})");
  EXPECT_EQ(json_line({{"half", 0.5}, {"count", 123456789}}), R"({"half":0.5,"count":123456789})");
  EXPECT_EQ(json_line({{"worst", std::numeric_limits<double>::infinity()}}), R"({"worst":null})");
}

}  // namespace
}  // namespace millrace::test
