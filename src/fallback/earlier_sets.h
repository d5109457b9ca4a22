// Defaults that earlier operator sets give to attributes that a node leaves out, as far as later
// sets differ. Fallback operators have the meaning of the newest set.
#pragma once

#include "graph/operators.h"

namespace millrace::fallback {

// States the attributes that the operator does not, and that nodes of operator set `set` of its
// domain have by default. The attributes stay in ascending order. Thread-safe.
void state_earlier_defaults(graph::Fallback& op, int set);

}  // namespace millrace::fallback
