#include "config_names.hpp"

#include <map>
#include <stdexcept>

namespace {

template <class Value>
const Value& find_named(const char* key, const std::map<std::string, Value>& values,
                        const std::string& name) {
  const auto found = values.find(name);
  if (found != values.end()) return found->second;
  std::string known;
  for (const auto& [other, value] : values) known += " " + other;
  throw std::runtime_error("\"" + std::string(key) + "\" takes one of" + known + ", not \"" + name +
                           "\"");
}

}  // namespace

vart::PreProcessType resizing_named(const std::string& name) {
  using vart::PreProcessType;
  static const std::map<std::string, PreProcessType> kTypes = {
      {"LETTERBOX", PreProcessType::LETTERBOX}, {"PANSCAN", PreProcessType::PANSCAN}};
  return find_named("resizing-type", kTypes, name);
}

vart::VideoFormat colour_format_named(const std::string& name) {
  using vart::VideoFormat;
  static const std::map<std::string, VideoFormat> kFormats = {
      {"RGB", VideoFormat::RGB},
      {"BGR", VideoFormat::BGR},
      {"RGBX", VideoFormat::RGBx},
      {"BGRX", VideoFormat::BGRx},
      {"RGBP", VideoFormat::RGBP},
      {"BGRP", VideoFormat::BGRP},
      {"RGB_FLOAT", VideoFormat::RGB_FLOAT},
      {"BGR_FLOAT", VideoFormat::BGR_FLOAT},
      {"RGBP_FLOAT", VideoFormat::RGBP_FLOAT},
      {"BGRP_FLOAT", VideoFormat::BGRP_FLOAT},
      {"RGB_FP16", VideoFormat::RGB_FP16},
      {"BGR_FP16", VideoFormat::BGR_FP16},
      {"RGBP_FP16", VideoFormat::RGBP_FP16},
      {"BGRP_FP16", VideoFormat::BGRP_FP16},
      {"RGBX_FP16", VideoFormat::RGBx_FP16},
      {"BGRX_FP16", VideoFormat::BGRx_FP16},
      {"RGB_BF16", VideoFormat::RGB_BF16},
      {"BGR_BF16", VideoFormat::BGR_BF16},
      {"RGBP_BF16", VideoFormat::RGBP_BF16},
      {"BGRP_BF16", VideoFormat::BGRP_BF16},
      {"RGBX_BF16", VideoFormat::RGBx_BF16},
      {"BGRX_BF16", VideoFormat::BGRx_BF16},
  };
  return find_named("colour-format", kFormats, name);
}

PostprocessFunction function_named(const std::string& name) {
  using vart::PostProcessType;
  constexpr auto kClasses = vart::InferResultType::CLASSIFICATION;
  constexpr auto kBoxes = vart::InferResultType::DETECTION;
  constexpr auto kMaps = vart::InferResultType::SEGMENTATION;
  static const std::map<std::string, PostprocessFunction> kFunctions = {
      {"RESNET50", {PostProcessType::RESNET50, kClasses}},
      {"YOLOV2", {PostProcessType::YOLOV2, kBoxes}},
      {"SSDRESNET34", {PostProcessType::SSDRESNET34, kBoxes}},
      {"ARGMAX", {PostProcessType::ARGMAX, kClasses}},
      {"BIAS_CORRECTION", {PostProcessType::BIAS_CORRECTION, kClasses}},
      {"CALIBRATION_PLATT", {PostProcessType::CALIBRATION_PLATT, kClasses}},
      {"CALIBRATION_TEMPERATURE", {PostProcessType::CALIBRATION_TEMPERATURE, kClasses}},
      {"LABEL_MAPPING", {PostProcessType::LABEL_MAPPING, kClasses}},
      {"NORMALIZATION", {PostProcessType::NORMALIZATION, kClasses}},
      {"OUTLIER_DETECTION", {PostProcessType::OUTLIER_DETECTION, kClasses}},
      {"SOFTMAX", {PostProcessType::SOFTMAX, kClasses}},
      {"THRESHOLD", {PostProcessType::THRESHOLD, kClasses}},
      {"TOPK", {PostProcessType::TOPK, kClasses}},
      {"UNCERTAINTY_ESTIMATION", {PostProcessType::UNCERTAINTY_ESTIMATION, kClasses}},
      {"DISTANCE_IOU_NMS", {PostProcessType::DISTANCE_IOU_NMS, kBoxes}},
      {"SOFT_NMS", {PostProcessType::SOFT_NMS, kBoxes}},
      {"CLASSWISE_NMS", {PostProcessType::CLASSWISE_NMS, kBoxes}},
      {"OBJECT_COUNT", {PostProcessType::OBJECT_COUNT, kClasses}},
      {"NMS", {PostProcessType::NMS, kBoxes}},
      {"ANCHOR_ADJUSTMENT", {PostProcessType::ANCHOR_ADJUSTMENT, kBoxes}},
      {"SOFTMAXSEG", {PostProcessType::SOFTMAXSEG, kMaps}},
      {"SIGMOIDSEG", {PostProcessType::SIGMOIDSEG, kMaps}},
      {"ARGMAXSEG", {PostProcessType::ARGMAXSEG, kMaps}},
  };
  return find_named("type", kFunctions, name);
}
