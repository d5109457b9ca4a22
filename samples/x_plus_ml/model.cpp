#include "model.hpp"

#include <chrono>
#include <stdexcept>

#include "vart_x_common/frames.hpp"

namespace {

using samples::SharedFd;
using vart::TensorDirection;

constexpr uint8_t kBank = 2;  // as on the board; any is accepted elsewhere

std::shared_ptr<vart::Runner> make_runner(const ModelConfig& config, unsigned most_jobs) {
  auto options = config.runner.values;
  options["max_concurrent_runs"] = most_jobs;
  options["async_threadpool_depth"] = most_jobs;  // else ten of them run at a time
  auto runner =
      vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, config.archive, options);
  if (runner == nullptr) throw std::runtime_error("no runner was created");
  return runner;
}

// All tensors of one side, of which some may have no HW view.
std::vector<vart::NpuTensorInfo> tensors_of(const vart::Runner& runner, TensorDirection direction,
                                            vart::TensorType type) {
  const bool is_input = direction == TensorDirection::INPUT;
  const std::vector<vart::NpuTensorInfo>& infos = runner.get_tensors_info(direction, type);
  const std::size_t count =
      is_input ? runner.get_num_input_tensors() : runner.get_num_output_tensors();
  if (infos.size() == count) return infos;
  throw std::runtime_error(std::string("not every ") + (is_input ? "input" : "output") +
                           " has an HW view: set \"" + (is_input ? "in" : "out") +
                           "put-tensor-type\" to CPU");
}

vart::NpuTensorInfo only_input(const vart::Runner& runner, vart::TensorType type) {
  const std::vector<vart::NpuTensorInfo> inputs = tensors_of(runner, TensorDirection::INPUT, type);
  if (inputs.size() == 1) return inputs.front();
  throw std::runtime_error("the model has " + std::to_string(inputs.size()) +
                           " inputs; this program takes models with one");
}

vart::InferResScaleInfo scale_info(const vart::VideoInfo& picture, const vart::VideoInfo& input,
                                   const vart::PreProcessTypeMeta& geometry) {
  vart::InferResScaleInfo info;
  info.input_frame_width = static_cast<uint32_t>(picture.width);
  info.input_frame_height = static_cast<uint32_t>(picture.height);
  info.model_input_width = static_cast<uint32_t>(input.width);
  info.model_input_height = static_cast<uint32_t>(input.height);
  info.scale_x = geometry.scale_x;
  info.scale_y = geometry.scale_y;
  info.crop_x = geometry.crop_x;
  info.crop_y = geometry.crop_y;
  info.pad_x = geometry.pad_x;
  info.pad_y = geometry.pad_y;
  return info;
}

}  // namespace

Model::Model(const ModelConfig& config, const std::shared_ptr<vart::Device>& device,
             unsigned most_jobs, BusyTime& inference)
    : device_(device),
      inference_(inference),
      places_(most_jobs),
      overlay_(vart::OverlayImplType::OPENCV, device),
      runner_(make_runner(config, most_jobs)) {
  input_ = only_input(*runner_, config.runner.input_type);
  outputs_ = tensors_of(*runner_, TensorDirection::OUTPUT, config.runner.output_type);
  configure_preprocess(config.preprocess);
  configure_postprocess(config.postprocess);
  if (std::optional<std::string> json = config.metaconvert_json)
    metaconvert_.emplace(config.postprocess.result, *json, device_);
}

void Model::configure_preprocess(const PreprocessConfig& config) {
  const samples::PictureFormat picture = samples::picture_format(*runner_, input_, config.format);
  std::string json = samples::json_text(samples::preprocess_keys(picture, config.json));
  preprocess_.emplace(vart::PreProcessImplType::IMAGE_PROCESSING_HLS, json, device_);
  vart::PreProcessInfo info = samples::preprocess_info(picture, config.info, config.quantisation);
  preprocess_->set_preprocess_info(info);
}

void Model::configure_postprocess(const PostprocessConfig& config) {
  std::string json = samples::json_text(samples::postprocess_keys(outputs_, config.json));
  postprocess_.emplace(config.type, json, device_);
  std::vector<vart::TensorInfo> infos{samples::result_info(*runner_, input_, config.type)};
  for (const vart::NpuTensorInfo& output : outputs_)
    infos.push_back(samples::result_info(*runner_, output, config.type));
  if (!config.scales.empty() && config.scales.size() != outputs_.size())
    throw std::runtime_error("\"quant-scale-factors\" takes a number for each of the " +
                             std::to_string(outputs_.size()) + " outputs");
  for (std::size_t i = 0; i < config.scales.size(); ++i)
    infos[i + 1].scale_coeff = config.scales[i];
  postprocess_->set_config(infos, 1);
}

ModelFrame Model::make_frame() {
  ModelFrame frame;
  vart::VideoInfo info = preprocess_->get_output_vinfo();
  frame.input = std::make_unique<vart::VideoFrame>(vart::VideoFrameImplType::XRT,
                                                   samples::bytes_of(info), kBank, info, device_);
  SharedFd input(frame.input->export_buffer());
  frame.inputs = {{vart::NpuTensor(input_, &input.get(), vart::MemoryType::DMA_FD)}};
  frame.outputs.resize(1);
  frame.memories.resize(1);
  for (const vart::NpuTensorInfo& output : outputs_) {
    const vart::NpuTensor tensor = runner_->allocate_npu_tensor(output);
    SharedFd fd(tensor.export_buffer());
    frame.outputs[0].push_back(tensor);
    frame.memories[0].push_back(std::make_shared<vart::Memory>(vart::MemoryImplType::XRT, fd.get(),
                                                               output.size_in_bytes, device_));
  }
  return frame;
}

void Model::preprocess(vart::VideoFrame& picture, ModelFrame& frame) {
  vart::PreProcessOp operation;
  operation.in_frame = &picture;
  operation.out_frame = frame.input.get();
  operation.in_roi = samples::whole(picture.get_video_info());
  operation.out_roi = samples::whole(frame.input->get_video_info());
  std::vector<vart::PreProcessOp> operations{operation};
  std::vector<vart::PreProcessOpRes> applied;
  preprocess_->process(operations, applied);
  frame.geometry = applied.front().type_meta;
}

void Model::submit(ModelFrame& frame) {
  places_.take();
  inference_.begin();
  const vart::JobHandle job =
      runner_->execute_async(frame.inputs, frame.outputs, [this](const vart::JobHandle&) {
        inference_.end();
        places_.give_back();
      });
  if (job.status == vart::StatusCode::SUCCESS) {
    frame.job = job;
    return;
  }
  inference_.end();  // there will be no callback
  places_.give_back();
  throw std::runtime_error("execute_async: " + std::string(vart::to_string(job.status)));
}

std::string Model::collect(ModelFrame& frame) {
  if (!frame.job) return {};
  // The buffers are the job's until it has ended, however long that takes.
  vart::StatusCode status = vart::StatusCode::JOB_PENDING;
  while (status == vart::StatusCode::JOB_PENDING)
    status = runner_->wait(*frame.job, std::chrono::milliseconds(1000));
  frame.job.reset();
  if (status == vart::StatusCode::SUCCESS) return {};
  return "inference failed: " + std::string(vart::to_string(status));
}

void Model::postprocess(const vart::VideoInfo& picture, ModelFrame& frame) {
  vart::InferResScaleInfo scale =
      scale_info(picture, frame.input->get_video_info(), frame.geometry);
  frame.results = std::make_shared<vart::InferResult>(vart::InferResultType::ROOT);
  const auto frames = postprocess_->process(frame.memories, 1);
  for (const auto& result : frames.front()) {
    result->transform(scale);
    frame.results->add_child(result);
  }
}

void Model::draw(vart::VideoFrame& picture, ModelFrame& frame) {
  const std::shared_ptr<vart::OverlayShapeInfo> shapes =
      metaconvert_->prepare_overlay_meta(frame.results);
  overlay_.draw_overlay(picture, *shapes);
}
