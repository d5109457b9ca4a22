// static_model(): fixes the shapes of a model, for faces whose APIs support static shapes only, and
// for programs that ask for a profile.
// Thread-safe, as long as no thread changes the environment.
#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "graph/capabilities.h"
#include "graph/compiled_model.h"

namespace millrace::runtime {

// Returns the name of the profile that the environment variable MILLRACE_PROFILE asks for; empty if
// it asks for none.
std::string_view profile_of_environment();

// Returns the model itself if its shapes are static and no profile is named. A model with dynamic
// shapes is lowered for a device of these capabilities, with the shapes of one of its profiles: the
// named one, or the one that the environment variable MILLRACE_PROFILE names, or the first.
// kUnsupported, with the reason and a remedy, if it has no profile; kInvalidArgument if it has none
// of that name; otherwise as lowering::lower_profile().
Result<std::shared_ptr<const graph::CompiledModel>> static_model(
    std::shared_ptr<const graph::CompiledModel> model, const graph::Capabilities& capabilities,
    std::string_view profile = {});

}  // namespace millrace::runtime
