#include "cli/conformance/case_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace millrace::cli {

void Totals::add(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPass:
      ++passed;
      break;
    case Verdict::kFail:
      ++failed;
      break;
    case Verdict::kUnsupported:
      ++unsupported;
      break;
    case Verdict::kExcluded:
      ++excluded;
      break;
  }
}

Totals total_of(std::span<const CaseResult> results) {
  Totals totals;
  for (const CaseResult& result : results) totals.add(result.outcome.verdict);
  return totals;
}

std::map<std::string, Totals> totals_by_suite(std::span<const CaseResult> results) {
  std::map<std::string, Totals> suites;
  for (const CaseResult& result : results)
    suites[suite_of(result.test.name)].add(result.outcome.verdict);
  return suites;
}

std::string on_one_line(const std::string& text) {
  std::string line;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      line += line.ends_with(':') ? " " : "; ";
      while (i + 1 < text.size() && text[i + 1] == ' ') ++i;
    } else {
      line += std::iscntrl(static_cast<unsigned char>(text[i])) != 0 ? ' ' : text[i];
    }
  }
  return line;
}

std::string describe(const CaseResult& result) {
  const Outcome& outcome = result.outcome;
  return fmt::format(
      "{:<11}  {}  {}", to_string(outcome.verdict), result.test.name,
      outcome.verdict == Verdict::kPass ? describe(outcome.error) : on_one_line(outcome.reason));
}

std::string describe(const Totals& totals) {
  const double counted = static_cast<double>(std::max<size_t>(totals.counted(), 1));
  return fmt::format(
      "found {}, excluded {}; passed {} of {} counted ({:.1f} %), failed {}, unsupported {}",
      totals.found(), totals.excluded, totals.passed, totals.counted(),
      100.0 * static_cast<double>(totals.passed) / counted, totals.failed, totals.unsupported);
}

}  // namespace millrace::cli
