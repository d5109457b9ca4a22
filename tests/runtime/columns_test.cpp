// The map of columns to groups to cores.
#include "runtime/columns/columns.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "base/process/topology.h"

namespace millrace::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ColumnMapOfProcess : public ::testing::Test {
 protected:
  ~ColumnMapOfProcess() override { unsetenv("MILLRACE_COLUMNS"); }

  static Result<ColumnMap> map_with(const char* columns) {
    setenv("MILLRACE_COLUMNS", columns, 1);
    return ColumnMap::of_process();
  }
};

TEST(ColumnMap, GroupsOfFourGoRoundTheCores) {
  const ColumnMap map(20, {3, 5});
  EXPECT_EQ(map.groups(), 5u);
  EXPECT_EQ(map.last_start_column(), 16u);
  EXPECT_EQ(map.core_of(0), 3);
  EXPECT_EQ(map.core_of(1), 5);
  EXPECT_EQ(map.core_of(2), 3);
  EXPECT_EQ(map.core_of(4), 3);
}

TEST(ColumnMap, AColumnBelongsToTheGroupItIsIn) {
  EXPECT_EQ(ColumnMap::group_of(0), 0u);
  EXPECT_EQ(ColumnMap::group_of(3), 0u);
  EXPECT_EQ(ColumnMap::group_of(4), 1u);
  EXPECT_EQ(ColumnMap::group_of(32), 8u);
}

TEST_F(ColumnMapOfProcess, Has36ColumnsOverTheCoresOfTheBudget) {
  const ColumnMap map = ColumnMap::of_process().value();
  EXPECT_EQ(map.columns(), 36u);
  EXPECT_EQ(map.last_start_column(), 32u);
  const auto budget = static_cast<uint32_t>(topology().core_budget);
  for (uint32_t group = 0; group < map.groups(); ++group)
    EXPECT_EQ(map.core_of(group), topology().cores[group % budget]) << group;
}

TEST_F(ColumnMapOfProcess, TakesTheNumberFromTheEnvironment) {
  EXPECT_EQ(map_with("4").value().last_start_column(), 0u);
  EXPECT_EQ(map_with("64").value().groups(), 16u);
  EXPECT_EQ(map_with("").value().columns(), 36u);
}

TEST_F(ColumnMapOfProcess, RefusesANumberThatMakesNoSense) {
  for (const char* columns : {"0", "2", "37", "-4", "8x", " 8", "many", "1028", "99999999999"}) {
    const Status refused = map_with(columns).status();
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << columns;
    EXPECT_THAT(refused.message(), AllOf(HasSubstr("MILLRACE_COLUMNS"), HasSubstr(columns),
                                         HasSubstr("multiple of 4 from 4 to 1024")));
  }
}

}  // namespace
}  // namespace millrace::runtime
