// The results of a conformance run: the outcome of each case, and totals by verdict. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "cli/conformance/outcome.h"
#include "cli/conformance/test_case.h"

namespace millrace::cli {

struct CaseResult {
  TestCase test;
  Outcome outcome;
};

// Numbers of cases by verdict.
struct Totals {
  size_t excluded = 0, passed = 0, failed = 0, unsupported = 0;

  size_t counted() const { return passed + failed + unsupported; }
  size_t found() const { return excluded + counted(); }
  void add(Verdict verdict);
};

Totals total_of(std::span<const CaseResult> results);
std::map<std::string, Totals> totals_by_suite(std::span<const CaseResult> results);

// Joins the lines of a text to one, without control characters.
std::string on_one_line(const std::string& text);

// Returns a line such as "fail         node/test_abs  reason"; a case that passed has its largest
// error in place of the reason.
std::string describe(const CaseResult& result);

// Returns a line with the totals, such as "found 1010, excluded 11; passed 290 of 999 counted (29.0
// %), failed 9, unsupported 700".
std::string describe(const Totals& totals);

}  // namespace millrace::cli
