#include "cli/conformance/junit.h"

#include <fmt/format.h>

#include <vector>

#include "cli/report/junit.h"

namespace millrace::cli {
namespace {

JunitCase test_case(const CaseResult& result, const std::string& suite) {
  const Outcome& outcome = result.outcome;
  JunitCase test;
  test.classname = suite;
  test.name = result.test.name.substr(suite.size() + 1);
  test.seconds = outcome.seconds;
  if (outcome.verdict == Verdict::kPass) {
    test.output = "largest error: " + describe(outcome.error);
    return test;
  }
  test.verdict = outcome.verdict == Verdict::kFail ? JunitVerdict::kFailed : JunitVerdict::kSkipped;
  test.message = fmt::format("{}: {}", to_string(outcome.verdict), on_one_line(outcome.reason));
  test.text = outcome.reason;
  return test;
}

}  // namespace

std::string junit_text(std::span<const CaseResult> results) {
  std::vector<JunitSuite> suites;
  for (const auto& [name, totals] : totals_by_suite(results)) {
    JunitSuite& suite = suites.emplace_back();
    suite.name = name;
    for (const CaseResult& result : results)
      if (suite_of(result.test.name) == name) suite.cases.push_back(test_case(result, name));
  }
  return junit_text(suites);
}

}  // namespace millrace::cli
