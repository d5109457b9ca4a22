#include "base/process/topology.h"

#include <gtest/gtest.h>

#include <set>

namespace millrace {
namespace {

TEST(Topology, BudgetFitsAffinityAndQuota) {
  const Topology& machine = topology();
  ASSERT_FALSE(machine.cores.empty());
  EXPECT_EQ(std::set<int>(machine.cores.begin(), machine.cores.end()).size(), machine.cores.size());
  EXPECT_GE(machine.core_budget, 1);
  EXPECT_LE(machine.core_budget, static_cast<int>(machine.cores.size()));
  if (machine.cgroup_cores > 0) {
    EXPECT_LT(machine.core_budget, machine.cgroup_cores + 1);
  }
}

}  // namespace
}  // namespace millrace
