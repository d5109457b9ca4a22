#include "queue/requests/result_table.h"

#include <gtest/gtest.h>

namespace millrace::queue {
namespace {

Status failure(uint64_t counter) {
  return {StatusCode::kIoError, std::to_string(counter)};
}

TEST(ResultTable, WhatDidNotFailIsOk) {
  ResultTable table(4);
  EXPECT_TRUE(table.find(1)->status.ok());
  table.record_failure(3, failure(3), true);
  EXPECT_TRUE(table.find(2)->status.ok());
  EXPECT_EQ(table.find(3)->status.message(), "3");
  EXPECT_TRUE(table.find(4)->status.ok());
}

TEST(ResultTable, KeepsFailuresOfTheLastRequestsAndSaysWhenItForgot) {
  ResultTable table(4);
  table.record_failure(1, failure(1), true);
  table.record_failure(2, failure(2), true);
  table.record_failure(1 + ResultTable::kRemembered, failure(0), true);
  EXPECT_EQ(table.find(1)->status.message(), "1");
  table.record_failure(2 + ResultTable::kRemembered, failure(0), true);
  EXPECT_FALSE(table.find(1).has_value());
  EXPECT_EQ(table.find(2)->status.message(), "2");
}

TEST(ResultTable, KeepsMoreThanItHasReserved) {
  ResultTable table(4);
  constexpr uint64_t kFailures = 1'000;
  for (uint64_t counter = 1; counter <= kFailures; ++counter)
    table.record_failure(counter, failure(counter), true);
  for (uint64_t counter = 1; counter <= kFailures; ++counter)
    ASSERT_EQ(table.find(counter)->status.message(), std::to_string(counter));
}

TEST(ResultTable, KnowsWhatNeverStarted) {
  ResultTable table(4);
  table.record_failure(1, failure(1), true);
  table.record_failure(2, failure(2), false);
  EXPECT_TRUE(table.find(1)->started);
  EXPECT_FALSE(table.find(2)->started);
}

}  // namespace
}  // namespace millrace::queue
