// Models as the faces take them whose APIs know static shapes only. Thread-safe.
#pragma once

#include <memory>

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::runtime {

// The model itself where its shapes are static. kUnsupported, with the reason and what to do, where
// jobs settle dimensions.
Result<std::shared_ptr<const graph::CompiledModel>> static_model(
    std::shared_ptr<const graph::CompiledModel> model);

}  // namespace millrace::runtime
