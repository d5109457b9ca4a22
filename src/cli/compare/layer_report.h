// The report of `millrace compare`: how much the values of two runs differ, layer by layer. One
// thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace millrace::cli {

struct LayerDifference {
  std::string value;
  std::vector<uint32_t> shape;  // shape of one frame
  double largest = 0;           // the largest distance of two elements; infinite if only one is NaN
  double relative = 0;          // `largest` divided by the greatest magnitude on the other side
  double cosine = 1;
  std::optional<double> steps;  // of a tensor of integers: `largest` in steps
  bool beyond = false;          // whether `relative` exceeds the threshold
};

struct LayerReport {
  double threshold = 0;
  std::vector<LayerDifference> layers;  // in the order in which the first model makes them
  size_t not_compared = 0;              // values of the first model that the other side lacks
};

// Whether all layers are within the threshold.
bool is_within(const LayerReport& report);
void print_layers_text(const LayerReport& report);
// Returns the report as json_lines() of {"threshold", "not_compared", "first_beyond", "layers":
// [{"value", "shape", "largest", "relative", "cosine", "steps", "beyond"}]}. A number that is
// infinite is null, as "steps" of floating point values is.
std::string layers_json(const LayerReport& report);

}  // namespace millrace::cli
