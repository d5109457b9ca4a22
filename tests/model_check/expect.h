// How the tests here ask an exploration.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <iostream>

#include "tests/model_check/explore/explorer.h"

namespace millrace::model_check {

// Every execution of the scenario is good.
inline void expect_holds(const std::function<explore::Scenario()>& make, int preemptions) {
  const explore::Outcome outcome = explore::explore(make, preemptions);
  EXPECT_TRUE(outcome.failure.empty())
      << "execution " << outcome.executions << ": " << outcome.failure;
  std::cout << outcome.executions << " executions, up to " << preemptions << " preemptions\n";
}

// One of them goes wrong, in the words of `how`.
inline void expect_found(const std::function<explore::Scenario()>& make, int preemptions,
                         const char* how = "") {
  const explore::Outcome outcome = explore::explore(make, preemptions);
  ASSERT_FALSE(outcome.failure.empty()) << "not found in " << outcome.executions << " executions";
  EXPECT_THAT(outcome.failure, ::testing::HasSubstr(how));
  std::cout << "found in execution " << outcome.executions << ": "
            << outcome.failure.substr(0, outcome.failure.find('\n')) << "\n";
}

}  // namespace millrace::model_check
