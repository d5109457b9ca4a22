// vart::PostProcess: converts the output tensors of each frame to float and passes them to the
// postprocessing function that set_config() has chosen.
#include "vart/vart_postprocess.hpp"

#include <fmt/format.h>

#include <iostream>
#include <stdexcept>
#include <utility>

#include "base/float_environment.h"
#include "vartx/json_config.h"
#include "vartx/postprocess/model_tensors.h"
#include "vartx/postprocess/postprocess_config.h"
#include "vartx/postprocess/postprocess_function.h"
#include "vartx/postprocess/result_text.h"

namespace vart {

using millrace::vartx::FrameResults;
using millrace::vartx::ModelTensors;
using millrace::vartx::PostProcessConfig;
using millrace::vartx::PostProcessFunction;
using Results = std::vector<FrameResults>;

class PostProcessImplBase {
 public:
  PostProcessImplBase(PostProcessType type, PostProcessConfig config,
                      std::shared_ptr<Device> device)
      : type(type), config(std::move(config)), device(std::move(device)) {}

  const PostProcessType type;
  const PostProcessConfig config;
  const std::shared_ptr<Device> device;
  // The state that set_config() sets; `function` is null before its first success.
  uint32_t batch_size = 0;
  ModelTensors tensors;
  std::unique_ptr<PostProcessFunction> function;
  std::vector<std::vector<float>> values;  // outputs of one frame; a member to reuse the memory
};

namespace {

PostProcessConfig read_config(PostProcessType type, const std::string& json) {
  const millrace::DefaultFloatEnvironment floats;
  return millrace::vartx::read_postprocess_config(type, millrace::vartx::JsonConfig::parse(json));
}

void check_frames(const PostProcessImplBase& impl, uint32_t frames) {
  if (impl.function == nullptr)
    throw std::runtime_error("process: set_config has not been called, or has failed");
  if (frames == 0 || frames > impl.batch_size)
    throw std::invalid_argument(
        fmt::format("process: {} frames, but the number must be 1 to {}", frames, impl.batch_size));
}

void check_count(const char* what, size_t given, size_t needed) {
  if (given < needed)
    throw std::invalid_argument(
        fmt::format("process: {} {} are given, but {} are needed", given, what, needed));
}

// Returns the results of a frame, whose outputs are in impl.values, and prints them if configured.
FrameResults finish_frame(PostProcessImplBase& impl, uint32_t frame) {
  const std::vector<std::span<float>> outputs(impl.values.begin(), impl.values.end());
  FrameResults results = impl.function->process(outputs);
  if (!impl.config.print) return results;
  for (const std::shared_ptr<InferResult>& result : results)
    std::cout << millrace::vartx::result_text(frame, *result);
  return results;
}

void read_pointer(PostProcessImplBase& impl, size_t output, const int8_t* data) {
  const TensorInfo& info = impl.tensors.outputs[output];
  if (data == nullptr)
    throw std::invalid_argument("process: no data for " + millrace::vartx::title_of(info));
  millrace::vartx::read_output(info, impl.config.byte_type,
                               reinterpret_cast<const std::byte*>(data), impl.values[output]);
}

void read_memory(PostProcessImplBase& impl, size_t output, const std::shared_ptr<Memory>& memory) {
  const TensorInfo& info = impl.tensors.outputs[output];
  if (memory == nullptr)
    throw std::invalid_argument("process: no memory for " + millrace::vartx::title_of(info));
  const size_t needed = millrace::vartx::bytes_of(info);
  if (memory->get_size() < needed)
    throw std::invalid_argument(fmt::format("process: a memory has {} bytes, but {} needs {}",
                                            memory->get_size(), millrace::vartx::title_of(info),
                                            needed));
  // The program may have mapped the memory itself: maps nest, so its own map stays open.
  read_pointer(impl, output, reinterpret_cast<const int8_t*>(memory->map(DataMapFlags::READ)));
  memory->unmap();
}

}  // namespace

PostProcess::PostProcess(PostProcessType type, std::string& json_data,
                         std::shared_ptr<Device> device)
    : impl_(std::make_shared<PostProcessImplBase>(type, read_config(type, json_data),
                                                  std::move(device))) {}

PostProcess::PostProcess(std::shared_ptr<PostProcessImplBase> impl) : impl_(std::move(impl)) {
  if (impl_ == nullptr) throw std::invalid_argument("PostProcess: the handle is null");
}

void PostProcess::set_config(std::vector<TensorInfo>& info, uint32_t batch_size) {
  const millrace::DefaultFloatEnvironment floats;
  if (batch_size == 0) throw std::invalid_argument("set_config: the batch size is 0");
  ModelTensors tensors = millrace::vartx::sort_tensors(info);
  std::vector<std::vector<float>> values(tensors.outputs.size());
  impl_->function = millrace::vartx::make_function(impl_->type, impl_->config, tensors);
  impl_->tensors = std::move(tensors);
  impl_->values = std::move(values);
  impl_->batch_size = batch_size;
}

Results PostProcess::process(std::vector<int8_t*> data, uint32_t current_batch_size) {
  const millrace::DefaultFloatEnvironment floats;
  check_frames(*impl_, current_batch_size);
  const size_t outputs = impl_->tensors.outputs.size();
  check_count("addresses", data.size(), outputs * current_batch_size);
  Results results;
  for (uint32_t frame = 0; frame < current_batch_size; ++frame) {
    for (size_t i = 0; i < outputs; ++i) read_pointer(*impl_, i, data[frame * outputs + i]);
    results.push_back(finish_frame(*impl_, frame));
  }
  return results;
}

Results PostProcess::process(std::vector<std::vector<std::shared_ptr<Memory>>> tensor_memory,
                             uint32_t current_batch_size) {
  const millrace::DefaultFloatEnvironment floats;
  check_frames(*impl_, current_batch_size);
  const size_t outputs = impl_->tensors.outputs.size();
  check_count("frames of memories", tensor_memory.size(), current_batch_size);
  Results results;
  for (uint32_t frame = 0; frame < current_batch_size; ++frame) {
    check_count("memories of a frame", tensor_memory[frame].size(), outputs);
    for (size_t i = 0; i < outputs; ++i) read_memory(*impl_, i, tensor_memory[frame][i]);
    results.push_back(finish_frame(*impl_, frame));
  }
  return results;
}

const std::shared_ptr<PostProcessImplBase>& PostProcess::get_pimpl_handle() const {
  return impl_;
}

}  // namespace vart
