// Which pictures and which results a model's tensors are. All functions throw std::runtime_error
// that names the tensor.
#pragma once

#include <cstdint>
#include <optional>

#include "vart/vart_npu_tensor.hpp"
#include "vart/vart_postprocess_types.hpp"
#include "vart/vart_runner_factory.hpp"
#include "vart/vart_videoframe_types.hpp"

namespace samples {

struct PictureFormat {
  vart::VideoFormat format = vart::VideoFormat::UNKNOWN;
  uint32_t height = 0;
  uint32_t width = 0;
  float quantisation = 1;    // what normalised values are multiplied by
  float zero_point = 0;      // what is added then
  bool is_unsigned = false;  // 8-bit elements are UINT8
};

// The picture that has exactly the bytes of this input tensor: `wanted`, or, without it, the one in
// the order RGB. Throws, with the reason, for a tensor that is no picture of three channels, and
// when `wanted` has its bytes in another arrangement.
PictureFormat picture_format(const vart::Runner& runner, const vart::NpuTensorInfo& input,
                             std::optional<vart::VideoFormat> wanted = std::nullopt);

// The tensor as postprocessing describes it: UINT8 as INT8, since it has no name for the former.
// Throws for a data type that postprocessing does not read.
vart::TensorInfo result_info(const vart::Runner& runner, const vart::NpuTensorInfo& tensor);

}  // namespace samples
