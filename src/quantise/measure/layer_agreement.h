// Measures the loss of each layer of a quantised network on samples.
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

// Measures the loss of each layer alone, for exact operands against its exact result, by probe.
Result<std::vector<Difference>> measure_probes(const ProbedGraph& probed,
                                               std::span<const Sample> samples);

// Measures the loss of all layers up to each value together: the values of the floating point model
// against those of the quantised one that carry their names (or quantised_name()), by value of
// `exact`; nothing if the quantised program has no such value.
Result<std::vector<std::optional<Difference>>> compare_values(const graph::CompiledModel& exact,
                                                              const graph::CompiledModel& quantised,
                                                              std::span<const Sample> samples);

}  // namespace millrace::quantise
