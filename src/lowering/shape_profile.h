// Makes a static model of a dynamic one, for a device and given shapes of its inputs. Thread-safe.
#pragma once

#include "base/status.h"
#include "graph/capabilities.h"
#include "graph/compiled_model.h"

namespace millrace::lowering {

// Returns the model that the compiler would have made with these shapes. Constants that it takes
// over share the memory of the network's. Requirement: the model has a network, and its inputs can
// have the shapes of the profile. kUnsupported if shapes still depend on elements that only a run
// computes; otherwise errors are those of lower_whole() and finish().
Result<graph::CompiledModel> lower_profile(const graph::CompiledModel& model,
                                           const graph::Capabilities& capabilities,
                                           const graph::ShapeProfile& profile);

}  // namespace millrace::lowering
