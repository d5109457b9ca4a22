#include "vision/postprocess/suppression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace millrace::vision {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// The overlap of whole-number boxes, by counting unit squares.
float counted_iou(const Box& a, const Box& b) {
  int common = 0, either = 0;
  const auto covers = [](const Box& box, int x, int y) {
    return float(x) >= box.x && float(x) < box.x + box.width && float(y) >= box.y &&
           float(y) < box.y + box.height;
  };
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 32; ++x) {
      common += covers(a, x, y) && covers(b, x, y);
      either += covers(a, x, y) || covers(b, x, y);
    }
  return static_cast<float>(common) / static_cast<float>(either);
}

// Distinct scores, so that the order of the result is known.
std::vector<Detection> random_detections(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> corner(0, 20), size(1, 12), id(0, 2);
  std::vector<Detection> detections;
  for (size_t i = 0; i < count; ++i)
    detections.push_back(
        {{float(corner(random)), float(corner(random)), float(size(random)), float(size(random))},
         static_cast<float>(i + 1) / static_cast<float>(count),
         static_cast<uint32_t>(id(random))});
  std::ranges::shuffle(detections, random);
  return detections;
}

// Suppression as its definition says: take the best, drop what it suppresses, repeat.
template <class Suppresses>
std::vector<Detection> naive(std::vector<Detection> rest, Suppresses suppresses) {
  std::vector<Detection> kept;
  while (!rest.empty()) {
    const Detection best = *std::ranges::max_element(rest, {}, &Detection::score);
    kept.push_back(best);
    std::erase_if(rest, [&](const Detection& other) {
      return other.score == best.score || suppresses(best, other);
    });
  }
  return kept;
}

std::vector<float> scores(const std::vector<Detection>& detections) {
  std::vector<float> result;
  for (const Detection& one : detections) result.push_back(one.score);
  return result;
}

TEST(Boxes, OverlapIsTheCommonAreaByTheWholeArea) {
  const auto detections = random_detections(40, 1);
  for (const Detection& a : detections)
    for (const Detection& b : detections)
      EXPECT_NEAR(intersection_over_union(a.box, b.box), counted_iou(a.box, b.box), 1e-6);
}

TEST(Boxes, BoxesWithoutAreaDoNotOverlap) {
  const Box empty{3, 3, 0, 0};
  EXPECT_EQ(intersection_over_union(empty, empty), 0);
  EXPECT_EQ(distance_iou(empty, empty), 0);
  const Box huge{-3e38F, -3e38F, 3e38F, 3e38F};
  EXPECT_EQ(intersection_over_union(huge, huge), 1);
}

TEST(Boxes, DistanceLowersTheOverlap) {
  // Centres 2 apart; the box around both is 4 x 2, its squared diagonal 20.
  EXPECT_FLOAT_EQ(distance_iou({0, 0, 2, 2}, {2, 0, 2, 2}), -4.0F / 20);
  EXPECT_FLOAT_EQ(distance_iou({1, 1, 2, 3}, {1, 1, 2, 3}), 1);
}

TEST(Suppression, AgreesWithItsDefinition) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    const auto detections = random_detections(60, seed);
    const auto overlaps = [](const Detection& a, const Detection& b) {
      return counted_iou(a.box, b.box) > 0.35F;
    };
    EXPECT_EQ(scores(suppress(detections, 0.35F)), scores(naive(detections, overlaps)));
    EXPECT_EQ(scores(suppress_by_class(detections, 0.35F)),
              scores(naive(detections, [&](const Detection& a, const Detection& b) {
                return a.class_id == b.class_id && overlaps(a, b);
              })));
  }
}

TEST(Suppression, ByDistanceKeepsWhatIsApart) {
  const std::vector<Detection> apart = {{{0, 0, 10, 2}, 0.9F, 0}, {{4, 0, 10, 2}, 0.8F, 0}};
  EXPECT_THAT(suppress(apart, 0.4F), SizeIs(1));  // the overlap is 12 / 28
  EXPECT_THAT(suppress_by_distance(apart, 0.4F), SizeIs(2));
}

TEST(Suppression, OverlapOfExactlyTheThresholdStays) {
  const std::vector<Detection> half = {{{0, 0, 2, 1}, 0.9F, 0}, {{0, 0, 1, 1}, 0.8F, 0}};
  EXPECT_THAT(suppress(half, 0.5F), SizeIs(2));
}

TEST(Suppression, OfEqualScoresTheFirstStays) {
  const std::vector<Detection> same = {{{0, 0, 2, 2}, 0.9F, 4}, {{0, 0, 2, 2}, 0.9F, 5}};
  const auto kept = suppress(same, 0.5F);
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].class_id, 4U);
}

TEST(Suppression, SoftScoresFallByTheGaussianOfTheOverlap) {
  const std::vector<Detection> pair = {{{0, 0, 2, 1}, 0.9F, 0}, {{0, 0, 1, 1}, 0.8F, 0}};
  const auto kept = soften(pair, 0.5F, 0.1F);
  ASSERT_THAT(kept, SizeIs(2));
  EXPECT_FLOAT_EQ(kept[0].score, 0.9F);
  EXPECT_FLOAT_EQ(kept[1].score, 0.8F * std::exp(-0.5F * 0.5F / 0.5F));
  EXPECT_THAT(soften(pair, 0.5F, 0.7F), SizeIs(1));
}

TEST(Suppression, NanAndInvalidBoxesAreDropped) {
  const std::vector<Detection> bad = {{{0, 0, 1, 1}, kNan, 0},
                                      {{kNan, 0, 1, 1}, 0.9F, 0},
                                      {{0, 0, -1, 1}, 0.9F, 0},
                                      {{0, 0, 1, std::numeric_limits<float>::infinity()}, 0.9F, 0}};
  EXPECT_THAT(suppress(bad, 0.5F), IsEmpty());
  EXPECT_THAT(soften(bad, 0.5F, 0.5F), IsEmpty());
  EXPECT_THAT(suppress({}, 0.5F), IsEmpty());
}

TEST(Suppression, OnlyTheBestOfManyAreCompared) {
  std::vector<Detection> many(3 * kMostCandidates);
  for (size_t i = 0; i < many.size(); ++i)
    many[i] = {{0, 0, 4, 4}, 1 / static_cast<float>(i + 1), static_cast<uint32_t>(i)};
  const auto best = best_candidates(many);
  ASSERT_THAT(best, SizeIs(kMostCandidates));
  EXPECT_EQ(best.back().class_id, kMostCandidates - 1);
}

TEST(Suppression, ObjectsAreCountedByClass) {
  const std::vector<Detection> found = {{{}, 1, 7}, {{}, 1, 2}, {{}, 1, 7}};
  const auto counts = count_by_class(found);
  ASSERT_THAT(counts, SizeIs(2));
  EXPECT_EQ(counts[0].class_id, 2U);
  EXPECT_EQ(counts[0].count, 1U);
  EXPECT_EQ(counts[1].class_id, 7U);
  EXPECT_EQ(counts[1].count, 2U);
}

}  // namespace
}  // namespace millrace::vision
