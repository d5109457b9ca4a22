// Collectives: what the shape functions refuse, and a group of one rank. What several ranks compute
// is in tests/ranks/models.
#include <gmock/gmock.h>

#include <limits>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::Array;
using test::array;
using test::Attributes;
using test::compute;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Array kFour = array<float>({2, 2}, {1, 2, 3, 4});

Result<Dims> shape_of(const std::string& type, Attributes attributes) {
  const TensorView view = kFour.view();
  MILLRACE_ASSIGN_OR_RETURN(
      const auto types,
      infer_outputs({"com.microsoft." + type, std::move(attributes)}, {&view, 1}, 1));
  return types[0].shape;
}

TEST(FallbackCollectives, AGatherGrowsAlongItsAxis) {
  EXPECT_EQ(*shape_of("AllGather", {{"axis", int64_t{0}}, {"group_size", int64_t{3}}}),
            (Dims{6, 2}));
  EXPECT_EQ(*shape_of("AllGather", {{"group_size", int64_t{3}}}), (Dims{2, 6}));  // axis 1
  EXPECT_EQ(*shape_of("AllReduce", {{"group_size", int64_t{3}}}), (Dims{2, 2}));
  EXPECT_EQ(*shape_of("AllToAll", {{"group_size", int64_t{2}}}), (Dims{2, 2}));
}

TEST(FallbackCollectives, AGroupOfOneRankIsACopy) {
  for (const char* type : {"AllReduce", "AllGather", "AllToAll", "Broadcast"})
    EXPECT_THAT(compute(std::string("com.microsoft.") + type, {kFour}, {{"group_size", int64_t{1}}})
                    .as<float>(),
                ElementsAre(1, 2, 3, 4));
}

TEST(FallbackCollectives, WhatSeveralRanksComputeIsNotKnownToOne) {
  for (const Attributes& attributes : {Attributes{}, Attributes{{"group_size", int64_t{2}}}}) {
    const Status status = refusal("com.microsoft.AllReduce", {kFour}, attributes);
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  }
}

TEST(FallbackCollectives, AttributesOutOfRangeAreRefused) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max(), kLeast = -kMost - 1;
  for (const char* type : {"AllReduce", "AllGather", "AllToAll", "Broadcast"})
    for (const int64_t size : {int64_t{0}, int64_t{-1}, kMost, kLeast})
      EXPECT_THAT(shape_of(type, {{"group_size", size}}).status().message(),
                  HasSubstr("group_size is " + std::to_string(size)));
  for (const int64_t axis : {int64_t{2}, int64_t{-3}, kMost, kLeast})
    EXPECT_EQ(shape_of("AllGather", {{"axis", axis}}).status().code(),
              StatusCode::kInvalidArgument);
  for (const int64_t root : {int64_t{-1}, int64_t{2}, kMost, kLeast})
    EXPECT_THAT(
        shape_of("Broadcast", {{"group_size", int64_t{2}}, {"root", root}}).status().message(),
        HasSubstr("root is " + std::to_string(root)));
  EXPECT_THAT(shape_of("AllToAll", {{"group_size", int64_t{3}}}).status().message(),
              HasSubstr("[2,2] is not a multiple of the 3 ranks"));
}

}  // namespace
}  // namespace millrace::fallback
