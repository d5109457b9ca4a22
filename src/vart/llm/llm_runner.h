// VaimlLlmRunner: the implementation of vart::LlmRunner, over one VaimlRunner for each graph.
// Thread-safe.
//
// The ids of the prefill runner's jobs are even and those of the decode runner's odd, so that one
// id names one job of either.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "vart/vaiml_runner.h"
#include "vart/vart_llm_runner_factory.hpp"

namespace millrace::vartml {

class VaimlLlmRunner final : public ::vart::LlmRunner {
 public:
  using NpuTensor = ::vart::NpuTensor;
  using NpuTensorInfo = ::vart::NpuTensorInfo;
  using JobHandle = ::vart::JobHandle;
  using TensorTable = std::vector<std::vector<NpuTensor>>;

  // Throws as LlmRunnerFactory::create_runner does.
  VaimlLlmRunner(const std::string& model_path, const OptionMap& options);
  ~VaimlLlmRunner() override;

  ::vart::LLMConfigInfo get_llm_config() const override { return config_; }
  void set_llm_phase(::vart::LlmPhase phase) override;

  const std::vector<NpuTensorInfo>& get_tensors_info(::vart::TensorDirection direction,
                                                     ::vart::TensorType type) const override;
  const NpuTensorInfo& get_tensor_info_by_name(const std::string& name,
                                               ::vart::TensorType type) const override;
  const ::vart::QuantParameters& get_quant_parameters(
      const std::string& tensor_name) const override;
  size_t get_num_input_tensors() const override;
  size_t get_num_output_tensors() const override;
  size_t get_batch_size() const override;
  size_t get_batch_size(::vart::TensorDirection direction) const override;
  std::any get_property(const std::string& key) const override;

  ::vart::StatusCode execute(const TensorTable& inputs, TensorTable& outputs) noexcept override;
  using Runner::execute_async;
  JobHandle execute_async(const TensorTable& inputs, TensorTable& outputs) noexcept override;
  JobHandle execute_async(const TensorTable& inputs, TensorTable& outputs,
                          ExecuteAsyncCallback callback) noexcept override;
  ::vart::StatusCode wait(const JobHandle& job,
                          std::chrono::milliseconds timeout) noexcept override;

  NpuTensor allocate_npu_tensor(const NpuTensorInfo& info) const override;
  NpuTensor allocate_npu_tensor(const NpuTensorInfo& info, uint32_t memory_bank) const override;
  NpuTensor allocate_sub_tensor(const NpuTensor& parent, const NpuTensorInfo& info,
                                size_t offset) const override;

 private:
  static constexpr size_t kPhases = 2;

  VaimlRunner& runner_of(size_t phase) const { return *runners_[phase]; }
  // The runner of the phase that a name begins with; that of the prefill for other names.
  VaimlRunner& runner_of(const std::string& tensor_name) const;

  std::array<std::unique_ptr<VaimlRunner>, kPhases> runners_;
  std::array<std::array<std::vector<NpuTensorInfo>, 2>, 2> infos_;  // by direction and type
  ::vart::LLMConfigInfo config_;
  std::atomic<size_t> phase_ = 0;
};

}  // namespace millrace::vartml
