// FindingsSummary: what the file of the hazard checker (src/check) says about a program.
// Thread-safe, as values are.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace millrace::cli {

struct FindingsSummary {
  size_t processes = 0;                     // that were checked
  size_t findings = 0;                      // that are described in the file
  std::map<std::string, size_t> hazards{};  // how many of each kind
};

// Reads lines of JSON. Others, such as one that was cut off when its program was killed, are
// passed over.
FindingsSummary summary_of_findings(std::string_view text);

// Returns the summary as a line, such as "2 findings: 1 shared_output, 1 never_waited".
std::string summary_text(const FindingsSummary& summary);

}  // namespace millrace::cli
