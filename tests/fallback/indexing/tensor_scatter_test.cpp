#include <gmock/gmock.h>

#include "tests/fallback/compute.h"

namespace millrace::fallback {
namespace {

using test::array;
using test::compute;
using test::refusal;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two sequences with caches of three tokens of size 2.
const test::Array kCache = array<float>({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});

test::Array update_of(int64_t count) {
  std::vector<float> elements;
  for (int64_t i = 0; i < 2 * count * 2; ++i) elements.push_back(static_cast<float>(-1 - i));
  return array<float>({2, count, 2}, elements);
}

TEST(FallbackTensorScatter, WritesEachSequenceAtItsPosition) {
  EXPECT_THAT(
      compute("TensorScatter", {kCache, update_of(1), vector_of<int64_t>({2, 0})}).as<float>(),
      ElementsAre(1, 2, 3, 4, -1, -2, -3, -4, 9, 10, 11, 12));
  EXPECT_THAT(compute("TensorScatter", {kCache, update_of(2)}).as<float>(),
              ElementsAre(-1, -2, -3, -4, 5, 6, -5, -6, -7, -8, 11, 12));
}

TEST(FallbackTensorScatter, WrapsAroundARing) {
  EXPECT_THAT(compute("TensorScatter", {kCache, update_of(2), vector_of<int64_t>({2, 4})},
                      {{"mode", std::string("circular")}})
                  .as<float>(),
              ElementsAre(-3, -4, 3, 4, -1, -2, 7, 8, -5, -6, -7, -8));
}

TEST(FallbackTensorScatter, WritesAlongAnyAxisButTheBatch) {
  const auto cache = array<int8_t>({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const auto update = array<int8_t>({1, 2, 1}, {-1, -2});
  EXPECT_THAT(
      compute("TensorScatter", {cache, update, vector_of<int64_t>({1})}, {{"axis", int64_t{-1}}})
          .as<int8_t>(),
      ElementsAre(1, -1, 3, 4, -2, 6));
  EXPECT_THAT(refusal("TensorScatter", {cache, update}, {{"axis", int64_t{0}}}).message(),
              HasSubstr("batch"));
}

TEST(FallbackTensorScatter, RefusesWhatDoesNotFit) {
  const auto at = [](int64_t position) {
    return refusal("TensorScatter", {kCache, update_of(2), vector_of<int64_t>({0, position})});
  };
  EXPECT_THAT(at(2).message(), HasSubstr("position 2 of batch entry 1 is outside"));
  EXPECT_EQ(at(-1).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(at(int64_t{1} << 62).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refusal("TensorScatter", {kCache, update_of(4)}).message(),
              HasSubstr("an update [2,4,2] does not fit into a cache [2,3,2]"));
  EXPECT_THAT(refusal("TensorScatter", {kCache, update_of(1), vector_of<int64_t>({0})}).message(),
              HasSubstr("one INT64 for each entry"));
  EXPECT_THAT(
      refusal("TensorScatter", {kCache, update_of(1)}, {{"mode", std::string("square")}}).message(),
      HasSubstr("square"));
}

// The result has the memory of the cache, as a job may bind it.
TEST(FallbackTensorScatter, ChangesNothingWhereAPositionDoesNotFit) {
  const test::Array update = update_of(1), positions = vector_of<int64_t>({0, 99});
  test::Array cache = kCache;
  const OutputView result{cache.type, cache.dims, cache.bytes.data()};
  const Status status =
      run(graph::Fallback{"TensorScatter", {}},
          std::vector{cache.view(), update.view(), positions.view()}, std::vector{result});
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(cache.as<float>(), kCache.as<float>());
}

}  // namespace
}  // namespace millrace::fallback
