// Makes the lines that `millrace compile` prints about its result. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "cli/compile/compile_model.h"

namespace millrace::cli {

// Returns what a user should know about an archive, in lines without newline: its size and
// precision, the HW views of quantised tensors, operators that --cpu-ops has placed on the CPU, and
// notes about fixed batches, open shapes and class names. `output` is the name of the archive. The
// report on a calibration is not included.
std::vector<std::string> summary_lines(const CompiledArchive& compiled, const std::string& output);

}  // namespace millrace::cli
