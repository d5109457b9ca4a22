// Tests for processes that have never called the library: each runs in a process of its own.
//
//   EXPECT_FRESH({ EXPECT_EQ(nrt_load(...), NRT_UNINITIALIZED); }, "text on standard error")
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

// Runs the statements in a new process, which must end by exit() without a failure, and print to
// standard error what matches the regular expression.
#define EXPECT_FRESH(statements, regex)                     \
  do {                                                      \
    GTEST_FLAG_SET(death_test_style, "threadsafe");         \
    EXPECT_EXIT(                                            \
        {                                                   \
          statements;                                       \
          std::exit(::testing::Test::HasFailure() ? 1 : 0); \
        },                                                  \
        ::testing::ExitedWithCode(0), regex);               \
  } while (false)
