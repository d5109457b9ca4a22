// Warns of calibration samples that look like a mistake.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/compiled_model.h"
#include "quantise/calibrate/sample.h"

namespace millrace::quantise {

// Returns one sentence for each problem found: there is only one sample, all samples are identical,
// or in every sample all elements of an input are equal. Requirement: each sample fits the model.
std::vector<std::string> sample_warnings(const graph::CompiledModel& model,
                                         std::span<const Sample> samples);

}  // namespace millrace::quantise
