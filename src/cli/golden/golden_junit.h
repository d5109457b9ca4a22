// Writes the comparisons of `millrace golden` as a JUnit file. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "cli/golden/golden_report.h"

namespace millrace::cli {

// Returns a test suite that is named after the model, with a case for each file.
std::string golden_junit(const std::string& model, const std::vector<ComparedFile>& files,
                         const Tolerances& tolerances);

}  // namespace millrace::cli
