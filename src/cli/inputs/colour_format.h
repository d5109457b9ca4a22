// Finds the colour format in which the preprocessor of VART-X can write directly to a tensor.
// Thread-safe.
#pragma once

#include <string_view>

#include "tensor/desc.h"

namespace millrace::cli {

// Returns the name of the format in a preprocess configuration, such as "RGBX", "RGBX_BF16",
// "RGBP_FLOAT" or "RGB", for an input with three colour channels (four if the layout pads them),
// assuming the order RGB. Empty if no format fits.
std::string_view preprocess_colour_format(const tensor::TensorDesc& desc);

}  // namespace millrace::cli
