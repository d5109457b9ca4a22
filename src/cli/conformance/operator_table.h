// The outcomes by operator, as the page docs/operators.md.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "cli/conformance/case_result.h"
#include "cli/conformance/model_facts.h"

namespace millrace::cli {

// The operators of each case, by its name. A case that is not there counts for no operator.
using CaseOperators = std::map<std::string, std::set<OperatorUse>>;

// Why a case with `reason`, the compiler's message, does not run, as far as the operator `type` is
// concerned: without names of nodes and tensors, so that alike cases have the same text. Empty
// where the message is about other operators only.
std::string reason_for(const std::string& type, const std::string& reason);

// The page, in Markdown: totals, a row per operator, failures, and what was left out. A case counts
// in the row of every operator that its model has.
std::string operator_page(std::span<const CaseResult> results, const CaseOperators& operators);

}  // namespace millrace::cli
