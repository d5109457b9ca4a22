// Writes the results as a JUnit file for CI systems: a test suite per folder of cases. Unsupported
// and excluded cases are reported as skipped, with the reason. Thread-safe.
#pragma once

#include <span>
#include <string>

#include "cli/conformance/case_result.h"

namespace millrace::cli {

// Returns well-formed XML in UTF-8, whatever bytes the reasons contain: characters that XML cannot
// represent become '?'.
std::string junit_text(std::span<const CaseResult> results);

}  // namespace millrace::cli
