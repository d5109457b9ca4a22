// Runs a piece of a test once per vector instruction set that this machine and this build have.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include "base/highway/vector_targets.h"

namespace millrace::tensor {

// The targets for which Highway and the conversions have code; others would run the code of the
// baseline.
inline int64_t compiled_targets() {
  return vector_targets() & HWY_TARGETS & ~int64_t{HWY_SSSE3};
}

template <class Body>
void for_each_target(const Body& body) {
  for (int64_t targets = compiled_targets(); targets != 0; targets &= targets - 1) {
    const int64_t target = targets & -targets;
    SCOPED_TRACE(hwy::TargetName(target));
    chosen_vector_target().Update(target);
    body();
    if (testing::Test::HasFatalFailure()) break;
  }
  chosen_vector_target().Update(vector_targets());
}

}  // namespace millrace::tensor
