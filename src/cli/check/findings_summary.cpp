#include "cli/check/findings_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace millrace::cli {
namespace {

using Json = nlohmann::json;

void add_line(std::string_view line, FindingsSummary& summary) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return;
  if (json.contains("checker")) ++summary.processes;
  const auto hazard = json.find("hazard");
  if (hazard == json.end() || !hazard->is_string()) return;
  ++summary.findings;
  ++summary.hazards[hazard->get<std::string>()];
}

}  // namespace

FindingsSummary summary_of_findings(std::string_view text) {
  FindingsSummary summary;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    add_line(text.substr(0, end), summary);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return summary;
}

std::string summary_text(const FindingsSummary& summary) {
  if (summary.processes == 0)
    return "the program was not checked: it has opened no device of Millrace";
  if (summary.findings == 0) return "no hazard was found";
  std::string text =
      fmt::format("{} finding{}", summary.findings, summary.findings == 1 ? "" : "s");
  const char* before = ": ";
  for (const auto& [hazard, count] : summary.hazards) {
    text += fmt::format("{}{} {}", before, count, hazard);
    before = ", ";
  }
  return text;
}

}  // namespace millrace::cli
