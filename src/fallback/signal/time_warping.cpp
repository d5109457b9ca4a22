// DynamicTimeWarping of com.microsoft: the path of least cost through a matrix of costs [rows,
// columns], from the first element to the last, whose steps go to the next row, the next column or
// both (dynamic time warping). Output: its rows and columns, [2, length] of INT32.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "fallback/element.h"
#include "fallback/families.h"

namespace millrace::fallback {
namespace {

enum class WarpStep : uint8_t { kBoth, kRow, kColumn };

using WarpPath = std::vector<std::pair<int32_t, int32_t>>;

// Chooses the step to an element, given the costs of the paths to the elements that it may come
// from. Among equal costs the step to the next column is taken.
WarpStep cheapest_step(float both, float row, float column) {
  if (both < row && both < column) return WarpStep::kBoth;
  return row < both && row < column ? WarpStep::kRow : WarpStep::kColumn;
}

// Returns the step to each element, row by row.
std::vector<WarpStep> steps_of(std::span<const float> costs, size_t rows, size_t columns) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<WarpStep> steps(costs.size());
  // The costs of the paths to the elements of the row before and of this one, after one element
  // beside the matrix.
  std::vector<float> before(columns + 1, kInfinity), now(columns + 1, kInfinity);
  before[0] = 0;
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      const std::array from = {before[column], before[column + 1], now[column]};
      const WarpStep step = cheapest_step(from[0], from[1], from[2]);
      steps[row * columns + column] = step;
      now[column + 1] = from[static_cast<size_t>(step)] + costs[row * columns + column];
    }
    std::swap(before, now);
    now[0] = kInfinity;
  }
  return steps;
}

// Returns the path from the last element back to the first.
WarpPath path_back(const NodeView& node) {
  const auto dims = node.in(0).dims.last(2);
  const auto rows = static_cast<size_t>(dims[0]), columns = static_cast<size_t>(dims[1]);
  const std::vector<WarpStep> steps = steps_of(node.in(0).as<float>(), rows, columns);
  WarpPath path;
  for (size_t row = rows, column = columns; row > 0 && column > 0;) {
    path.emplace_back(row - 1, column - 1);
    const WarpStep step = steps[(row - 1) * columns + column - 1];
    if (step != WarpStep::kColumn) --row;
    if (step != WarpStep::kRow) --column;
  }
  return path;
}

Status shape_of_time_warping(Inference& node) {
  const auto dims = node.in(0).dims;
  constexpr int64_t kMostDim = std::numeric_limits<int32_t>::max();
  const bool is_matrix = dims.size() == 2 || (dims.size() == 3 && dims[0] == 1);
  if (!is_matrix || std::ranges::any_of(dims, [](int64_t dim) { return dim > kMostDim; }))
    return invalid_argument("its costs must be [rows, columns] or [1, rows, columns]");
  MILLRACE_RETURN_IF_ERROR(node.require_elements(0));
  node.set(0, DataType::kInt32, {2, static_cast<int64_t>(path_back(node).size())});
  return {};
}

Status time_warping(const Call& call) {
  const WarpPath path = path_back(call);
  int32_t* const to = call.out(0).as<int32_t>().data();
  for (size_t i = 0; i < path.size(); ++i) {
    const auto& [row, column] = path[path.size() - 1 - i];
    to[i] = row;
    to[path.size() + i] = column;
  }
  return {};
}

}  // namespace

std::span<const OperatorSpec> time_warping_operators() noexcept {
  static constexpr OperatorSpec kOperators[] = {
      {"com.microsoft.DynamicTimeWarping",
       1,
       {},
       {},
       kFloats,
       shape_of_time_warping,
       time_warping,
       {},
       true},
  };
  return kOperators;
}

}  // namespace millrace::fallback
