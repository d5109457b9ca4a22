// A static model from a dynamic one, for given shapes of its inputs. Thread-safe.
#pragma once

#include "base/status.h"
#include "graph/compiled_model.h"

namespace millrace::lowering {

// The model as a compiler would have made it with these shapes; its constants share their memory.
// Requirement: the model has a network, and the profile is one that its inputs can have.
// kUnsupported where shapes still follow from elements, and otherwise as lower_whole() and finish()
// fail.
Result<graph::CompiledModel> lower_profile(const graph::CompiledModel& model,
                                           const graph::ShapeProfile& profile);

}  // namespace millrace::lowering
