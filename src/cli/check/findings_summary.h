// FindingsSummary: what the file of the hazard checker (src/check) says about a program.
// Thread-safe, as values are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "cli/check/source_lines.h"

namespace millrace::cli {

struct FindingCount {
  uint64_t findings = 0;     // different ones
  uint64_t occurrences = 0;  // of all of them
};

struct FindingsSummary {
  size_t processes = 0;  // that were checked
  size_t ended = 0;      // of these, which have told their numbers; of others, what they described
  std::map<std::string, FindingCount> hazards{};
  std::set<CodePlace> calls{};           // in the stacks
  std::set<std::string> not_looked_for;  // kinds that the run could not show

  FindingCount all() const noexcept;
};

// Reads lines of JSON. Others, such as one that was cut off when its program was killed, are
// passed over.
FindingsSummary summary_of_findings(std::string_view text);

// Returns the summary as a line, such as
// "2 findings, which occurred 49 times: 1 missing_sync (48 times), 1 never_waited".
std::string summary_text(const FindingsSummary& summary);

// Returns the lines with the places in the sources: "source" in each call, and after it in the
// stack.
std::string with_sources(std::string_view text, const SourceLines& sources);

}  // namespace millrace::cli
