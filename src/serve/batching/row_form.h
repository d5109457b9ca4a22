// RowForm: what it takes to join requests along the open leading dimension of a model, whose
// entries are its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/status.h"
#include "millrace/millrace.hpp"

namespace millrace::serve {

struct RowForm {
  struct Tensor {
    TensorShape shape;  // with one row
    size_t bytes = 0;   // of one row
  };
  uint32_t most_rows = 0;               // of one job
  std::vector<Tensor> inputs, outputs;  // in the order of the model
};

// The most rows of a job. There is a plan for each number of rows, and a program keeps as many
// (MILLRACE_PLANS), so that no job has to make one.
inline constexpr uint32_t kMostRows = 32;

// Whether the leading dimension of every input is open, and that of every output, or all of it.
bool has_rows(const Model& model);

// Finds the form by trying: runs jobs of one row, and of up to `most_rows` of the same rows with
// elements that vary. kUnsupported, with the reason, if another dimension of an input is open, if
// no output is floating point, and if a row has other bits in one of these jobs than it has alone,
// since rows depend on each other or kernels sum in another order; kClosed if `closed`, which is
// asked before each job, says so; otherwise the errors of Unit::execute().
// Requirement: has_rows(model), and 2 <= most_rows <= kMostRows.
Result<RowForm> find_row_form(const Model& model, Unit& unit, uint32_t most_rows,
                              const std::function<bool()>& closed);

}  // namespace millrace::serve
