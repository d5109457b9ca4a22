// YOLOv8's segmentation models: [1,4+C+M,N], whose columns are candidates with centre, size, class
// scores and M weights, and M prototypes of masks [1,M,H,W]. The mask of a candidate is where the
// weighted sum of the prototypes is positive, within its box.
#include <algorithm>
#include <cmath>

#include "cli/detections/box_format.h"
#include "cli/detections/masks.h"

namespace millrace::cli {
namespace {

constexpr size_t kBoxRows = 4;

struct MaskedColumns {
  DetectorOutput boxes;  // without the weights, as models have them that find no masks
  Matrix all;
  const DetectorOutput* prototypes = nullptr;

  size_t masks() const { return prototypes->desc.shape[1]; }
  uint32_t rows() const { return prototypes->desc.shape[2]; }
  uint32_t columns() const { return prototypes->desc.shape[3]; }
};

// Returns what the two outputs hold, which may come in either order; nothing for other outputs.
std::optional<MaskedColumns> masked_columns_in(DetectorOutputs outputs) {
  if (outputs.size() != 2) return std::nullopt;
  const bool prototypes_first = outputs[0].desc.shape.size() == 4;
  const DetectorOutput& columns = outputs[prototypes_first ? 1 : 0];
  const DetectorOutput& prototypes = outputs[prototypes_first ? 0 : 1];
  const std::vector<uint32_t>& shape = prototypes.desc.shape;
  const auto all = matrix_of(columns);
  if (!all || columns.desc.shape.size() != 3 || shape.size() != 4 || shape[0] != 1 ||
      all->rows <= kBoxRows + shape[1] || prototypes.values.empty())
    return std::nullopt;
  const size_t rows = all->rows - shape[1];
  const std::span<const float> kept = all->values.first(rows * all->columns);
  return MaskedColumns{
      {tensor::make_cpu_desc(columns.desc.name, columns.desc.type,
                             {1, static_cast<uint32_t>(rows), static_cast<uint32_t>(all->columns)}),
       {kept.begin(), kept.end()}},
      *all,
      &prototypes};
}

// Whether a detection is that of this column, in pixels or relative to the size of the input.
bool is_of_column(const vision::Box& box, const Matrix& all, size_t column,
                  const InputSize& input) {
  const auto width = static_cast<float>(input.width), height = static_cast<float>(input.height);
  const vision::Box own = vision::centred_box(all.at(0, column), all.at(1, column),
                                              all.at(2, column), all.at(3, column));
  const auto same = [&](float x, float y) {
    return box.x == own.x * x && box.y == own.y * y && box.width == own.width * x &&
           box.height == own.height * y;
  };
  return same(1, 1) || same(width, height);
}

// Cells of the grid that the side of a box covers, also in part.
struct Range {
  uint32_t from = 0;
  uint32_t to = 0;
};

Range cells_of(float begin, float length, uint32_t input, uint32_t cells) {
  const double per_pixel = static_cast<double>(cells) / input;
  const auto within = [&](double at) {
    return static_cast<uint32_t>(std::clamp(at, 0.0, static_cast<double>(cells)));
  };
  return {within(std::floor(begin * per_pixel)),
          within(std::ceil((double{begin} + length) * per_pixel))};
}

Mask mask_of(const vision::Box& box, const MaskedColumns& found, size_t column,
             const InputSize& input) {
  Mask mask{found.rows(), found.columns(), {}};
  const size_t cells = size_t{mask.rows} * mask.columns;
  mask.inside.resize(cells);
  const Range x = cells_of(box.x, box.width, input.width, mask.columns);
  const Range y = cells_of(box.y, box.height, input.height, mask.rows);
  const size_t first_weight = found.all.rows - found.masks();
  for (uint32_t row = y.from; row < y.to; ++row)
    for (uint32_t in_row = x.from; in_row < x.to; ++in_row) {
      const size_t cell = size_t{row} * mask.columns + in_row;
      float sum = 0;
      for (size_t i = 0; i < found.masks(); ++i)
        sum += found.all.at(first_weight + i, column) * found.prototypes->values[i * cells + cell];
      mask.inside[cell] = sum > 0;
    }
  return mask;
}

}  // namespace

std::optional<Detections> decode_masked_columns(DetectorOutputs outputs, const InputSize& input,
                                                float least_score) {
  const auto found = masked_columns_in(outputs);
  if (!found) return std::nullopt;
  return decode_columns(std::span(&found->boxes, 1), input, least_score);
}

std::vector<Mask> masks_of(std::span<const vision::Detection> detections,
                           std::span<const DetectorOutput> outputs, const InputSize& input) {
  std::vector<Mask> masks(detections.size());
  const auto found = masked_columns_in(outputs);
  if (!found) return masks;
  for (size_t column = 0; column < found->all.columns; ++column)
    for (size_t i = 0; i < detections.size(); ++i)
      if (masks[i].rows == 0 && is_of_column(detections[i].box, found->all, column, input))
        masks[i] = mask_of(detections[i].box, *found, column, input);
  return masks;
}

}  // namespace millrace::cli
