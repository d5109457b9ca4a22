// PreProcessConfig: the validated values of the JSON configuration of PreProcess.
// docs/preprocess.md lists the keys.
#pragma once

#include <optional>
#include <string>

#include "tensor/data_type.h"
#include "vart/vart_preprocess_types.hpp"
#include "vision/preprocess/axis.h"

namespace millrace::vartx {

struct PreProcessConfig {
  ::vart::PreProcessInfo info;
  std::optional<float> quant_scale_factor;               // takes precedence over info.qt_fctr
  tensor::DataType byte_type = tensor::DataType::kInt8;  // element type of 8-bit formats
  vision::Filter filter = vision::Filter::kAuto;
};

// Parses the configuration. Throws std::invalid_argument for text that is not a JSON object, and
// for an invalid value.
PreProcessConfig parse_preprocess_config(const std::string& json);

}  // namespace millrace::vartx
