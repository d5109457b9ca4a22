// Selects models that fuzz targets run: a valid archive may need hours of work and any memory.
#pragma once

#include "graph/compiled_model.h"

namespace millrace::fuzz {

// A few milliseconds and megabytes, whatever its operators are.
bool is_small(const graph::CompiledModel& model);

}  // namespace millrace::fuzz
