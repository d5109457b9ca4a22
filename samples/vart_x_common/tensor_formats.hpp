// The pictures and the results that a model's tensors are. All functions throw std::runtime_error
// that names the tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/json_file.hpp"
#include "vart/vart_npu_tensor.hpp"
#include "vart/vart_postprocess_types.hpp"
#include "vart/vart_preprocess_types.hpp"
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

// Tells preprocessing to make this picture. `info` has the means and scales of the
// network; `factor` replaces the quantisation of the tensor.
vart::PreProcessInfo preprocess_info(const PictureFormat& picture, vart::PreProcessInfo info,
                                     std::optional<float> factor = std::nullopt);

// The configurations of preprocessing and postprocessing, with the keys by which Millrace learns
// that 8-bit elements are UINT8, for which the published types have no name. Throws when some
// outputs are INT8 and others UINT8.
Json preprocess_keys(const PictureFormat& picture, Json keys);
Json postprocess_keys(const std::vector<vart::NpuTensorInfo>& outputs, Json keys);

// The tensor as postprocessing of this type describes it: UINT8 as INT8. Throws for a data type
// that postprocessing does not read, and for an output with a zero point, which a TensorInfo cannot
// say, unless the results of this type are the same without it.
vart::TensorInfo result_info(const vart::Runner& runner, const vart::NpuTensorInfo& tensor,
                             vart::PostProcessType type);

}  // namespace samples
