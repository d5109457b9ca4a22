#include "queue/result_table.h"

#include <gtest/gtest.h>

namespace millrace::queue {
namespace {

Status failure(uint64_t counter) {
  return {StatusCode::kIoError, std::to_string(counter)};
}

TEST(ResultTable, WhatDidNotFailIsOk) {
  ResultTable table;
  EXPECT_TRUE(table.find(1)->ok());
  table.record_failure(3, failure(3));
  EXPECT_TRUE(table.find(2)->ok());
  EXPECT_EQ(table.find(3)->message(), "3");
  EXPECT_TRUE(table.find(4)->ok());
}

TEST(ResultTable, KeepsFailuresOfTheLastRequestsAndSaysWhenItForgot) {
  ResultTable table;
  table.record_failure(1, failure(1));
  table.record_failure(2, failure(2));
  table.record_failure(1 + ResultTable::kRemembered, failure(0));
  EXPECT_EQ(table.find(1)->message(), "1");
  table.record_failure(2 + ResultTable::kRemembered, failure(0));
  EXPECT_FALSE(table.find(1).has_value());
  EXPECT_EQ(table.find(2)->message(), "2");
}

}  // namespace
}  // namespace millrace::queue
