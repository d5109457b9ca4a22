// Counts and times of the command line.
#include "cli/arguments/quantity.h"

#include <gmock/gmock.h>

namespace millrace::test {
namespace {

using cli::parse_count;
using cli::parse_number;
using cli::parse_time;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

TEST(Quantity, CountsAreWrittenInSeveralWays) {
  for (const char* thousand : {"1000", "1e3", "1k", "1.0e3", "0.001M"}) {
    const auto count = parse_count(thousand);
    ASSERT_TRUE(count.ok()) << thousand;
    EXPECT_EQ(*count, 1000u) << thousand;
  }
  EXPECT_EQ(*parse_count("0"), 0u);
  EXPECT_EQ(*parse_count("18446744073709551615"), UINT64_MAX) << "digits are read exactly";
}

TEST(Quantity, WhatIsNoCountIsSaid) {
  for (const char* text : {"", "-1", "1.5", "ten", "10x", "1e30", "nan", "inf", "1 000"}) {
    const auto count = parse_count(text);
    ASSERT_FALSE(count.ok()) << text;
    EXPECT_THAT(count.status().message(), HasSubstr("1000, 1e3 or 1k"));
  }
}

TEST(Quantity, NumbersMayBeFractions) {
  EXPECT_EQ(*parse_number("0.5"), 0.5);
  EXPECT_EQ(*parse_number("2.5k"), 2500);
  for (const char* text : {"nan", "inf", "1..2", "many"}) EXPECT_FALSE(parse_number(text).ok());
}

TEST(Quantity, TimesHaveAnyUnitAndSecondsWithoutOne) {
  EXPECT_EQ(*parse_time("10"), 10s);
  EXPECT_EQ(*parse_time("10s"), 10s);
  EXPECT_EQ(*parse_time("0.5"), 500ms);
  EXPECT_EQ(*parse_time("500ms"), 500ms);
  EXPECT_EQ(*parse_time("20us"), 20us);
  EXPECT_EQ(*parse_time("7ns"), 7ns);
  EXPECT_EQ(*parse_time("2min"), 2min);
  EXPECT_EQ(*parse_time("1h"), 1h);
}

TEST(Quantity, WhatIsNoTimeIsSaid) {
  for (const char* text : {"", "0", "0s", "-1s", "soon", "10 s", "1d", "nan"}) {
    const auto time = parse_time(text);
    ASSERT_FALSE(time.ok()) << text;
    EXPECT_THAT(time.status().message(), HasSubstr("10, 10s or 500ms"));
  }
  EXPECT_THAT(parse_time("9000h").status().message(), HasSubstr("longer than a year"));
}

}  // namespace
}  // namespace millrace::test
