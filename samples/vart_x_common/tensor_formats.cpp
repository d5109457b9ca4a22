#include "vart_x_common/tensor_formats.hpp"

#include <stdexcept>
#include <string>

namespace samples {
namespace {

using vart::DataType;
using vart::MemoryLayout;
using vart::VideoFormat;

// Of one layout and order of channels: the formats for 8 bits, BF16, FP16 and FLOAT32; UNKNOWN
// where there is none.
struct Formats {
  VideoFormat eight_bit, bf16, fp16, float32;

  VideoFormat of(DataType type) const {
    switch (type) {
      case DataType::INT8:
      case DataType::UINT8:
        return eight_bit;
      case DataType::BF16:
        return bf16;
      case DataType::FP16:
        return fp16;
      case DataType::FLOAT32:
        return float32;
      default:
        return VideoFormat::UNKNOWN;
    }
  }
};

struct BothOrders {
  Formats rgb, bgr;
};

constexpr BothOrders kFourLanes{
    {VideoFormat::RGBx, VideoFormat::RGBx_BF16, VideoFormat::RGBx_FP16, VideoFormat::UNKNOWN},
    {VideoFormat::BGRx, VideoFormat::BGRx_BF16, VideoFormat::BGRx_FP16, VideoFormat::UNKNOWN}};
constexpr BothOrders kPlanes{
    {VideoFormat::RGBP, VideoFormat::RGBP_BF16, VideoFormat::RGBP_FP16, VideoFormat::RGBP_FLOAT},
    {VideoFormat::BGRP, VideoFormat::BGRP_BF16, VideoFormat::BGRP_FP16, VideoFormat::BGRP_FLOAT}};
constexpr BothOrders kPacked{
    {VideoFormat::RGB, VideoFormat::RGB_BF16, VideoFormat::RGB_FP16, VideoFormat::RGB_FLOAT},
    {VideoFormat::BGR, VideoFormat::BGR_BF16, VideoFormat::BGR_FP16, VideoFormat::BGR_FLOAT}};

[[noreturn]] void refuse(const vart::NpuTensorInfo& info, const std::string& reason) {
  throw std::runtime_error("tensor " + info.name + " (" +
                           std::string(vart::to_string(info.memory_layout)) + ", " +
                           std::string(vart::to_string(info.data_type)) + "): " + reason);
}

// Where the rows and columns stand in the shape, and in which formats pixels may be.
struct Arrangement {
  size_t height_at, width_at;
  const BothOrders* formats;
};

// Layouts of the HW view pad the channels, so their number stands in the CPU view only.
uint32_t channels_of(const vart::Runner& runner, const vart::NpuTensorInfo& input) {
  const vart::NpuTensorInfo& cpu =
      runner.get_tensor_info_by_name(input.name, vart::TensorType::CPU);
  const bool is_nchw = cpu.memory_layout == MemoryLayout::NCHW && cpu.shape.size() == 4;
  return is_nchw ? cpu.shape[1] : 0;
}

Arrangement arrangement_of(const vart::Runner& runner, const vart::NpuTensorInfo& input) {
  const auto dimension = [&](size_t i) { return i < input.shape.size() ? input.shape[i] : 0; };
  if (input.memory_layout == MemoryLayout::HCWNC4 && dimension(1) == 1 &&
      channels_of(runner, input) >= 3)
    return {0, 2, &kFourLanes};
  if (input.memory_layout == MemoryLayout::NCHW && dimension(1) == 3) return {2, 3, &kPlanes};
  if (input.memory_layout == MemoryLayout::NHWC && dimension(3) == 3) return {1, 2, &kPacked};
  if (input.memory_layout == MemoryLayout::NHWC && dimension(3) == 4) return {1, 2, &kFourLanes};
  refuse(input, "no picture of three channels has this layout and shape");
}

vart::QuantParameters quantisation_of(const vart::Runner& runner, const vart::NpuTensorInfo& info) {
  const vart::QuantParameters& quantisation = runner.get_quant_parameters(info.name);
  if (!(quantisation.scale > 0)) refuse(info, "its quantisation scale is not positive");
  return quantisation;
}

bool is_integer(DataType type) {
  return type == DataType::INT8 || type == DataType::UINT8;
}

vart::TensorDataType result_type(const vart::NpuTensorInfo& tensor) {
  switch (tensor.data_type) {
    case DataType::INT8:
    case DataType::UINT8:
      return vart::TensorDataType::INT8;
    case DataType::BF16:
      return vart::TensorDataType::BF16;
    case DataType::FP16:
      return vart::TensorDataType::FP16;
    case DataType::FLOAT32:
      return vart::TensorDataType::FLOAT32;
    default:
      refuse(tensor, "postprocessing does not read this data type");
  }
}

}  // namespace

PictureFormat picture_format(const vart::Runner& runner, const vart::NpuTensorInfo& input,
                             std::optional<VideoFormat> wanted) {
  const Arrangement arrangement = arrangement_of(runner, input);
  const VideoFormat rgb = arrangement.formats->rgb.of(input.data_type);
  const VideoFormat bgr = arrangement.formats->bgr.of(input.data_type);
  if (rgb == VideoFormat::UNKNOWN)
    refuse(input, "no picture format has these elements; the CPU view of the model may have one");
  PictureFormat picture;
  picture.format = wanted.value_or(rgb);
  if (picture.format != rgb && picture.format != bgr)
    refuse(input, "its elements are not arranged as those of the colour format asked for");
  picture.height = input.shape[arrangement.height_at];
  picture.width = input.shape[arrangement.width_at];
  const vart::QuantParameters quantisation = quantisation_of(runner, input);
  picture.quantisation = static_cast<float>(1 / quantisation.scale);
  if (is_integer(input.data_type)) picture.zero_point = static_cast<float>(quantisation.zero_point);
  picture.is_unsigned = input.data_type == DataType::UINT8;
  return picture;
}

vart::TensorInfo result_info(const vart::Runner& runner, const vart::NpuTensorInfo& tensor) {
  vart::TensorInfo info{};
  info.size = static_cast<uint32_t>(tensor.size_in_bytes);
  // The zero point is the same for all classes; softmax, which follows, depends on differences
  // only.
  if (is_integer(tensor.data_type))
    info.scale_coeff = static_cast<float>(quantisation_of(runner, tensor).scale);
  info.shape = tensor.shape;
  info.name = tensor.name;
  info.data_type = result_type(tensor);
  info.direction = tensor.direction == vart::TensorDirection::INPUT
                       ? vart::TensorDataDirection::INPUT
                       : vart::TensorDataDirection::OUTPUT;
  info.memory_layout = std::string(vart::to_string(tensor.memory_layout));
  return info;
}

}  // namespace samples
