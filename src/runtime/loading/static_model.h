// Models as the faces take them whose APIs know static shapes only. Thread-safe.
#pragma once

#include <memory>

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::runtime {

// The model itself where its shapes are static. One that jobs settle is lowered with the shapes of
// a profile: the one that the variable MILLRACE_PROFILE names, or the first. kUnsupported, with the
// reason and what to do, where the model has none; kInvalidArgument where it has none of that name;
// otherwise as lowering::lower_profile().
Result<std::shared_ptr<const graph::CompiledModel>> static_model(
    std::shared_ptr<const graph::CompiledModel> model);

}  // namespace millrace::runtime
