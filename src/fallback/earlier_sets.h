// Attribute defaults that differ between operator sets. Fallback operators have the meaning of the
// newest set, so defaults of earlier sets must be stated.
#pragma once

#include "graph/operators.h"

namespace millrace::fallback {

// Adds the attributes that the operator leaves out and whose default in operator set `set` of its
// domain differs from that of the newest set. The attributes stay in ascending order. Thread-safe.
void state_earlier_defaults(graph::Fallback& op, int set);

}  // namespace millrace::fallback
