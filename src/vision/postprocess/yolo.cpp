// plan() checks the shapes once, so that decoding needs no checks. A box whose score is below the
// threshold is dropped before its coordinates are computed.
#include "vision/postprocess/yolo.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "vision/postprocess/scores.h"

namespace millrace::vision {
namespace {

constexpr uint32_t kBoxAttributes = 4;

uint32_t class_offset(const YoloOptions& options) {
  return kBoxAttributes + (options.has_objectness ? 1 : 0);
}

// Returns the number of attributes of a box, derived from the first output.
uint32_t attributes_of(const GridSet& set, const CellLayout& output) {
  return output.is_map ? output.channels / set.grids.front().boxes_per_cell() : output.channels;
}

Status check_map(const Grid& grid, const CellLayout& output, uint32_t attributes) {
  if (output.rows != grid.rows || output.columns != grid.columns)
    return invalid_argument(fmt::format("the grid has {} x {} cells, but its output {} x {}",
                                        grid.rows, grid.columns, output.rows, output.columns));
  if (uint64_t{attributes} * grid.boxes_per_cell() != output.channels)
    return invalid_argument(fmt::format("{} channels are not {} boxes with {} attributes each",
                                        output.channels, grid.boxes_per_cell(), attributes));
  return {};
}

Status check_list(uint32_t boxes, const CellLayout& output, uint32_t attributes) {
  if (output.cells != boxes || output.channels != attributes)
    return invalid_argument(
        fmt::format("the grid needs {} boxes with {} attributes, but its output has {} with {}",
                    boxes, attributes, output.cells, output.channels));
  return {};
}

}  // namespace

// The attributes of one box within an output.
struct YoloDecoder::Attributes {
  std::span<const float> values;
  const CellLayout& layout;
  uint32_t cell;
  uint32_t first_channel;
  float operator[](uint32_t attribute) const {
    return values[layout.at(cell, first_channel + attribute)];
  }
};

YoloDecoder::YoloDecoder(YoloOptions options, std::vector<CellLayout> outputs,
                         std::vector<Source> sources)
    : options_(std::move(options)), outputs_(std::move(outputs)), sources_(std::move(sources)) {
  attributes_ = attributes_of(options_.grid_set, outputs_.front());
}

Result<YoloDecoder> YoloDecoder::plan(YoloOptions options, std::vector<CellLayout> outputs) {
  MILLRACE_RETURN_IF_ERROR(check_grids(options.grid_set));
  if (outputs.empty()) return invalid_argument("there is no output to decode");
  const uint32_t attributes = attributes_of(options.grid_set, outputs.front());
  if (attributes <= class_offset(options))
    return invalid_argument(
        fmt::format("a box has {} attributes, too few for a class score", attributes));
  auto sources = plan_sources(options.grid_set, outputs, attributes);
  if (!sources.ok()) return sources.status();
  return YoloDecoder(std::move(options), std::move(outputs), *std::move(sources));
}

Result<std::vector<YoloDecoder::Source>> YoloDecoder::plan_sources(
    const GridSet& set, std::span<const CellLayout> outputs, uint32_t attributes) {
  std::vector<Source> sources;
  if (outputs.size() == 1 && !outputs[0].is_map) {
    MILLRACE_RETURN_IF_ERROR(check_list(count_boxes(set), outputs[0], attributes));
    uint32_t first = 0;
    for (const Grid& grid : set.grids) {
      sources.push_back({0, first});
      first += grid.cells() * grid.boxes_per_cell();
    }
    return sources;
  }
  if (outputs.size() != set.grids.size())
    return invalid_argument(
        fmt::format("there are {} grids and {} outputs", set.grids.size(), outputs.size()));
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    const Grid& grid = set.grids[i];
    MILLRACE_RETURN_IF_ERROR(outputs[i].is_map ? check_map(grid, outputs[i], attributes)
                                               : check_list(grid.cells() * grid.boxes_per_cell(),
                                                            outputs[i], attributes));
    sources.push_back({i, 0});
  }
  return sources;
}

std::vector<Detection> YoloDecoder::decode(std::span<const std::span<const float>> outputs) const {
  std::vector<Detection> found;
  for (size_t i = 0; i < sources_.size(); ++i) decode_grid(i, outputs, found);
  return found;
}

void YoloDecoder::decode_grid(size_t index, std::span<const std::span<const float>> outputs,
                              std::vector<Detection>& found) const {
  const Source& source = sources_[index];
  const CellLayout& layout = outputs_[source.output];
  const Grid& grid = options_.grid_set.grids[index];
  for_each_box(grid, [&](const BoxPlace& place) {
    const uint32_t cell = place.row * grid.columns + place.column;
    const uint32_t listed = source.first_cell + place.anchor * grid.cells() + cell;
    const Attributes attributes{outputs[source.output], layout, layout.is_map ? cell : listed,
                                layout.is_map ? place.anchor * attributes_ : 0};
    const Detection box = decode_box(place, attributes);
    if (box.score >= options_.least_score && is_valid(box.box)) found.push_back(box);
  });
}

Detection YoloDecoder::decode_box(const BoxPlace& place, const Attributes& attributes) const {
  Detection box;
  score_box(attributes, box);
  if (box.score >= options_.least_score) box.box = place_box(place, attributes);
  return box;
}

Box YoloDecoder::place_box(const BoxPlace& place, const Attributes& attributes) const {
  const Stride stride = stride_of(options_.grid_set, *place.grid);
  const auto column = static_cast<float>(place.column);
  const auto row = static_cast<float>(place.row);
  const float width = std::exp(attributes[2]);
  const float height = std::exp(attributes[3]);
  if (place.grid->anchors.empty())
    return centred_box((column + attributes[0]) * stride.x, (row + attributes[1]) * stride.y,
                       width * stride.x, height * stride.y);
  const Anchor& anchor = place.grid->anchors[place.anchor];
  return centred_box((column + sigmoid(attributes[0])) * stride.x,
                     (row + sigmoid(attributes[1])) * stride.y, width * anchor.width,
                     height * anchor.height);
}

void YoloDecoder::score_box(const Attributes& attributes, Detection& box) const {
  const uint32_t first = class_offset(options_);
  const uint32_t classes = attributes_ - first;
  // Sigmoid and softmax preserve the order, so the best class is found before they are applied.
  float best = -std::numeric_limits<float>::infinity();
  for (uint32_t i = 0; i < classes; ++i)
    if (const float score = attributes[first + i]; score > best) {
      best = score;
      box.class_id = i;
    }
  box.score = best;
  if (options_.class_scores == ClassScores::kSigmoid) box.score = sigmoid(best);
  if (options_.class_scores == ClassScores::kSoftmax) {
    double sum = 0;
    for (uint32_t i = 0; i < classes; ++i) sum += std::exp(double{attributes[first + i]} - best);
    box.score = static_cast<float>(1 / sum);
  }
  if (!options_.has_objectness) return;
  const float objectness = attributes[kBoxAttributes];
  box.score *= options_.sigmoid_objectness ? sigmoid(objectness) : objectness;
}

}  // namespace millrace::vision
