#include "vart/llm/llm_runner.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "runtime/columns/column_claim.h"
#include "vart/llm/llm_config.h"

namespace millrace::vartml {

using ::vart::LlmPhase;
using ::vart::TensorDirection;
using ::vart::TensorType;
using ApiStatus = ::vart::StatusCode;

namespace {

constexpr std::array<const char*, 2> kProfiles = {"prefill", "decode"};

std::string prefix_of(size_t phase) {
  return std::string(kProfiles[phase]) + "_";
}

// Reads the options. Both graphs have the profiles of their phases, so there is none to choose.
RunnerOptions options_of_llm(const OptionMap& map) {
  RunnerOptions options = read_options(map);
  if (!options.shape_profile.empty())
    throw std::invalid_argument(
        fmt::format("option \"shape_profile\" is \"{}\", but an LlmRunner has the profiles "
                    "\"prefill\" and \"decode\"",
                    options.shape_profile));
  return options;
}

// Returns the options of the runner of a phase. Those of single tensors name tensors of one phase.
// Remarks about options are the same for both phases, so only the first one logs them.
RunnerOptions options_of(RunnerOptions options, size_t phase) {
  const std::string other = prefix_of(1 - phase);
  const auto is_of_other = [&](const auto& entry) { return entry.first.starts_with(other); };
  std::erase_if(options.input_types, is_of_other);
  std::erase_if(options.output_types, is_of_other);
  options.shape_profile = kProfiles[phase];
  if (phase != 0) options.remarks.clear();
  return options;
}

// Returns the ids of a phase: even ones for the first, odd ones for the second.
runtime::JobIds ids_of(size_t phase) {
  return {.first = static_cast<uint32_t>(kProfiles.size() - phase),
          .step = static_cast<uint32_t>(kProfiles.size())};
}

}  // namespace

VaimlLlmRunner::VaimlLlmRunner(const std::string& model_path, const OptionMap& map)
    : LlmRunner(model_path) {
  const RunnerOptions options = options_of_llm(map);
  const uint64_t owner = runtime::new_column_owner();
  for (size_t phase = 0; phase < kPhases; ++phase)
    runners_[phase] = std::make_unique<VaimlRunner>(
        model_path, options_of(options, phase),
        RunnerPart{.prefix = prefix_of(phase), .column_owner = owner, .job_ids = ids_of(phase)});
  for (const TensorDirection direction : {TensorDirection::INPUT, TensorDirection::OUTPUT}) {
    for (const TensorType type : {TensorType::CPU, TensorType::HW}) {
      auto& all = infos_[direction == TensorDirection::OUTPUT][type == TensorType::HW];
      for (const auto& runner : runners_) {
        const auto& infos = runner->get_tensors_info(direction, type);
        all.insert(all.end(), infos.begin(), infos.end());
      }
    }
  }
  constexpr auto kDecode = static_cast<size_t>(LlmPhase::DECODE);
  config_ = llm_config(runner_of(kDecode), prefix_of(kDecode), options.llm, model_path);
}

// Closes the runners first: that waits for the remaining callbacks of both, which may call either.
VaimlLlmRunner::~VaimlLlmRunner() {
  for (const auto& runner : runners_) runner->begin_close();
  for (const auto& runner : runners_) runner->close();
}

void VaimlLlmRunner::set_llm_phase(LlmPhase phase) {
  if (phase != LlmPhase::PREFILL && phase != LlmPhase::DECODE)
    throw std::invalid_argument(
        fmt::format("there is no phase {}: PREFILL is 0, DECODE is 1", static_cast<int>(phase)));
  phase_ = static_cast<size_t>(phase);
}

VaimlRunner& VaimlLlmRunner::runner_of(const std::string& tensor_name) const {
  return runner_of(tensor_name.starts_with(prefix_of(1)) ? 1 : 0);
}

const std::vector<::vart::NpuTensorInfo>& VaimlLlmRunner::get_tensors_info(
    TensorDirection direction, TensorType type) const {
  runner_of(0).get_tensors_info(direction, type);  // refuses values that are no enumerators
  return infos_[direction == TensorDirection::OUTPUT][type == TensorType::HW];
}

const ::vart::NpuTensorInfo& VaimlLlmRunner::get_tensor_info_by_name(const std::string& name,
                                                                     TensorType type) const {
  return runner_of(name).get_tensor_info_by_name(name, type);
}

const ::vart::QuantParameters& VaimlLlmRunner::get_quant_parameters(
    const std::string& tensor_name) const {
  return runner_of(tensor_name).get_quant_parameters(tensor_name);
}

size_t VaimlLlmRunner::get_num_input_tensors() const {
  return infos_[0][0].size();
}

size_t VaimlLlmRunner::get_num_output_tensors() const {
  return infos_[1][0].size();
}

size_t VaimlLlmRunner::get_batch_size() const {
  return runner_of(phase_).get_batch_size();
}

size_t VaimlLlmRunner::get_batch_size(TensorDirection direction) const {
  return runner_of(phase_).get_batch_size(direction);
}

std::any VaimlLlmRunner::get_property(const std::string& key) const {
  return runner_of(phase_).get_property(key);
}

ApiStatus VaimlLlmRunner::execute(const TensorTable& inputs, TensorTable& outputs) noexcept {
  return runner_of(phase_).execute(inputs, outputs);
}

::vart::JobHandle VaimlLlmRunner::execute_async(const TensorTable& inputs,
                                                TensorTable& outputs) noexcept {
  return runner_of(phase_).execute_async(inputs, outputs);
}

::vart::JobHandle VaimlLlmRunner::execute_async(const TensorTable& inputs, TensorTable& outputs,
                                                ExecuteAsyncCallback callback) noexcept {
  return runner_of(phase_).execute_async(inputs, outputs, std::move(callback));
}

ApiStatus VaimlLlmRunner::wait(const JobHandle& job, std::chrono::milliseconds timeout) noexcept {
  return runner_of(job.job_id % kPhases).wait(job, timeout);
}

::vart::NpuTensor VaimlLlmRunner::allocate_npu_tensor(const NpuTensorInfo& info) const {
  return runner_of(info.name).allocate_npu_tensor(info);
}

::vart::NpuTensor VaimlLlmRunner::allocate_npu_tensor(const NpuTensorInfo& info,
                                                      uint32_t memory_bank) const {
  return runner_of(info.name).allocate_npu_tensor(info, memory_bank);
}

::vart::NpuTensor VaimlLlmRunner::allocate_sub_tensor(const NpuTensor& parent,
                                                      const NpuTensorInfo& info,
                                                      size_t offset) const {
  return runner_of(info.name).allocate_sub_tensor(parent, info, offset);
}

}  // namespace millrace::vartml
