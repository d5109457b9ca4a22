// Reasons are taken from the text of the compiler's messages, so the patterns here must follow
// these.
#include "cli/conformance/operator_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <regex>
#include <vector>

namespace millrace::cli {
namespace {

struct Row {
  std::set<int64_t> opsets;
  Totals totals;
  std::map<std::string, size_t> reasons;  // number of unsupported cases by reason
};

using RowKey = std::pair<std::string, std::string>;  // domain and operator
using Rows = std::map<RowKey, Row>;

constexpr const char* kHead = R"(# Operators

<!-- Made by scripts/conformance.sh; changes by hand are lost. -->

These are the results of the ONNX backend tests of Debian's package `libonnx-testdata` (1.12). Each case is compiled,
stored as an archive, loaded on the device `cpu` and run through the native API. Its inputs are inputs of the
archive, so nothing that depends on them is computed by the compiler; initializers are constants.

An output is right by the measure of the ONNX backend test runner: |ours - expected| <= 1e-7 + 1e-3 * |expected| for
floating types, where neighbouring numbers count as equal (in BFLOAT16 they are further apart than that), and exactly
equal for integers and booleans. The tests store BFLOAT16 numbers as UINT16, and the unused `like` of some casts as one
element instead of the twelve that the model declares. Unsupported is what the compiler refuses, with its reason.

    millrace conformance --onnx-tests /usr/share/libonnx-testdata/data --exclude tests/onnx/excluded.txt
)";

// Escapes a text for a cell of a Markdown table: nothing in it ends the cell or is markup.
std::string for_cell(const std::string& text) {
  std::string cell;
  for (const char c : on_one_line(text)) {
    if (std::string_view("|<>*_`\\[]").find(c) != std::string_view::npos) cell += '\\';
    cell += c;
  }
  return cell;
}

std::string without_names(const std::string& text) {
  static const std::regex kNamed("(input|output|tensor) '[^']*'");
  return std::regex_replace(text, kNamed, "$1");
}

Rows rows_of(std::span<const CaseResult> results, const CaseOperators& operators) {
  Rows rows;
  for (const auto& [test, outcome] : results) {
    const auto used = operators.find(test.name);
    if (outcome.verdict == Verdict::kExcluded || used == operators.end()) continue;
    std::set<RowKey> counted;  // functions of the model may use an operator in several opsets
    for (const OperatorUse& use : used->second) {
      Row& row = rows[{use.domain, use.type}];
      row.opsets.insert(use.opset);
      if (!counted.insert({use.domain, use.type}).second) continue;
      row.totals.add(outcome.verdict);
      if (outcome.verdict != Verdict::kUnsupported) continue;
      const std::string reason = reason_for(use.type, outcome.reason);
      ++row.reasons[reason.empty() ? "other operators of the model" : reason];
    }
  }
  return rows;
}

// Returns a text such as "its input is not a constant (8); mode is 'cubic' (2)", the most frequent
// reason first.
std::string text_of(const std::map<std::string, size_t>& reasons) {
  std::vector<std::pair<std::string, size_t>> sorted(reasons.begin(), reasons.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  for (const auto& [reason, count] : sorted)
    texts.push_back(fmt::format("{} ({})", for_cell(reason), count));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string totals_table(std::span<const CaseResult> results) {
  std::string text =
      "\n## Cases\n\n"
      "| folder | found | excluded | counted | passed | failed | unsupported |\n"
      "|---|---:|---:|---:|---:|---:|---:|\n";
  const auto add = [&](const std::string& name, const Totals& totals) {
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", name, totals.found(), totals.excluded,
                    totals.counted(), totals.passed, totals.failed, totals.unsupported);
  };
  for (const auto& [suite, totals] : totals_by_suite(results)) add(suite, totals);
  add("all", total_of(results));
  return text;
}

std::string operators_table(const Rows& rows) {
  std::string text =
      "\n## Operators\n\n"
      "A case counts for every operator in its model; the opsets are those that the models "
      "import.\n\n"
      "| operator | opsets | cases | passed | failed | unsupported | why |\n"
      "|---|---|---:|---:|---:|---:|---|\n";
  for (const auto& [key, row] : rows) {
    const auto& [domain, type] = key;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n",
                        for_cell(domain == "ai.onnx" ? type : domain + "." + type),
                        fmt::join(row.opsets, ", "), row.totals.counted(), row.totals.passed,
                        row.totals.failed, row.totals.unsupported, text_of(row.reasons));
  }
  return text;
}

std::string case_list(const std::string& title, Verdict verdict,
                      std::span<const CaseResult> results) {
  std::string text = fmt::format("\n## {}\n\n", title);
  const bool any = std::ranges::any_of(
      results, [&](const CaseResult& result) { return result.outcome.verdict == verdict; });
  if (!any) return text + "None.\n";
  text += "| case | why |\n|---|---|\n";
  for (const CaseResult& result : results)
    if (result.outcome.verdict == verdict)
      text +=
          fmt::format("| {} | {} |\n", for_cell(result.test.name), for_cell(result.outcome.reason));
  return text;
}

}  // namespace

std::string reason_for(const std::string& type, const std::string& reason) {
  // Matches a line such as "  Slice (domain ai.onnx, opset 13: why), 2 nodes: 'a', 'b'", with which
  // the compiler lists unsupported operators.
  static const std::regex kListed(
      R"(  (\S+) \(domain [^,]*, opset [^:)]*(?:: (.*))?\), \d+ nodes?: .*)");
  if (reason.find('\n') == std::string::npos) return without_names(reason);
  for (size_t at = 0; at != std::string::npos;) {
    const size_t end = reason.find('\n', at);
    const std::string line = reason.substr(at, end == std::string::npos ? end : end - at);
    std::smatch match;
    if (std::regex_match(line, match, kListed) && match[1] == type)
      return match[2].matched ? without_names(match[2]) : "the operator is not supported";
    at = end == std::string::npos ? end : end + 1;
  }
  return {};
}

std::string operator_page(std::span<const CaseResult> results, const CaseOperators& operators) {
  return kHead + totals_table(results) + operators_table(rows_of(results, operators)) +
         case_list("Failures", Verdict::kFail, results) +
         case_list("Excluded cases", Verdict::kExcluded, results);
}

}  // namespace millrace::cli
