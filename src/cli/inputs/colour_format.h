// The colour format in which the VART-X preprocessor can write straight into a tensor.
#pragma once

#include <string_view>

#include "tensor/desc.h"

namespace millrace::cli {

// For an input with three colour channels (four where the layout pads them) the name as it stands
// in a preprocess configuration, assuming RGB order: "RGBX", "RGBX_BF16", "RGBP_FLOAT", "RGB" ...;
// empty when no format fits.
std::string_view preprocess_colour_format(const tensor::TensorDesc& desc);

}  // namespace millrace::cli
