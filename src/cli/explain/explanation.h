// The report of `millrace explain` on a loaded program, as human-readable text and as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "device/device.h"
#include "lowering/placement/placement.h"
#include "runtime/loading/profile.h"

namespace millrace::cli {

// {"model", "device", "precision", "note", "partitions": [{"kind", "operators": [...],
// "steps": [...]}]}. An operator has its node, attributes, the nodes of the ONNX file that it comes
// from (of a model that was compiled just now), the numbers of its steps, and on a CPU partition
// "why_cpu". A step has its number, kernel, precision, layouts, the reason for which the device
// added it, and with a profile its share of the time. `cpu_operators` are those that the user
// forced onto the CPU; `profile` may be null.
nlohmann::ordered_json explain(const device::Program& program,
                               const lowering::CpuOperators& cpu_operators,
                               const runtime::ProfileTotals* profile);

void print_explanation(const nlohmann::ordered_json& explanation);

}  // namespace millrace::cli
