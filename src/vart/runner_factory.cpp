#include <fmt/format.h>

#include <stdexcept>

#include "base/cancellation.h"
#include "base/float_environment.h"
#include "base/process/forked_child.h"
#include "vart/llm/llm_runner.h"
#include "vart/vaiml_runner.h"
#include "vart/vart_runner_factory.hpp"

namespace vart {

Runner::Runner(const std::string&, const std::unordered_map<std::string, std::any>&) {}

Runner::~Runner() = default;

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
