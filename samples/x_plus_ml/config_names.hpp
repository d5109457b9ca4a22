// The names that configurations have for the enumerators of VART-X. All functions throw
// std::runtime_error with the names there are for one that is not among them.
#pragma once

#include <string>

#include "vart/vart_inferresult_types.hpp"
#include "vart/vart_postprocess_types.hpp"
#include "vart/vart_preprocess_types.hpp"
#include "vart/vart_videoframe_types.hpp"

struct PostprocessFunction {
  vart::PostProcessType type;
  vart::InferResultType result;  // what its results are
};

vart::PreProcessType resizing_named(const std::string& name);    // "LETTERBOX", "PANSCAN"
vart::VideoFormat colour_format_named(const std::string& name);  // "RGBX_BF16", ...
PostprocessFunction function_named(const std::string& name);     // "SOFTMAX", ...
