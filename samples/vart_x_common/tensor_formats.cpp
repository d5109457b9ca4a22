#include "vart_x_common/tensor_formats.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace samples {
namespace {

using vart::DataType;
using vart::MemoryLayout;
using vart::VideoFormat;

// The formats of one layout and order of channels, for 8 bits, BF16, FP16 and FLOAT32; UNKNOWN
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

// The positions of height and width in the shape, and the formats that pixels may have.
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

// A number that is added to every value of a tensor changes nothing where only differences count.
bool depends_on_differences_only(vart::PostProcessType type) {
  using vart::PostProcessType;
  switch (type) {
    case PostProcessType::RESNET50:
    case PostProcessType::SOFTMAX:
    case PostProcessType::NORMALIZATION:
    case PostProcessType::CALIBRATION_TEMPERATURE:
    case PostProcessType::UNCERTAINTY_ESTIMATION:
    case PostProcessType::SOFTMAXSEG:
    case PostProcessType::ARGMAXSEG:
      return true;
    default:
      return false;
  }
}

bool some_are(const std::vector<vart::NpuTensorInfo>& tensors, DataType type) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [type](const auto& tensor) { return tensor.data_type == type; });
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
  // Floats of the CPU view are the real numbers themselves.
  if (is_integer(input.data_type) || input.tensor_type == vart::TensorType::HW)
    picture.quantisation = static_cast<float>(1 / quantisation.scale);
  if (is_integer(input.data_type)) picture.zero_point = static_cast<float>(quantisation.zero_point);
  picture.is_unsigned = input.data_type == DataType::UINT8;
  return picture;
}

vart::PreProcessInfo preprocess_info(const PictureFormat& picture, vart::PreProcessInfo info,
                                     std::optional<float> factor) {
  info.qt_fctr = factor.value_or(picture.quantisation);
  info.height = picture.height;
  info.width = picture.width;
  info.colour_format = picture.format;
  if (picture.zero_point == 0) return info;
  // The formula, (x - mean) * scale * qt_fctr, adds no zero point: it is a part of the mean.
  const float zero = picture.zero_point / info.qt_fctr;
  info.mean_r -= zero / info.scale_r;
  info.mean_g -= zero / info.scale_g;
  info.mean_b -= zero / info.scale_b;
  return info;
}

Json preprocess_keys(const PictureFormat& picture, Json keys) {
  if (picture.is_unsigned) keys.put("output-type", "UINT8");
  return keys;
}

Json postprocess_keys(const std::vector<vart::NpuTensorInfo>& outputs, Json keys) {
  if (!some_are(outputs, DataType::UINT8)) return keys;
  if (some_are(outputs, DataType::INT8))
    throw std::runtime_error(
        "some outputs are INT8 and others UINT8; postprocessing reads one of these types at a "
        "time");
  keys.put("tensor-type", "UINT8");
  return keys;
}

vart::TensorInfo result_info(const vart::Runner& runner, const vart::NpuTensorInfo& tensor,
                             vart::PostProcessType type) {
  const bool is_output = tensor.direction == vart::TensorDirection::OUTPUT;
  vart::TensorInfo info{};
  info.size = static_cast<uint32_t>(tensor.size_in_bytes);
  if (is_integer(tensor.data_type)) {
    const vart::QuantParameters quantisation = quantisation_of(runner, tensor);
    if (is_output && quantisation.zero_point != 0 && !depends_on_differences_only(type))
      refuse(tensor, "its zero point is " + std::to_string(quantisation.zero_point) +
                         ", of which this type of postprocessing cannot be told; a float output, "
                         "or SOFTMAX, can be read");
    info.scale_coeff = static_cast<float>(quantisation.scale);
  }
  info.shape = tensor.shape;
  info.name = tensor.name;
  info.data_type = result_type(tensor);
  info.direction = is_output ? vart::TensorDataDirection::OUTPUT : vart::TensorDataDirection::INPUT;
  info.memory_layout = std::string(vart::to_string(tensor.memory_layout));
  return info;
}

}  // namespace samples
