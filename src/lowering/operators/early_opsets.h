// Broadcasting before opset 7: an arithmetic operator stated by its attributes `broadcast` and
// `axis` where the dimensions of its second operand belong. A Reshape of that operand expresses the
// same by numpy's rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "graph/network/network.h"
#include "lowering/graph_builder.h"

namespace millrace::lowering {

// The first opset in which operands broadcast by numpy's rules.
inline constexpr int kNumpyBroadcast = 7;

// For a node of an earlier opset, reshapes the second operand of arithmetic, logic and comparisons,
// and the slope of a PRelu, so that it broadcasts by numpy's rules as the opset specifies. Changes
// nothing for other nodes.
Status align_operands(GraphBuilder& builder, const network::Node& node, int opset,
                      std::vector<graph::ValueId>& operands);

// Whether an attribute of this name and opset can be ignored, since align_operands() has handled it
// or it has no effect on inference.
bool is_early_attribute(std::string_view name, int opset);

}  // namespace millrace::lowering
