// The table of ONNX operators that have a handler, by domain, name and opset. Operators without a
// row may still be fallback operators (src/fallback). Constant data: thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// The opsets of the default domain that are supported.
inline constexpr int kMinOpset = 1;
inline constexpr int kMaxOpset = 22;

inline constexpr size_t kAnyNumber = ~size_t{0};

struct OperatorEntry {
  std::string_view domain;  // "" is the default domain
  std::string_view type;
  int since;        // the first opset of the domain that the handler supports
  int last;         // the last one
  size_t required;  // the first operands, which must be present
  size_t allowed;   // the most operands; may be kAnyNumber
  Handler handler;
};

// The whole list.
std::span<const OperatorEntry> operator_table();

// The entry for an operator; null if there is none for this opset.
const OperatorEntry* find_operator(std::string_view domain, std::string_view type, int opset);

}  // namespace millrace::lowering
