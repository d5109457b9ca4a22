// Rotation of pairs of elements by an angle that follows from a position.
#pragma once

#include "lowering/operators/node_import.h"

namespace millrace::lowering {

// `x` with the first elements of its last dimension rotated: twice as many as `cos` and `sin` have
// in theirs, which otherwise broadcast to `x`. A pair are two that lie next to each other
// (interleaved), or one of the first half and one of the second.
Result<ValueId> rotated(NodeImport& node, ValueId x, ValueId cos, ValueId sin, bool interleaved);

}  // namespace millrace::lowering
