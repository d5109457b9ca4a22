// The tensors of a model as a program describes them to PostProcess, checked, and read as floats.
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

// Divides `infos` by direction. Throws std::invalid_argument, naming the tensor, when there is no
// output, or when an output has a type that cannot be read, a shape without elements, fewer bytes
// than its shape needs, or, if it is INT8, a scale that is not a positive number.
ModelTensors sort_tensors(const std::vector<::vart::TensorInfo>& infos);

// Elements of a tensor, and the bytes they take.
size_t elements_of(const ::vart::TensorInfo& info);
size_t bytes_of(const ::vart::TensorInfo& info);

// "tensor NAME", as messages begin.
std::string title_of(const ::vart::TensorInfo& info);

// The elements of one output as floats, into `values`, which is resized; those of an INT8 tensor
// are of `byte_type`, INT8 or UINT8. Requirements: an output of sort_tensors, and bytes_of(info)
// bytes at `bytes`.
void read_output(const ::vart::TensorInfo& info, tensor::DataType byte_type, const std::byte* bytes,
                 std::vector<float>& values);

// Width and height of the first input's picture.
struct InputSize {
  uint32_t width = 0;
  uint32_t height = 0;
};
// Reads the size by `layout`, NCHW or NHWC; if it is empty, by the tensor's own layout, else by
// which dimension could be channels. Five dimensions are always those of HCWNC layouts. Throws
// std::invalid_argument when there is no input, or no such size in its shape.
InputSize input_size(const ModelTensors& tensors, const std::string& layout);

}  // namespace millrace::vartx
