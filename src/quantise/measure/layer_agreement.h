// How much each layer of a quantised network loses, measured on samples.
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

// What each layer alone loses: its result for exact operands against the exact one, by probe.
Result<std::vector<Difference>> measure_probes(const ProbedGraph& probed,
                                               std::span<const Sample> samples);

// What all layers up to each value have lost together: the values of the floating point model
// against those of the quantised one that carry their names (or quantised_name()), by value of
// `exact`; nothing where the quantised program has no such value.
Result<std::vector<std::optional<Difference>>> compare_values(const graph::CompiledModel& exact,
                                                              const graph::CompiledModel& quantised,
                                                              std::span<const Sample> samples);

}  // namespace millrace::quantise
