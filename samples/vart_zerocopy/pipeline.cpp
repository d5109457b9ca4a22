#include "pipeline.hpp"

#include <any>
#include <cstring>
#include <opencv2/core/mat.hpp>
#include <stdexcept>

#include "common/json_file.hpp"
#include "vart_x_common/frames.hpp"
#include "vart_x_common/picture_file.hpp"

namespace {

using samples::bytes_of;
using samples::SharedFd;
using samples::whole;
using vart::DataMapFlags;
using vart::TensorDirection;

vart::NpuTensorInfo the_only(const vart::Runner& runner, TensorDirection direction,
                             vart::TensorType type) {
  const std::vector<vart::NpuTensorInfo>& infos = runner.get_tensors_info(direction, type);
  if (infos.size() == 1) return infos.front();
  throw std::runtime_error("the model has " + std::to_string(infos.size()) + " " +
                           (direction == TensorDirection::INPUT ? "inputs" : "outputs") +
                           " in this view; this program takes models with one");
}

// The class with the best score, by name.
samples::Json postprocess_keys(const std::string& labels) {
  samples::Json keys;
  keys.put("topk", 1);
  keys.put("label-file-path", labels);
  keys.put("post-process-print", false);
  return keys;
}

}  // namespace

Pipeline::Pipeline(const std::string& model, bool zero_copy, const Board& board)
    : board_(board), device_(vart::Device::get_device_hdl(board.device_index, board.xclbin)) {
  const std::string view = zero_copy ? "HW" : "CPU";
  runner_ = vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, model,
                                               {{"log_level", std::string("WARNING")},
                                                {"input_tensor_type", view},
                                                {"output_tensor_type", view}});
  if (runner_ == nullptr) throw std::runtime_error("no runner was created");
  const vart::TensorType type = zero_copy ? vart::TensorType::HW : vart::TensorType::CPU;
  input_ = the_only(*runner_, TensorDirection::INPUT, type);
  output_ = the_only(*runner_, TensorDirection::OUTPUT, type);
  format_ = samples::picture_format(*runner_, input_);
  configure_preprocess();
  configure_postprocess();
}

void Pipeline::configure_preprocess() {
  std::string json = samples::json_text(samples::preprocess_keys(format_, {}));
  preprocess_ = std::make_unique<vart::PreProcess>(vart::PreProcessImplType::IMAGE_PROCESSING_HLS,
                                                   json, device_);
  vart::PreProcessInfo info{};
  info.mean_r = 123.675F;  // of ImageNet, as are the scales
  info.mean_g = 116.28F;
  info.mean_b = 103.53F;
  info.scale_r = 1 / 58.395F;
  info.scale_g = 1 / 57.12F;
  info.scale_b = 1 / 57.375F;
  info.preprocess_type = vart::PreProcessType::PANSCAN;
  info = samples::preprocess_info(format_, info);
  preprocess_->set_preprocess_info(info);
}

void Pipeline::configure_postprocess() {
  constexpr auto kType = vart::PostProcessType::SOFTMAX;
  std::string json =
      samples::json_text(samples::postprocess_keys({output_}, postprocess_keys(board_.labels)));
  postprocess_ = std::make_unique<vart::PostProcess>(kType, json, device_);
  std::vector<vart::TensorInfo> infos{samples::result_info(*runner_, output_, kType)};
  postprocess_->set_config(infos, 1);
}

void Pipeline::set_picture(const std::string& path) {
  const cv::Mat picture = samples::read_picture(path);
  vart::VideoInfo info{};
  preprocess_->get_input_vinfo(picture.rows, picture.cols, vart::VideoFormat::BGR, info);
  picture_frame_ = std::make_unique<vart::VideoFrame>(vart::VideoFrameImplType::XRT, bytes_of(info),
                                                      board_.input_bank, info, device_);
  const vart::VideoPlaneInfo& plane = picture_frame_->map(DataMapFlags::WRITE).planes[0];
  const size_t row_bytes = picture.cols * picture.elemSize();
  for (int row = 0; row < picture.rows; ++row)
    std::memcpy(plane.data + plane.offset + static_cast<size_t>(row) * plane.stride,
                picture.ptr(row), row_bytes);
  picture_frame_->unmap();
  bind_input();
  bind_output();
}

void Pipeline::bind_input() {
  vart::VideoInfo info = preprocess_->get_output_vinfo();
  const size_t bytes = bytes_of(info);
  if (bytes != input_.size_in_bytes)
    throw std::runtime_error("preprocessing makes " + std::to_string(bytes) + " bytes, tensor " +
                             input_.name + " has " + std::to_string(input_.size_in_bytes));
  input_frame_ = std::make_unique<vart::VideoFrame>(vart::VideoFrameImplType::XRT, bytes,
                                                    board_.output_bank, info, device_);
  vart::PreProcessOp operation;
  operation.in_frame = picture_frame_.get();
  operation.out_frame = input_frame_.get();
  operation.in_roi = whole(picture_frame_->get_video_info());
  operation.out_roi = whole(info);
  operations_.assign(1, operation);
  SharedFd fd(input_frame_->export_buffer());
  inputs_ = {{vart::NpuTensor(input_, &fd.get(), vart::MemoryType::DMA_FD)}};
}

void Pipeline::bind_output() {
  outputs_ = {{runner_->allocate_npu_tensor(output_)}};
  SharedFd fd(outputs_[0][0].export_buffer());
  result_memory_ = std::make_shared<vart::Memory>(vart::MemoryImplType::XRT, fd.get(),
                                                  output_.size_in_bytes, device_);
}

void Pipeline::preprocess() {
  preprocess_->process(operations_);
}

void Pipeline::infer() {
  const vart::StatusCode status = runner_->execute(inputs_, outputs_);
  if (status != vart::StatusCode::SUCCESS)
    throw std::runtime_error("execute failed: " + std::string(vart::to_string(status)));
}

std::optional<size_t> Pipeline::converted_bytes() const {
  try {
    return std::any_cast<size_t>(runner_->get_property("converted_bytes"));
  } catch (const std::invalid_argument&) {
    return std::nullopt;  // a property of this runtime; others need not have it
  }
}

Pipeline::Results Pipeline::postprocess() {
  return postprocess_->process({{result_memory_}}, 1);
}
