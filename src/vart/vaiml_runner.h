// VaimlRunner: the implementation of vart::Runner, over one loaded program and one Session of the
// core. All functions are thread-safe. execute, execute_async and wait throw nothing: every failure
// is logged and returned as a status code.
//
// The model runs on the device that the environment variable MILLRACE_DEVICE names when the runner
// is created: "cpu" (the software NPU) when it is not set, "null" to measure everything but the
// computation, or any plugin (see device/registry.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "memory/bank.h"
#include "runtime/loading/loader.h"
#include "runtime/session.h"
#include "vart/files/options.h"
#include "vart/files/profile_file.h"
#include "vart/job_binder.h"
#include "vart/runner_log.h"
#include "vart/tensors/model_tensors.h"
#include "vart/tensors/tensor_warnings.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::vartml {

// Settings of a runner that runs one of several graphs for another runner.
struct RunnerPart {
  std::string prefix = {};    // before the names of all tensors
  uint64_t column_owner = 0;  // the same for all of them (runtime::Placement::owner)
  runtime::JobIds job_ids = {};
};

class VaimlRunner final : public ::vart::Runner {
 public:
  using NpuTensor = ::vart::NpuTensor;
  using NpuTensorInfo = ::vart::NpuTensorInfo;
  using JobHandle = ::vart::JobHandle;

  // Both throw as RunnerFactory::create_runner does.
  VaimlRunner(const std::string& model_path, const OptionMap& options);
  VaimlRunner(const std::string& model_path, RunnerOptions options, const RunnerPart& part);
  ~VaimlRunner() override;

  // Starts no further job and takes none. Does not wait.
  void begin_close();
  // Cancels the jobs that have not started, and waits for the running ones and for all callbacks,
  // which may call the runner. The destructor does the same, also after this.
  void close();

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
  ::vart::StatusCode submit(const TensorTable& inputs, const TensorTable& outputs,
                            runtime::JobCallback callback, uint32_t& id);
  CallRules rules() const noexcept;
  void extract(const std::string& model_path) const;
  std::string summary() const;

  const RunnerOptions options_;
  const std::shared_ptr<const RunnerLog> log_;
  const memory::BankList banks_;
  const runtime::LoadedProgram loaded_;
  const ModelTensors tensors_;
  TensorWarnings tensor_warnings_;
  std::unique_ptr<ProfileFile> profile_;  // null unless requested
  // Shared with blocking calls, which may return after the runner has been destroyed.
  std::shared_ptr<runtime::Session> session_;
};

}  // namespace millrace::vartml
