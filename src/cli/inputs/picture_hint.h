// Suggests how pictures are preprocessed to an input of a model: options for `millrace run`, and a
// configuration for the PreProcess of VART-X.
//
// A model states the size, layout and type of its pictures. It does not state the order of colours,
// mean, scale and cropping, so these are assumptions, which the result lists. Thread-safe.
#pragma once

#include <nlohmann/json.hpp>

#include "graph/compiled_model.h"

namespace millrace::cli {

//   {"run_options": "--resize crop --short-side 256 --mean 123.675,116.28,103.53 ...",
//    "preprocess_cpu": {...}, "preprocess_hw": {...},  configurations, for views that have one
//    "assumed": ["the order RGB", ...]}                the assumptions
//
// Null if the input cannot be a picture of one or three channels.
nlohmann::ordered_json picture_hint(const graph::CompiledModel& model,
                                    const graph::Boundary& input);

}  // namespace millrace::cli
