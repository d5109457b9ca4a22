// vart::PostProcess, which calls its implementation, and the one that it has by default: it
// converts the output tensors of each frame to float and passes them to the function that is
// registered or built in.
#include "vart/vart_postprocess.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <utility>

#include "base/float_environment.h"
#include "vartx/buffers/unmap_quietly.h"
#include "vartx/json_config.h"
#include "vartx/postprocess/function_registry.h"
#include "vartx/postprocess/model_tensors.h"
#include "vartx/postprocess/postprocess_config.h"
#include "vartx/postprocess/postprocess_function.h"
#include "vartx/postprocess/result_text.h"

namespace vart {

using millrace::vartx::FrameResults;
using millrace::vartx::JsonConfig;
using millrace::vartx::ModelTensors;
using millrace::vartx::PostProcessConfig;
using millrace::vartx::PostProcessFunction;
using Results = std::vector<FrameResults>;
using Memories = std::vector<std::vector<std::shared_ptr<Memory>>>;

namespace {

class ConfiguredPostProcess final : public PostProcessImplBase {
 public:
  ConfiguredPostProcess(PostProcessType type, const std::string& json,
                        std::shared_ptr<Device> device);

  void set_config(std::vector<TensorInfo>& info, uint32_t batch_size) override;
  Results process(std::vector<int8_t*> data, uint32_t current_batch_size) override;
  Results process(Memories tensor_memory, uint32_t current_batch_size) override;

 private:
  void check_frames(uint32_t frames) const;
  void read_pointer(size_t output, const int8_t* data);
  void read_memory(size_t output, const std::shared_ptr<Memory>& memory);
  FrameResults finish_frame(uint32_t frame);
  FrameResults compute();

  const PostProcessType type_;
  const std::string json_;
  const std::shared_ptr<Device> device_;
  std::shared_ptr<PostProcessFunctionBase> registered_;  // null: the function is built in
  PostProcessConfig config_;
  // The state that set_config() sets; batch_size_ is 0 before its first success.
  uint32_t batch_size_ = 0;
  ModelTensors tensors_;
  std::unique_ptr<PostProcessFunction> function_;  // null if one is registered
  std::vector<std::vector<float>> values_;  // outputs of one frame; a member to reuse the memory
};

// Memories that are mapped one after the other and unmapped together.
class MappedMemories {
 public:
  MappedMemories() = default;
  ~MappedMemories() {
    for (const std::shared_ptr<Memory>& each : mapped_) millrace::vartx::unmap_quietly(*each);
  }
  MappedMemories(const MappedMemories&) = delete;
  MappedMemories& operator=(const MappedMemories&) = delete;

  int8_t* map(const std::shared_ptr<Memory>& memory) {
    if (memory == nullptr) throw std::invalid_argument("process: a memory is null");
    mapped_.reserve(mapped_.size() + 1);  // the following step cannot fail
    const uint8_t* data = memory->map(DataMapFlags::READ);
    mapped_.push_back(memory);
    return reinterpret_cast<int8_t*>(const_cast<uint8_t*>(data));
  }

 private:
  std::vector<std::shared_ptr<Memory>> mapped_;
};

void check_count(const char* what, size_t given, size_t needed) {
  if (given < needed)
    throw std::invalid_argument(
        fmt::format("process: {} {} are given, but {} are needed", given, what, needed));
}

ConfiguredPostProcess::ConfiguredPostProcess(PostProcessType type, const std::string& json,
                                             std::shared_ptr<Device> device)
    : type_(type), json_(json), device_(std::move(device)) {
  const millrace::DefaultFloatEnvironment floats;
  const JsonConfig config = JsonConfig::parse(json);
  registered_ = millrace::vartx::make_registered_function(config.text("function", ""), type);
  config_ = registered_ ? millrace::vartx::read_common_config(config)
                        : millrace::vartx::read_postprocess_config(type, config);
}

void ConfiguredPostProcess::check_frames(uint32_t frames) const {
  if (batch_size_ == 0)
    throw std::runtime_error("process: set_config has not been called, or has failed");
  if (frames == 0 || frames > batch_size_)
    throw std::invalid_argument(
        fmt::format("process: {} frames, but the number must be 1 to {}", frames, batch_size_));
}

// Returns the results of a frame, whose outputs are in values_, and prints them if configured.
FrameResults ConfiguredPostProcess::finish_frame(uint32_t frame) {
  FrameResults results = compute();
  if (std::ranges::count(results, nullptr) != 0)
    throw std::runtime_error("process: the registered function returned a null result");
  if (!config_.print) return results;
  for (const std::shared_ptr<InferResult>& result : results)
    std::cout << millrace::vartx::result_text(frame, *result);
  return results;
}

FrameResults ConfiguredPostProcess::compute() {
  if (registered_) return registered_->process(values_);
  const std::vector<std::span<float>> outputs(values_.begin(), values_.end());
  return function_->process(outputs);
}

void ConfiguredPostProcess::read_pointer(size_t output, const int8_t* data) {
  const TensorInfo& info = tensors_.outputs[output];
  if (data == nullptr)
    throw std::invalid_argument("process: no data for " + millrace::vartx::title_of(info));
  millrace::vartx::read_output(info, config_.byte_type, reinterpret_cast<const std::byte*>(data),
                               values_[output]);
}

void ConfiguredPostProcess::read_memory(size_t output, const std::shared_ptr<Memory>& memory) {
  const TensorInfo& info = tensors_.outputs[output];
  if (memory == nullptr)
    throw std::invalid_argument("process: no memory for " + millrace::vartx::title_of(info));
  const size_t needed = millrace::vartx::bytes_of(info);
  if (memory->get_size() < needed)
    throw std::invalid_argument(fmt::format("process: a memory has {} bytes, but {} needs {}",
                                            memory->get_size(), millrace::vartx::title_of(info),
                                            needed));
  // The program may have mapped the memory itself: maps nest, so its own map stays open.
  MappedMemories mapped;
  read_pointer(output, mapped.map(memory));
}

void ConfiguredPostProcess::set_config(std::vector<TensorInfo>& info, uint32_t batch_size) {
  const millrace::DefaultFloatEnvironment floats;
  if (batch_size == 0) throw std::invalid_argument("set_config: the batch size is 0");
  ModelTensors tensors = millrace::vartx::sort_tensors(info);
  std::vector<std::vector<float>> values(tensors.outputs.size());
  if (registered_)
    registered_->set_config(json_, info, batch_size);
  else
    function_ = millrace::vartx::make_function(type_, config_, tensors);
  tensors_ = std::move(tensors);
  values_ = std::move(values);
  batch_size_ = batch_size;
}

Results ConfiguredPostProcess::process(std::vector<int8_t*> data, uint32_t current_batch_size) {
  const millrace::DefaultFloatEnvironment floats;
  check_frames(current_batch_size);
  const size_t outputs = tensors_.outputs.size();
  check_count("addresses", data.size(), outputs * current_batch_size);
  Results results;
  for (uint32_t frame = 0; frame < current_batch_size; ++frame) {
    for (size_t i = 0; i < outputs; ++i) read_pointer(i, data[frame * outputs + i]);
    results.push_back(finish_frame(frame));
  }
  return results;
}

Results ConfiguredPostProcess::process(Memories tensor_memory, uint32_t current_batch_size) {
  const millrace::DefaultFloatEnvironment floats;
  check_frames(current_batch_size);
  const size_t outputs = tensors_.outputs.size();
  check_count("frames of memories", tensor_memory.size(), current_batch_size);
  Results results;
  for (uint32_t frame = 0; frame < current_batch_size; ++frame) {
    check_count("memories of a frame", tensor_memory[frame].size(), outputs);
    for (size_t i = 0; i < outputs; ++i) read_memory(i, tensor_memory[frame][i]);
    results.push_back(finish_frame(frame));
  }
  return results;
}

}  // namespace

PostProcessImplBase::~PostProcessImplBase() = default;

Results PostProcessImplBase::process(Memories tensor_memory, uint32_t current_batch_size) {
  check_count("frames of memories", tensor_memory.size(), current_batch_size);
  MappedMemories mapped;
  std::vector<int8_t*> data;
  for (uint32_t frame = 0; frame < current_batch_size; ++frame)
    for (const std::shared_ptr<Memory>& each : tensor_memory[frame])
      data.push_back(mapped.map(each));
  return process(std::move(data), current_batch_size);
}

PostProcess::PostProcess(PostProcessType type, std::string& json_data,
                         std::shared_ptr<Device> device)
    : impl_(std::make_shared<ConfiguredPostProcess>(type, json_data, std::move(device))) {}

PostProcess::PostProcess(std::shared_ptr<PostProcessImplBase> impl) : impl_(std::move(impl)) {
  if (impl_ == nullptr) throw std::invalid_argument("PostProcess: the handle is null");
}

void PostProcess::set_config(std::vector<TensorInfo>& info, uint32_t batch_size) {
  impl_->set_config(info, batch_size);
}

Results PostProcess::process(std::vector<int8_t*> data, uint32_t current_batch_size) {
  return impl_->process(std::move(data), current_batch_size);
}

Results PostProcess::process(Memories tensor_memory, uint32_t current_batch_size) {
  return impl_->process(std::move(tensor_memory), current_batch_size);
}

const std::shared_ptr<PostProcessImplBase>& PostProcess::get_pimpl_handle() const {
  return impl_;
}

}  // namespace vart
