// The outcomes of a run, and how many there are of each kind.
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

struct Totals {
  size_t excluded = 0, passed = 0, failed = 0, unsupported = 0;

  size_t counted() const { return passed + failed + unsupported; }
  size_t found() const { return excluded + counted(); }
  void add(Verdict verdict);
};

Totals total_of(std::span<const CaseResult> results);
std::map<std::string, Totals> totals_by_suite(std::span<const CaseResult> results);

// A text of several lines as one, without control characters.
std::string on_one_line(const std::string& text);

// "fail         node/test_abs  why", or for one that passed its error.
std::string describe(const CaseResult& result);

// "passed 290 of 999 counted (29.0 %)", and what became of the others.
std::string describe(const Totals& totals);

}  // namespace millrace::cli
