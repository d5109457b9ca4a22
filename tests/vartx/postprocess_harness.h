// PostProcess as programs use it: a configuration as text, tensors, and frames in host memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vart/vart_postprocess.hpp"

namespace vart::test {

using FrameResults = std::vector<std::shared_ptr<InferResult>>;

inline TensorInfo tensor_info(TensorDataDirection direction, std::vector<uint32_t> shape,
                              TensorDataType type = TensorDataType::FLOAT32, float scale = 1) {
  TensorInfo info;
  info.shape = std::move(shape);
  info.size = type == TensorDataType::FLOAT32 ? 4 : type == TensorDataType::INT8 ? 1 : 2;
  for (const uint32_t dimension : info.shape) info.size *= dimension;
  info.name = direction == TensorDataDirection::INPUT ? "in" : "out";
  info.scale_coeff = scale;
  info.data_type = type;
  info.direction = direction;
  return info;
}

inline TensorInfo output_info(std::vector<uint32_t> shape,
                              TensorDataType type = TensorDataType::FLOAT32, float scale = 1) {
  return tensor_info(TensorDataDirection::OUTPUT, std::move(shape), type, scale);
}

inline TensorInfo input_info(std::vector<uint32_t> shape) {
  return tensor_info(TensorDataDirection::INPUT, std::move(shape));
}

inline PostProcess make_postprocess(PostProcessType type, std::string json) {
  return PostProcess(type, json, Device::get_device_hdl(0, ""));
}

template <class Element>
int8_t* address(const std::vector<Element>& values) {
  return reinterpret_cast<int8_t*>(const_cast<Element*>(values.data()));
}

// One frame of a model with these tensors, whose outputs are floats.
inline FrameResults run(PostProcessType type, const std::string& json,
                        std::vector<TensorInfo> infos,
                        const std::vector<std::vector<float>>& outputs) {
  PostProcess function = make_postprocess(type, json);
  function.set_config(infos, 1);
  std::vector<int8_t*> data;
  for (const std::vector<float>& output : outputs) data.push_back(address(output));
  return function.process(data, 1).at(0);
}

inline const ClassificationResData& classes(const std::shared_ptr<InferResult>& result) {
  return static_cast<const ClassificationResData&>(*result->get_infer_result());
}

inline const DetectionResData& box(const std::shared_ptr<InferResult>& result) {
  return static_cast<const DetectionResData&>(*result->get_infer_result());
}

inline const SegmentationResData& maps(const std::shared_ptr<InferResult>& result) {
  return static_cast<const SegmentationResData&>(*result->get_infer_result());
}

}  // namespace vart::test
