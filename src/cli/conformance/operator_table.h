// Writes the page docs/operators.md: the results of the conformance run by operator. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "cli/conformance/case_result.h"
#include "cli/conformance/model_facts.h"

namespace millrace::cli {

// The operators of each case, by the name of the case. A case without an entry counts for no
// operator.
using CaseOperators = std::map<std::string, std::set<OperatorUse>>;

// Extracts from `reason`, the compiler's message about an unsupported case, what it says about the
// operator `type`. Names of nodes and tensors are removed, so that similar cases have equal texts.
// Empty if the message is about other operators only.
std::string reason_for(const std::string& type, const std::string& reason);

// Returns the page in Markdown: totals, a row per operator, failures, and excluded cases. A case
// counts in the row of every operator that its model uses.
std::string operator_page(std::span<const CaseResult> results, const CaseOperators& operators);

}  // namespace millrace::cli
