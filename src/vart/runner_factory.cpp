#include <fmt/format.h>

#include <new>
#include <stdexcept>
#include <utility>

#include "base/cancellation.h"
#include "base/float_environment.h"
#include "base/process/forked_child.h"
#include "vart/llm/llm_runner.h"
#include "vart/vaiml_runner.h"
#include "vart/vart_runner_factory.hpp"

namespace vart {

Runner::Runner(const std::string&, const std::unordered_map<std::string, std::any>&) {}

Runner::~Runner() = default;

size_t Runner::get_batch_size(TensorDirection) const {
  return get_batch_size();
}

std::any Runner::get_property(const std::string& key) const {
  throw std::invalid_argument(
      fmt::format("get_property: this runner has no \"{}\", nor any other property", key));
}

JobHandle Runner::execute_async(const std::vector<std::vector<NpuTensor>>& inputs,
                                std::vector<std::vector<NpuTensor>>& outputs,
                                std::function<void(const JobHandle&, void*)> callback,
                                void* user_data) noexcept {
  if (!callback) return execute_async(inputs, outputs);
  try {
    return execute_async(inputs, outputs,
                         [callback = std::move(callback), user_data](const JobHandle& job) {
                           callback(job, user_data);
                         });
  } catch (const std::bad_alloc&) {
    return {StatusCode::OUT_OF_MEMORY, 0};
  } catch (...) {
    // The copy of the program's callback threw.
    return {StatusCode::RUNTIME_ERROR, 0};
  }
}

NpuTensor Runner::allocate_npu_tensor(const NpuTensorInfo& info, uint32_t) const {
  return allocate_npu_tensor(info);
}

namespace {

template <class Implementation>
std::shared_ptr<Implementation> make_runner(
    RunnerType type, const std::string& model_path,
    const std::unordered_map<std::string, std::any>& options) {
  if (type != RunnerType::VAIML)
    throw std::runtime_error(
        fmt::format("there is no runner of type {}: VAIML is 0", static_cast<int>(type)));
  if (millrace::is_forked_child()) throw std::runtime_error(millrace::forked_status().message());
  const millrace::CancellationOff whole;
  const millrace::DefaultFloatEnvironment floats;
  return std::make_shared<Implementation>(model_path, options);
}

}  // namespace

std::shared_ptr<Runner> RunnerFactory::create_runner(
    RunnerType type, const std::string& model_path,
    const std::unordered_map<std::string, std::any>& options) {
  return make_runner<millrace::vartml::VaimlRunner>(type, model_path, options);
}

std::shared_ptr<LlmRunner> LlmRunnerFactory::create_runner(
    RunnerType type, const std::string& model_path,
    const std::unordered_map<std::string, std::any>& options) {
  return make_runner<millrace::vartml::VaimlLlmRunner>(type, model_path, options);
}

}  // namespace vart
