// Writes results as a JUnit file, which CI systems show. Thread-safe.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace millrace::cli {

enum class JunitVerdict { kPassed, kFailed, kSkipped };

struct JunitCase {
  std::string classname, name;
  JunitVerdict verdict = JunitVerdict::kPassed;
  double seconds = 0;
  std::string message, text;  // why a case failed or was skipped: in one line, and in full
  std::string output;         // what a case that passed has to say; may be empty
};

struct JunitSuite {
  std::string name;
  std::vector<JunitCase> cases;
};

// Returns well-formed XML in UTF-8, whatever bytes the texts contain: characters that XML cannot
// represent become '?'.
std::string junit_text(std::span<const JunitSuite> suites);

}  // namespace millrace::cli
