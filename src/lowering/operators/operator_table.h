// The table of ONNX operators that have a handler, by domain, name and opset. Operators without a
// row may still be fallback operators (src/fallback). Constant data: thread-safe.
#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "fallback/operator_table.h"
#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// The opsets of the default domain whose operators are known. Models of later ones are read as if
// no operator had changed since.
inline constexpr int kMinOpset = 1;
inline constexpr int kMaxOpset = 27;
// The last opset of operators that kMaxOpset has: these have not been removed.
inline constexpr int kNoLastOpset = std::numeric_limits<int>::max();

using fallback::kAnyNumber;

struct OperatorEntry {
  std::string_view domain;  // "" is the default domain
  std::string_view type;
  int since;  // the first opset of the domain that the handler supports
  int last;   // the last one, or kNoLastOpset
  fallback::Count operands;
  Handler handler;
};

// The whole list.
std::span<const OperatorEntry> operator_table();

// The entry for an operator; null if there is none for this opset.
const OperatorEntry* find_operator(std::string_view domain, std::string_view type, int opset);

}  // namespace millrace::lowering
