#include "fallback/earlier_sets.h"

#include <gmock/gmock.h>

#include <string>

namespace millrace::fallback {
namespace {

using ::testing::ElementsAre;

using Attributes = std::vector<graph::Attribute>;

Attributes stated(const char* name, int set, Attributes attributes) {
  graph::Fallback op{name, std::move(attributes)};
  state_earlier_defaults(op, set);
  return op.attributes;
}

TEST(FallbackEarlierSets, StateWhatTheirNodesLeaveOut) {
  const graph::Attribute of_set_10 = {"coordinate_transformation_mode",
                                      std::string("output_half_pixel")};
  EXPECT_THAT(stated("RoiAlign", 10, {{"mode", std::string("avg")}}),
              ElementsAre(of_set_10, graph::Attribute{"mode", std::string("avg")}));
  EXPECT_EQ(stated("RoiAlign", 16, {}), Attributes{});
  EXPECT_THAT(stated("DFT", 17, {}), ElementsAre(graph::Attribute{"axis", int64_t{1}}));
}

TEST(FallbackEarlierSets, KeepWhatANodeStates) {
  const Attributes own = {{"axis", int64_t{0}}};
  EXPECT_EQ(stated("DFT", 17, own), own);
  EXPECT_EQ(stated("Hardmax", 13, {}), Attributes{});
}

}  // namespace
}  // namespace millrace::fallback
