// The settings that the configuration text of a PreProcess states.
#pragma once

#include <optional>
#include <string>

#include "tensor/data_type.h"
#include "vart/vart_preprocess_types.hpp"
#include "vision/preprocess/axis.h"

namespace millrace::vartx {

struct PreProcessConfig {
  ::vart::PreProcessInfo info;
  std::optional<float> quant_scale_factor;               // takes precedence over any qt_fctr
  tensor::DataType byte_type = tensor::DataType::kInt8;  // what 8-bit formats hold
  vision::Filter filter = vision::Filter::kAuto;
};

// Throws std::invalid_argument for what is no JSON object, and for a value that a key does not
// take.
PreProcessConfig parse_preprocess_config(const std::string& json);

}  // namespace millrace::vartx
