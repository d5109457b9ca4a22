#include "vision/postprocess/suppression.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace millrace::vision {
namespace {

bool is_better(const Detection& a, const Detection& b) {
  return a.score > b.score;
}

// Greedy NMS, where overlaps(kept, candidate) is true if the kept detection suppresses the
// candidate.
template <class Overlaps>
std::vector<Detection> suppress_where(std::vector<Detection> candidates, Overlaps overlaps) {
  std::vector<Detection> kept;
  for (const Detection& candidate : best_candidates(std::move(candidates)))
    if (std::ranges::none_of(kept,
                             [&](const Detection& other) { return overlaps(other, candidate); }))
      kept.push_back(candidate);
  return kept;
}

void decay(std::span<Detection> rest, const Detection& taken, float sigma) {
  for (Detection& other : rest) {
    const float iou = intersection_over_union(taken.box, other.box);
    other.score *= std::exp(-iou * iou / sigma);
  }
}

}  // namespace

std::vector<Detection> best_candidates(std::vector<Detection> candidates) {
  std::erase_if(candidates, [](const Detection& candidate) {
    return std::isnan(candidate.score) || !is_valid(candidate.box);
  });
  std::ranges::stable_sort(candidates, is_better);
  if (candidates.size() > kMostCandidates) candidates.resize(kMostCandidates);
  return candidates;
}

std::vector<Detection> suppress(std::vector<Detection> candidates, float threshold) {
  return suppress_where(std::move(candidates), [threshold](const auto& kept, const auto& other) {
    return intersection_over_union(kept.box, other.box) > threshold;
  });
}

std::vector<Detection> suppress_by_class(std::vector<Detection> candidates, float threshold) {
  return suppress_where(std::move(candidates), [threshold](const auto& kept, const auto& other) {
    return kept.class_id == other.class_id &&
           intersection_over_union(kept.box, other.box) > threshold;
  });
}

std::vector<Detection> suppress_by_distance(std::vector<Detection> candidates, float threshold) {
  return suppress_where(std::move(candidates), [threshold](const auto& kept, const auto& other) {
    return distance_iou(kept.box, other.box) > threshold;
  });
}

std::vector<Detection> soften(std::vector<Detection> candidates, float sigma, float least_score) {
  std::vector<Detection> rest = best_candidates(std::move(candidates));
  std::erase_if(rest, [least_score](const auto& one) { return one.score < least_score; });
  std::vector<Detection> kept;
  while (!rest.empty()) {
    // The order of equal scores is kept: max_element returns the first of them, and erase() does
    // not reorder the others.
    const auto best = std::ranges::max_element(rest, {}, &Detection::score);
    kept.push_back(*best);
    rest.erase(best);
    decay(rest, kept.back(), sigma);
    std::erase_if(rest, [least_score](const auto& one) { return one.score < least_score; });
  }
  return kept;
}

std::vector<ClassCount> count_by_class(std::span<const Detection> detections) {
  std::map<uint32_t, uint32_t> counts;
  for (const Detection& detection : detections) ++counts[detection.class_id];
  std::vector<ClassCount> result;
  result.reserve(counts.size());
  for (const auto& [class_id, count] : counts) result.push_back({class_id, count});
  return result;
}

}  // namespace millrace::vision
