// A valid CompiledModel that holds every kind of operator, each with attributes that differ from
// their defaults, both kinds of partition and a memory plan with reuse. It computes nothing of use.
#pragma once

#include "graph/compiled_model.h"

namespace millrace::test {

graph::CompiledModel all_operators_model();

}  // namespace millrace::test
