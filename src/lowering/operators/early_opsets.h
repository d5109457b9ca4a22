// The meaning of operators before opset 7, as far as it differs in more than an attribute that has
// no effect on inference.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/network/network.h"
#include "lowering/graph_builder.h"

namespace millrace::lowering {

// The first opset with numpy's broadcasting.
inline constexpr int kNumpyBroadcast = 7;

// Gives the second operand of arithmetic and comparisons, or the slope of a PRelu, the dimensions
// with which numpy's broadcasting means what the opset meant by `broadcast` and `axis`.
Status align_operands(GraphBuilder& builder, const network::Node& node, int opset,
                      std::vector<graph::ValueId>& operands);

// Whether an attribute of this name only states what align_operands() has settled, or has no effect
// on inference.
bool is_early_attribute(std::string_view name, int opset);

}  // namespace millrace::lowering
