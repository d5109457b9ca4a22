#include <gmock/gmock.h>

#include "fallback/operator_table.h"
#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::Array;
using test::compute;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTimeWarping = "com.microsoft.DynamicTimeWarping";

// The cheapest path goes down the first column, then along the last row.
TEST(FallbackDynamicTimeWarping, FindsTheCheapestPath) {
  const std::vector<float> costs = {1, 9, 9,  //
                                    1, 9, 9,  //
                                    1, 1, 2};
  for (const Dims& dims : {Dims{3, 3}, Dims{1, 3, 3}}) {
    const Array path = compute(kTimeWarping, {array<float>(dims, costs)});
    EXPECT_EQ(path.dims, (Dims{2, 4}));
    EXPECT_THAT(path.as<int32_t>(), ElementsAre(0, 1, 2, 2, 0, 0, 1, 2));
  }
}

TEST(FallbackDynamicTimeWarping, GoesDiagonallyWhereThatIsCheapest) {
  const Array path = compute(kTimeWarping, {array<float>({2, 3}, {1, 5, 5, 5, 1, 1})});
  EXPECT_THAT(path.as<int32_t>(), ElementsAre(0, 1, 1, 0, 1, 2));
}

TEST(FallbackDynamicTimeWarping, RefusesWhatIsNoMatrix) {
  EXPECT_TRUE(find_operator(kTimeWarping)->shape_follows_elements);
  EXPECT_THAT(refusal(kTimeWarping, {array<float>({2, 1, 1}, {1, 2})}).message(),
              HasSubstr("[rows, columns]"));
  EXPECT_THAT(refusal(kTimeWarping, {array<float>({2}, {1, 2})}).message(),
              HasSubstr("[rows, columns]"));
}

}  // namespace
}  // namespace millrace::fallback
