#include "base/status.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace millrace {
namespace {

TEST(Status, OkIsTheDefaultAndHasNoMessage) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kOk);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.to_string(), "OK");
}

TEST(Status, FailureCarriesCodeAndMessage) {
  const Status status = invalid_argument("depth is 0");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.to_string(), "INVALID_ARGUMENT: depth is 0");
}

TEST(Status, ContextGoesInFront) {
  EXPECT_EQ(corrupt_data("no magic").with_context("a.rai").to_string(),
            "CORRUPT_DATA: a.rai: no magic");
  EXPECT_TRUE(Status().with_context("a.rai").ok());
}

TEST(Status, MissingFileIsNotFound) {
  EXPECT_EQ(io_error("open a.rai", ENOENT).code(), StatusCode::kNotFound);
  EXPECT_EQ(io_error("open a.rai", EACCES).code(), StatusCode::kIoError);
}

Result<int> half_of(int value) {
  if (value % 2 != 0) return invalid_argument("odd");
  return value / 2;
}

Status quarter_of(int value, int* quarter) {
  MILLRACE_ASSIGN_OR_RETURN(const int half, half_of(value));
  MILLRACE_ASSIGN_OR_RETURN(*quarter, half_of(half));
  return {};
}

TEST(Result, MacrosPassValuesAndFailures) {
  int quarter = 0;
  EXPECT_TRUE(quarter_of(8, &quarter).ok());
  EXPECT_EQ(quarter, 2);
  EXPECT_EQ(quarter_of(6, &quarter).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace
