// The ids of units: what happens when a process has used them all.
#include "queue/units/unit_ids.h"

#include <gtest/gtest.h>

#include <vector>

#include "queue/units/unit.h"
#include "tests/queue/function_task.h"

namespace millrace::queue {
namespace {

TEST(UnitIds, NoUnitIsMadeWithoutAFreeOne) {
  Lanes lanes({.count = 1});
  std::vector<UnitId> ids;
  do {
    ids.push_back(UnitId::take());
  } while (ids.back().value() != 0);
  ids.pop_back();
  EXPECT_EQ(ids.size(), 65'535u);
  const Result<std::unique_ptr<Unit>> refused = Unit::create(lanes, function_unit(1));
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  ids.pop_back();
  EXPECT_TRUE(Unit::create(lanes, function_unit(1)).ok());
}

}  // namespace
}  // namespace millrace::queue
