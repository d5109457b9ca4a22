// Makes the answer to an inference request of the outputs of its job. Thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/tensor.hpp"
#include "serve/http/message.h"
#include "serve/shared_memory/shared_regions.h"

namespace millrace::serve {

struct OutputTensor {
  std::string_view name;
  DataType type = DataType::kUnknown;
  TensorShape shape;
  std::span<const std::byte> bytes;
  bool binary = false;
  uint32_t classes = 0;              // number of highest classes to return; 0: all elements
  const RegionPart* part = nullptr;  // of shared memory, which holds it; null: the answer does
};

// Returns the answer, with the names of classes from `labels`. Raw outputs are referred to, not
// copied: its `owner` is the caller's to set.
HttpResponse infer_response(std::string_view model, std::string_view version, std::string_view id,
                            std::span<const OutputTensor> outputs,
                            std::span<const std::string> labels);

// How many elements the answer holds as text.
size_t json_elements(std::span<const OutputTensor> outputs);

}  // namespace millrace::serve
