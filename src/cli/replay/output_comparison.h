// Compares an output of a job with the recorded one. Thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/status.h"
#include "cli/golden/tolerances.h"
#include "graph/compiled_model.h"
#include "millrace/tensor.hpp"

namespace millrace::cli {

struct OutputDifference {
  std::string tensor;
  size_t frame = 0;
  size_t elements = 0, different = 0;
  double greatest = 0;  // difference of two elements; infinite if one only is NaN or infinite
};

// Returns the difference beyond the tolerances; none if there is none. Without tolerances the bits
// of the elements must be equal. Padding of a HW view is not compared. If the record has another
// number of elements, all of them differ. Requirement: `ours` has the bytes of the boundary in
// `view`.
Result<std::optional<OutputDifference>> compare_output(const graph::Boundary& boundary, View view,
                                                       std::span<const std::byte> ours,
                                                       std::span<const std::byte> recorded,
                                                       const std::optional<Tolerances>& tolerances);

}  // namespace millrace::cli
