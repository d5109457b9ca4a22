// Warnings about samples of calibration that are suspicious.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/compiled_model.h"
#include "quantise/calibrate/sample.h"

namespace millrace::quantise {

// A sentence each: there is one sample only, all are the same, or all elements of an input are the
// same in each of them. Requirement: each sample fits the model.
std::vector<std::string> sample_warnings(const graph::CompiledModel& model,
                                         std::span<const Sample> samples);

}  // namespace millrace::quantise
