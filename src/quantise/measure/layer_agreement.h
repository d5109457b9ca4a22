// Measures on samples how well each layer of a quantised model agrees with the floating point
// model: each layer alone, and with the loss of all layers before it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/status.h"
#include "graph/compiled_model.h"
#include "quantise/calibrate/sample.h"
#include "quantise/measure/difference.h"
#include "quantise/rewrite/probes.h"

namespace millrace::quantise {

// Measures the loss of each layer alone: the result that the layer computes of exact operands,
// compared with its exact result. Returns one Difference for each of probed.probes, in their order.
Result<std::vector<Difference>> measure_probes(const ProbedGraph& probed,
                                               std::span<const Sample> samples);

// Compares each value of the floating point model with the value of the quantised model that has
// the same name or quantised_name(), and so measures the loss of all layers up to it together. The
// result is indexed by value of `exact`; it is empty where the quantised model has no such value.
Result<std::vector<std::optional<Difference>>> compare_values(const graph::CompiledModel& exact,
                                                              const graph::CompiledModel& quantised,
                                                              std::span<const Sample> samples);

}  // namespace millrace::quantise
