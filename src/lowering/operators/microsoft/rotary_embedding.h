// Rotary position embedding (RoPE): rotates pairs of elements by an angle that depends on the
// position of the token.
#pragma once

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// Rotates the first 2 * half elements of the last dimension of `x`, where `half` is the last
// dimension of `cos` and `sin`. Their other dimensions broadcast to those of `x`. Elements 2 * i
// and 2 * i + 1 are a pair if `interleaved`, and otherwise elements i and half + i.
// kInvalidArgument if the shapes do not fit.
Result<ValueId> rotated(NodeImport& node, ValueId x, ValueId cos, ValueId sin, bool interleaved);

}  // namespace millrace::lowering
