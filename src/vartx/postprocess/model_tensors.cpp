#include "vartx/postprocess/model_tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "vision/postprocess/values.h"

namespace millrace::vartx {
namespace {

using ::vart::TensorDataType;
using ::vart::TensorInfo;

tensor::DataType type_of(const TensorInfo& info) {
  switch (info.data_type) {
    case TensorDataType::INT8:
      return tensor::DataType::kInt8;
    case TensorDataType::FLOAT32:
      return tensor::DataType::kFloat32;
    case TensorDataType::BF16:
      return tensor::DataType::kBf16;
    case TensorDataType::FP16:
      return tensor::DataType::kFp16;
    case TensorDataType::UNKNOWN:
      break;
  }
  throw std::invalid_argument(title_of(info) +
                              ": the data type must be INT8, FLOAT32, BF16 or FP16");
}

void check_output(const TensorInfo& info) {
  const size_t needed = bytes_of(info);
  if (info.size < needed)
    throw std::invalid_argument(fmt::format("{}: the shape [{}] needs {} bytes, but the size is {}",
                                            title_of(info), fmt::join(info.shape, ", "), needed,
                                            info.size));
  const bool is_scale = std::isfinite(info.scale_coeff) && info.scale_coeff > 0;
  if (info.data_type == TensorDataType::INT8 && !is_scale)
    throw std::invalid_argument(fmt::format("{}: scale_coeff {} is not a positive number",
                                            title_of(info), info.scale_coeff));
}

// Reads the size from a shape with the dimensions of `layout`; false if the rank does not match, or
// the layout has no width and height.
bool find_size(const std::vector<uint32_t>& shape, const std::string& layout, InputSize& size) {
  if (shape.size() != layout.size()) return false;
  const size_t width = layout.find('W');
  const size_t height = layout.find('H');
  if (width == std::string::npos || height == std::string::npos) return false;
  size = {shape[width], shape[height]};
  return true;
}

// Guesses the layout of a shape. Of four dimensions, the second or the last one is the channels if
// it is 1, 3 or 4; five dimensions are those of HCWNC, here with B for the block of channels.
std::string guessed_layout(const std::vector<uint32_t>& shape) {
  const auto may_be_channels = [&](size_t i) {
    return shape[i] == 1 || shape[i] == 3 || shape[i] == 4;
  };
  if (shape.size() == 5) return "HCWNB";
  if (shape.size() != 4) return {};
  return may_be_channels(1) ? "NCHW" : may_be_channels(3) ? "NHWC" : "";
}

}  // namespace

ModelTensors sort_tensors(const std::vector<TensorInfo>& infos) {
  ModelTensors tensors;
  for (const TensorInfo& info : infos) {
    const bool is_input = info.direction == ::vart::TensorDataDirection::INPUT;
    if (!is_input) check_output(info);
    (is_input ? tensors.inputs : tensors.outputs).push_back(info);
  }
  if (tensors.outputs.empty()) throw std::invalid_argument("set_config: there is no output tensor");
  return tensors;
}

size_t elements_of(const TensorInfo& info) {
  uint64_t elements = info.shape.empty() ? 0 : 1;
  for (const uint32_t dimension : info.shape) {
    elements *= dimension;
    if (elements == 0 || elements > std::numeric_limits<uint32_t>::max()) break;
  }
  if (elements == 0 || elements > std::numeric_limits<uint32_t>::max())
    throw std::invalid_argument(fmt::format("{}: the shape [{}] has no elements or too many",
                                            title_of(info), fmt::join(info.shape, ", ")));
  return elements;
}

size_t bytes_of(const TensorInfo& info) {
  return elements_of(info) * tensor::size_of(type_of(info));
}

std::string title_of(const TensorInfo& info) {
  return fmt::format("tensor \"{}\"", info.name);
}

void read_output(const TensorInfo& info, tensor::DataType byte_type, const std::byte* bytes,
                 std::vector<float>& values) {
  values.resize(elements_of(info));
  const tensor::DataType type = info.data_type == TensorDataType::INT8 ? byte_type : type_of(info);
  vision::read_values(bytes, type, info.scale_coeff, values);
}

InputSize input_size(const ModelTensors& tensors, const std::string& layout) {
  if (tensors.inputs.empty())
    throw std::invalid_argument("set_config: boxes need an input tensor, for the picture's size");
  const TensorInfo& input = tensors.inputs.front();
  const std::string own = input.shape.size() == 5 ? guessed_layout(input.shape) : layout;
  InputSize size;
  if (find_size(input.shape, own, size) || find_size(input.shape, input.memory_layout, size) ||
      find_size(input.shape, guessed_layout(input.shape), size))
    return size;
  throw std::invalid_argument(
      fmt::format("{}: an input of shape [{}] and layout \"{}\" has no known width and height",
                  title_of(input), fmt::join(input.shape, ", "), own));
}

}  // namespace millrace::vartx
