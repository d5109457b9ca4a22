// The one list of ONNX operators that can be imported.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// The opsets of the default domain that this importer knows.
inline constexpr int kMinOpset = 1;
inline constexpr int kMaxOpset = 22;

inline constexpr size_t kAnyNumber = ~size_t{0};

struct OperatorEntry {
  std::string_view domain;  // "" is the default domain
  std::string_view type;
  int since;  // the first and the last opset of the domain that has the operator
  int last;
  size_t required;  // operands that must be there, and the most there may be
  size_t allowed;
  Handler handler;
};

// The whole list.
std::span<const OperatorEntry> operator_table();

// The entry for an operator; null where there is none for this opset.
const OperatorEntry* find_operator(std::string_view domain, std::string_view type, int opset);

}  // namespace millrace::lowering
