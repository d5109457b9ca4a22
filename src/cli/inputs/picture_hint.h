// How pictures probably become an input of a model: what to write for `millrace run`, and as the
// configuration of VART-X's PreProcess.
//
// A model says how large its pictures are, in which layout and of which type. It says nothing about
// colours, mean, scale and cropping, so these are assumptions, and are named as such.
#pragma once

#include <nlohmann/json.hpp>

#include "graph/compiled_model.h"

namespace millrace::cli {

//   {"run_options": "--resize crop --short-side 256 --mean 123.675,116.28,103.53 ...",
//    "preprocess_cpu": {...}, "preprocess_hw": {...},  configurations for the views that one fits
//    "assumed": ["the order RGB", ...]}                what the model does not say
//
// Null for an input that is no picture of one or three channels.
nlohmann::ordered_json picture_hint(const graph::CompiledModel& model,
                                    const graph::Boundary& input);

}  // namespace millrace::cli
