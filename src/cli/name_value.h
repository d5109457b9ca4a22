// NAME=VALUE arguments. The name may itself contain '=' only if the value does not: the last '='
// separates, since ONNX tensor names are free text and layouts, shapes and most paths are not.
#pragma once

#include <string>

#include "base/status.h"

namespace millrace::cli {

struct NameValue {
  std::string name;
  std::string value;
};

// kInvalidArgument when there is no '=' or one side is empty.
Result<NameValue> split_name_value(const std::string& text);

}  // namespace millrace::cli
