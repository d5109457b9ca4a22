#include "vision/postprocess/ssd.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "vision/postprocess/scores.h"

namespace millrace::vision {
namespace {

constexpr uint32_t kOffsets = 4;
constexpr float kCentreVariance = 0.1F;
constexpr float kSizeVariance = 0.2F;

std::vector<Box> prior_boxes(const GridSet& set) {
  std::vector<Box> priors;
  for (const Grid& grid : set.grids) {
    const Stride stride = stride_of(set, grid);
    for_each_box(grid, [&](const BoxPlace& place) {
      const Anchor& anchor = grid.anchors[place.anchor];
      priors.push_back({(static_cast<float>(place.column) + 0.5F) * stride.x,
                        (static_cast<float>(place.row) + 0.5F) * stride.y, anchor.width,
                        anchor.height});
    });
  }
  return priors;
}

Status check_outputs(const GridSet& set, const CellLayout& offsets, const CellLayout& scores) {
  const uint32_t boxes = count_boxes(set);
  if (offsets.cells != boxes || scores.cells != boxes)
    return invalid_argument(fmt::format("the grids have {} boxes, but the outputs {} and {}", boxes,
                                        offsets.cells, scores.cells));
  if (offsets.channels != kOffsets || scores.channels == kOffsets || scores.channels < 2)
    return invalid_argument(
        fmt::format("one output must have {} channels, and the other one channel per class and one "
                    "for the background; they have {} and {}",
                    kOffsets, offsets.channels, scores.channels));
  return {};
}

}  // namespace

Result<SsdDecoder> SsdDecoder::plan(GridSet grid_set, float least_score,
                                    std::vector<CellLayout> outputs) {
  MILLRACE_RETURN_IF_ERROR(check_grids(grid_set));
  if (std::ranges::any_of(grid_set.grids, [](const Grid& grid) { return grid.anchors.empty(); }))
    return invalid_argument("every grid needs anchors");
  if (outputs.size() != 2)
    return invalid_argument(fmt::format(
        "there must be two outputs, box offsets and class scores, not {}", outputs.size()));
  SsdDecoder decoder;
  if (outputs[0].channels != kOffsets) std::swap(decoder.offsets_index_, decoder.scores_index_);
  decoder.offsets_ = outputs[decoder.offsets_index_];
  decoder.scores_ = outputs[decoder.scores_index_];
  MILLRACE_RETURN_IF_ERROR(check_outputs(grid_set, decoder.offsets_, decoder.scores_));
  decoder.priors_ = prior_boxes(grid_set);
  decoder.least_score_ = least_score;
  return decoder;
}

std::vector<Detection> SsdDecoder::decode(std::span<const std::span<const float>> outputs) const {
  std::vector<Detection> found;
  std::vector<float> scores(scores_.channels);
  for (uint32_t i = 0; i < priors_.size(); ++i) {
    for (uint32_t id = 0; id < scores.size(); ++id)
      scores[id] = outputs[scores_index_][scores_.at(i, id)];
    softmax(scores);
    const Box box = place_box(i, outputs[offsets_index_]);
    if (!is_valid(box)) continue;
    for (uint32_t id = 1; id < scores.size(); ++id)
      if (scores[id] >= least_score_) found.push_back({box, scores[id], id});
  }
  return found;
}

Box SsdDecoder::place_box(size_t box, std::span<const float> offsets) const {
  const Box& prior = priors_[box];
  const auto offset = [&](uint32_t channel) {
    return offsets[offsets_.at(static_cast<uint32_t>(box), channel)];
  };
  return centred_box(prior.x + kCentreVariance * offset(0) * prior.width,
                     prior.y + kCentreVariance * offset(1) * prior.height,
                     prior.width * std::exp(kSizeVariance * offset(2)),
                     prior.height * std::exp(kSizeVariance * offset(3)));
}

}  // namespace millrace::vision
