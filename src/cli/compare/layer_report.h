// The report of `millrace compare`: how far the values of two runs differ, layer by layer.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace millrace::cli {

struct LayerDifference {
  std::string value;
  std::vector<uint32_t> shape;  // shape of one frame
  double largest = 0;           // the largest distance of two elements; infinite beside a NaN
  double relative = 0;          // that, by the largest magnitude on the other side
  double cosine = 1;
  std::optional<double> steps;  // `largest` in steps, of integers
  bool beyond = false;          // whether `relative` exceeds the threshold
};

struct LayerReport {
  double threshold = 0;
  std::vector<LayerDifference> layers;  // in the order in which the first model makes them
  size_t not_compared = 0;              // values of the first model that the other side has not
};

bool is_within(const LayerReport& report);
void print_layers_text(const LayerReport& report);
void print_layers_json(const LayerReport& report);

}  // namespace millrace::cli
