// The report of `millrace explain` on a loaded program, as JSON and as human-readable text. One
// thread.
#pragma once

#include <nlohmann/json.hpp>

#include "device/device.h"
#include "lowering/placement/placement.h"
#include "runtime/loading/profile.h"

namespace millrace::cli {

// Returns {"model", "device", "precision", "note", "partitions": [{"kind", "operators": [...],
// "steps": [...]}]}. An operator has its node, its attributes, the nodes of the ONNX file that it
// was made of ("origins", which archives do not have), the indices of its steps and, on a CPU
// partition, "why_cpu". A step has its index, kernel, precision and layouts, "reason" if the device
// gives one, and with a profile its share of the time. A profile adds "by_operation", the sums of
// each kind of operation, the longest first; text has the steps of a partition in that order, too.
// `capabilities` are those of the device; `cpu_operators` are the names that the user has passed as
// --cpu-ops; `profile` may be null.
nlohmann::ordered_json explain(const device::Program& program,
                               const graph::Capabilities& capabilities,
                               const lowering::CpuOperators& cpu_operators,
                               const runtime::ProfileTotals* profile);

// Prints what explain() has returned as text.
void print_explanation(const nlohmann::ordered_json& explanation);

}  // namespace millrace::cli
