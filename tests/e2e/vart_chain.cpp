#include "tests/e2e/vart_chain.h"

#include <opencv2/imgcodecs.hpp>
#include <stdexcept>

#include "base/unique_fd.h"
#include "base/value_or_throw.h"
#include "io/file.h"
#include "tests/e2e/pipeline.h"
#include "vart/vart_preprocess.hpp"
#include "vart/vart_videoframe.hpp"

namespace millrace::test {
namespace {

using vart::TensorDirection;
using vart::TensorType;
using vart::VideoFormat;

std::string write_archive(const TemporaryDirectory& directory, const std::string& onnx,
                          graph::Precision precision) {
  compiler::CompileOptions options;
  options.precision = precision;
  const std::string path = directory.file("model.rai");
  const Status written =
      io::write_file(path, value_or_throw(compile_to_archive(onnx, options), "compile"));
  if (!written.ok()) throw std::runtime_error(written.to_string());
  return path;
}

size_t bytes_of(const vart::VideoInfo& info) {
  size_t bytes = 0;
  for (uint32_t plane = 0; plane < info.n_planes; ++plane)
    bytes += info.stride[plane] * info.elevation[plane];
  return bytes;
}

vart::VideoFrame picture_frame(vart::PreProcess& preprocess, const std::string& file,
                               const std::shared_ptr<vart::Device>& device) {
  const cv::Mat picture = cv::imread(file, cv::IMREAD_COLOR);
  if (picture.empty()) throw std::runtime_error(file);
  vart::VideoInfo info{};
  preprocess.get_input_vinfo(picture.rows, picture.cols, VideoFormat::BGR, info);
  vart::VideoFrame frame(vart::VideoFrameImplType::XRT, bytes_of(info), 0, info, device);
  const vart::VideoPlaneInfo& plane = frame.map(vart::DataMapFlags::WRITE).planes[0];
  for (int row = 0; row < picture.rows; ++row)
    std::copy_n(picture.ptr(row), picture.cols * picture.elemSize(),
                plane.data + row * plane.stride);
  frame.unmap();
  return frame;
}

}  // namespace

VartChain::VartChain(const std::string& onnx, graph::Precision precision, TensorType view,
                     const Pictures& pictures)
    : pictures_(pictures), device_(vart::Device::get_device_hdl(0, "")) {
  const std::string name = view == TensorType::HW ? "HW" : "CPU";
  runner_ = vart::RunnerFactory::create_runner(vart::RunnerType::VAIML,
                                               write_archive(directory_, onnx, precision),
                                               {{"input_tensor_type", name},
                                                {"output_tensor_type", std::string("CPU")},
                                                {"log_level", std::string("WARNING")}});
  input_ = runner_->get_tensors_info(TensorDirection::INPUT, view).at(0);
  const vart::NpuTensorInfo& cpu =
      runner_->get_tensors_info(TensorDirection::INPUT, TensorType::CPU).at(0);
  height_ = cpu.shape.at(2);
  width_ = cpu.shape.at(3);
}

VideoFormat VartChain::input_format() const {
  if (input_.tensor_type == TensorType::CPU)
    return pictures_.is_bgr ? VideoFormat::BGRP_FLOAT : VideoFormat::RGBP_FLOAT;
  if (input_.data_type != vart::DataType::BF16)
    return pictures_.is_bgr ? VideoFormat::BGRx : VideoFormat::RGBx;
  return pictures_.is_bgr ? VideoFormat::BGRx_BF16 : VideoFormat::RGBx_BF16;
}

vart::PreProcessInfo VartChain::preprocess_info() const {
  vart::PreProcessInfo info{};
  // Programs for the board pass only this part of the quantisation of a tensor.
  info.qt_fctr = static_cast<float>(1 / runner_->get_quant_parameters(input_.name).scale);
  if (input_.tensor_type == TensorType::CPU) info.qt_fctr = 1;
  info.mean_r = info.mean_g = info.mean_b = pictures_.mean;
  info.scale_r = info.scale_g = info.scale_b = pictures_.scale;
  info.height = height_;
  info.width = width_;
  info.colour_format = input_format();
  return info;
}

VartChain::Outputs VartChain::run(const std::string& picture_file) {
  std::string none;
  vart::PreProcess preprocess(vart::PreProcessImplType::IMAGE_PROCESSING_SW, none, device_);
  vart::PreProcessInfo info = preprocess_info();
  preprocess.set_preprocess_info(info);
  vart::VideoFrame picture = picture_frame(preprocess, picture_file, device_);
  vart::VideoInfo vinfo = preprocess.get_output_vinfo();
  vart::VideoFrame frame(vart::VideoFrameImplType::XRT, bytes_of(vinfo), 0, vinfo, device_);
  std::vector<vart::PreProcessOp> operations(1);
  operations[0].in_frame = &picture;
  operations[0].out_frame = &frame;
  std::vector<vart::PreProcessOpRes> results;
  preprocess.process(operations, results);
  geometry_ = results.at(0).type_meta;

  const UniqueFd fd(frame.export_buffer());
  int number = fd.get();
  const std::vector<std::vector<vart::NpuTensor>> inputs{
      {vart::NpuTensor(input_, &number, vart::MemoryType::DMA_FD)}};
  Outputs values;
  std::vector<std::vector<vart::NpuTensor>> outputs(1);
  for (const vart::NpuTensorInfo& output :
       runner_->get_tensors_info(TensorDirection::OUTPUT, TensorType::CPU)) {
    std::vector<float>& elements = values[output.name];
    elements.resize(output.size);
    outputs[0].emplace_back(output, static_cast<void*>(elements.data()),
                            vart::MemoryType::USER_POINTER_NON_CMA);
  }
  if (runner_->execute(inputs, outputs) != vart::StatusCode::SUCCESS)
    throw std::runtime_error("execute failed");
  return values;
}

vart::InferResScaleInfo VartChain::scale_info() const {
  vart::InferResScaleInfo info{};
  info.scale_x = geometry_.scale_x;
  info.scale_y = geometry_.scale_y;
  info.crop_x = geometry_.crop_x;
  info.crop_y = geometry_.crop_y;
  info.pad_x = geometry_.pad_x;
  info.pad_y = geometry_.pad_y;
  return info;
}

}  // namespace millrace::test
