// Which pictures and which results a model's tensors are.
#pragma once

#include "vart/vart_npu_tensor.hpp"
#include "vart/vart_postprocess_types.hpp"
#include "vart/vart_runner_factory.hpp"
#include "vart/vart_videoframe_types.hpp"

struct PictureFormat {
  vart::VideoFormat format = vart::VideoFormat::UNKNOWN;
  uint32_t height = 0;
  uint32_t width = 0;
  float quantisation = 1;    // what normalised values are multiplied by
  float zero_point = 0;      // what is added then
  bool is_unsigned = false;  // 8-bit elements are UINT8
};

// The picture that has exactly the bytes of this input tensor. Throws std::runtime_error, with the
// reason, for a tensor that is no picture of three channels.
PictureFormat picture_format(const vart::Runner& runner, const vart::NpuTensorInfo& input);

// The output tensor as postprocessing describes it: UINT8 as INT8, since it has no name for the
// former. Throws std::runtime_error for a data type that postprocessing does not read.
vart::TensorInfo result_info(const vart::Runner& runner, const vart::NpuTensorInfo& output);
