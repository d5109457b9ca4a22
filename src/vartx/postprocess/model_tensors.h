// Checks the descriptions of a model's tensors that a program passes to PostProcess, and converts
// output tensors to float. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/data_type.h"
#include "vart/vart_postprocess_types.hpp"

namespace millrace::vartx {

struct ModelTensors {
  std::vector<::vart::TensorInfo> inputs;
  std::vector<::vart::TensorInfo> outputs;
};

// Divides `infos` by direction. Throws std::invalid_argument when there is no output, or when an
// output has an unsupported type, a shape without elements, fewer bytes than its shape needs or, if
// it is INT8, a scale that is not a positive number; the message names the tensor.
ModelTensors sort_tensors(const std::vector<::vart::TensorInfo>& infos);

// Return the number of elements of a tensor, and their size in bytes.
size_t elements_of(const ::vart::TensorInfo& info);
size_t bytes_of(const ::vart::TensorInfo& info);

// Returns `tensor "NAME"`, the prefix of messages about a tensor.
std::string title_of(const ::vart::TensorInfo& info);

// Converts the elements of an output to float and stores them in `values`, which is resized. The
// elements of a tensor that is described as INT8 have the type `byte_type`, INT8 or UINT8.
// Requirements: sort_tensors() has accepted the output, and there are bytes_of(info) bytes at
// `bytes`.
void read_output(const ::vart::TensorInfo& info, tensor::DataType byte_type, const std::byte* bytes,
                 std::vector<float>& values);

// The size of the picture that the first input of a model holds.
struct InputSize {
  uint32_t width = 0;
  uint32_t height = 0;
};
// Determines the size from the shape by `layout`, NCHW or NHWC; if that does not fit, by the layout
// of the tensor's description; or else by guessing which dimension is the channels. A shape of five
// dimensions is always that of an HCWNC layout. Throws std::invalid_argument when there is no
// input, or its shape contains no such size.
InputSize input_size(const ModelTensors& tensors, const std::string& layout);

}  // namespace millrace::vartx
