// The outcomes as a JUnit file, which CI systems read: a test suite per folder of cases. What is
// unsupported or excluded is skipped, with the reason.
#pragma once

#include <span>
#include <string>

#include "cli/conformance/case_result.h"

namespace millrace::cli {

// Well-formed XML in UTF-8, whatever the reasons contain: what XML cannot hold becomes '?'.
std::string junit_text(std::span<const CaseResult> results);

}  // namespace millrace::cli
