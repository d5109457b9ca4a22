// Names of tensor types in the Open Inference Protocol, and the form of a model's tensors there.
// Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "millrace/model.hpp"
#include "millrace/tensor.hpp"

namespace millrace::serve {

// Returns the protocol's name of a type, such as "FP32".
std::string_view protocol_name(DataType type);
std::optional<DataType> type_of_protocol(std::string_view name);

// Whether the protocol's JSON can hold elements of the type: 16-bit floating point is raw only.
bool has_json_form(DataType type);

// Whether the first dimension counts frames: jobs of the model have several, and each has a first
// dimension of 1.
bool counts_frames(const Model& model, const TensorInfo& info);

// The shape of a tensor in the metadata: -1 for dimensions that each request chooses.
std::vector<int64_t> metadata_shape(const Model& model, const TensorInfo& info);

}  // namespace millrace::serve
