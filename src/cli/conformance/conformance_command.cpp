// `millrace conformance`: runs the ONNX backend tests end to end, from the model to the outputs, in
// child processes, prints the outcome of each case, and writes reports.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "base/files/output_target.h"
#include "cli/arguments/quantity.h"
#include "cli/commands.h"
#include "cli/conformance/exclusions.h"
#include "cli/conformance/junit.h"
#include "cli/conformance/operator_table.h"
#include "cli/conformance/run_case.h"
#include "cli/conformance/run_cases.h"
#include "cli/print_escaped.h"
#include "io/file.h"

namespace millrace::cli {
namespace {

Result<CaseLimits> limits_from(const ConformanceArguments& arguments) {
  CaseLimits limits;
  limits.jobs =
      arguments.jobs != 0 ? arguments.jobs : std::max(1U, std::thread::hardware_concurrency());
  const auto time = parse_time(arguments.time_limit);
  if (!time.ok()) return time.status().with_context("--time-limit");
  limits.time_limit = *time;
  return limits;
}

Result<std::vector<TestCase>> choose_cases(const ConformanceArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(std::vector<TestCase> cases, find_cases(arguments.onnx_tests));
  if (arguments.filter.empty()) return cases;
  std::erase_if(cases,
                [&](const TestCase& test) { return !fits_pattern(test.name, arguments.filter); });
  if (!cases.empty()) return cases;
  return invalid_argument(fmt::format("--filter {} matches no case", arguments.filter));
}

void leave_out(const Exclusions& exclusions, std::vector<CaseResult>& results) {
  for (CaseResult& result : results) {
    const auto excluded = exclusions.find(result.test.name);
    if (excluded != exclusions.end())
      result.outcome = {.verdict = Verdict::kExcluded, .reason = excluded->second};
  }
}

// Prints results in the order of their names, each as soon as all results before it are available.
class OrderedPrinter {
 public:
  explicit OrderedPrinter(const std::vector<CaseResult>& results)
      : results_(results), ready_(results.size()) {
    for (size_t i = 0; i < results.size(); ++i)
      ready_[i] = results[i].outcome.verdict == Verdict::kExcluded;
  }

  void add(size_t index) {
    ready_[index] = true;
    print();
  }
  void print() {
    for (; next_ < ready_.size() && ready_[next_]; ++next_)
      print_escaped("{}\n", describe(results_[next_]));
    std::fflush(stdout);
  }

 private:
  const std::vector<CaseResult>& results_;
  std::vector<bool> ready_;
  size_t next_ = 0;
};

Status run_all(const CaseLimits& limits, std::vector<CaseResult>& results) {
  std::vector<TestCase> cases;
  std::vector<size_t> places;  // indices of the cases in `results`
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].outcome.verdict == Verdict::kExcluded) continue;
    cases.push_back(results[i].test);
    places.push_back(i);
  }
  OrderedPrinter printer(results);
  printer.print();
  return run_cases(cases, limits, run_case, [&](size_t index, Outcome outcome) {
    results[places[index]].outcome = std::move(outcome);
    printer.add(places[index]);
  });
}

Status write_text(const std::string& path, const std::string& text) {
  return io::write_file(path, std::as_bytes(std::span(text)));
}

// Reads the operators of all cases. A model that cannot be read is left out: its case has failed.
CaseOperators operators_of(const std::vector<CaseResult>& results) {
  CaseOperators operators;
  for (const CaseResult& result : results) {
    Result<ModelFacts> facts = read_model_facts(result.test.model_path());
    if (facts.ok()) operators[result.test.name] = std::move(facts->operators);
  }
  return operators;
}

Status write_reports(const ConformanceArguments& arguments,
                     const std::vector<CaseResult>& results) {
  if (!arguments.junit.empty())
    MILLRACE_RETURN_IF_ERROR(write_text(arguments.junit, junit_text(results)));
  if (!arguments.table.empty())
    MILLRACE_RETURN_IF_ERROR(
        write_text(arguments.table, operator_page(results, operators_of(results))));
  return {};
}

void print_totals(const std::vector<CaseResult>& results) {
  print_escaped("\n");
  for (const auto& [suite, totals] : totals_by_suite(results))
    print_escaped("{}: {}\n", suite, describe(totals));
  print_escaped("all: {}\n", describe(total_of(results)));
}

}  // namespace

Status check_conformance(const ConformanceArguments& arguments) {
  return limits_from(arguments).status();
}

Result<int> run_conformance(const ConformanceArguments& arguments) {
  for (const std::string& output : {arguments.junit, arguments.table})
    MILLRACE_RETURN_IF_ERROR(check_output(output));
  MILLRACE_ASSIGN_OR_RETURN(const CaseLimits limits, limits_from(arguments));
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<TestCase> cases, choose_cases(arguments));
  Exclusions exclusions;
  if (!arguments.exclude.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(exclusions, read_exclusions(arguments.exclude));
  }
  std::vector<CaseResult> results;
  for (const TestCase& test : cases) results.push_back({test, {}});
  leave_out(exclusions, results);
  MILLRACE_RETURN_IF_ERROR(run_all(limits, results));
  print_totals(results);
  MILLRACE_RETURN_IF_ERROR(write_reports(arguments, results));
  return total_of(results).failed == 0 ? 0 : kDifferent;
}

}  // namespace millrace::cli
