// VART-ML runners: load a compiled model, describe its tensors, run it synchronously or as jobs.
//
// Every function of a Runner is thread-safe, and may be called from callbacks.
//
// Sources: the published VART-ML documentation and sample programs, release 6.2 and the one after
// it; this header is a superset of both. It defines no macro and no name outside namespace vart.
// C++17 and later.
#ifndef VART_VART_RUNNER_FACTORY_HPP
#define VART_VART_RUNNER_FACTORY_HPP

#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "vart/vart_npu_tensor.hpp"

#pragma GCC visibility push(default)

namespace vart {

enum class RunnerType { VAIML = 0 };

enum class RoundingMode { UNKNOWN = 0, ROUND_TO_NEAREST_EVEN = 1, ROUND_TOWARD_ZERO = 2 };

enum class StatusCode {
  SUCCESS = 0,
  FAILURE = 1,         // the job was cancelled before it ran: its runner is being destroyed
  INVALID_INPUT = 2,   // the input tensors do not fit the model
  INVALID_OUTPUT = 3,  // the output tensors do not fit the model
  OUT_OF_MEMORY = 4,
  RUNTIME_ERROR = 5,         // the device failed, or a watchdog gave the job up
  JOB_PENDING = 6,           // not complete yet: wait again
  INVALID_JOB_ID = 7,        // never issued, already collected, or too old
  RESOURCE_UNAVAILABLE = 8,  // max_concurrent_runs jobs are not complete: retry after a completion
  UNSUPPORTED = 9            // declared for completeness; never returned here
};

namespace npu_detail {
std::string_view name_of(RoundingMode value) noexcept;
std::string_view name_of(StatusCode value) noexcept;

template <class Enum>
inline constexpr bool names_runner_enum =
    std::is_same_v<Enum, RoundingMode> || std::is_same_v<Enum, StatusCode>;
}  // namespace npu_detail

// A template for the same reason as to_string in vart_npu_tensor.hpp.
template <class Enum, std::enable_if_t<npu_detail::names_runner_enum<Enum>, int> = 0>
std::string_view to_string(Enum value) noexcept {
  return npu_detail::name_of(value);
}

// real = (q - zero_point) * scale. A tensor that is not quantised has scale 1 and zero point 0.
struct QuantParameters {
  double scale = 0.0;
  int32_t zero_point = 0;
  RoundingMode rounding_mode = RoundingMode::UNKNOWN;  // UNKNOWN rounds to nearest even
};

// The result of execute_async; callbacks get one, too, in which the status is the job's final one.
struct JobHandle {
  JobHandle() noexcept = default;
  JobHandle(StatusCode code, uint32_t id) noexcept : status(code), job_id(id) {}

  StatusCode status = StatusCode::FAILURE;
  uint32_t job_id = 0;  // from 1; 0 is no job
};

// A model, loaded. Its options by key, with defaults; docs/vart.md says what each takes and does:
//
//   input_tensor_type "HW"       the view of the inputs that will be passed; "HW" or "CPU"
//   output_tensor_type "HW"      that of the outputs; either with ".<tensor name>": of that tensor
//   cma_index 0                  the memory bank of allocate_npu_tensor
//   skip_in_bo_sync false        the caller syncs HW inputs after writing
//   skip_out_bo_sync false       the caller syncs HW outputs before reading
//   max_concurrent_runs 2        asynchronous jobs accepted and not complete, at most
//   async_threadpool_depth 10    jobs that run at the same time, at most
//   callback_order "submission"  of callbacks; or "completion"
//   start_column none            binds the jobs to the processor core that this column stands for
//   aie_columns_sharing true     false: no other runner of the user on the same columns. Without
//                                start_column a runner gets the first free columns, or else shares
//                                those of a runner that occupies as many
//   name "VAIML-Runner"          begins this runner's lines in the log
//   strict_zero_copy false       true: tensors that would be converted are refused
//   log_level "INFO"             "ERROR", "WARNING", "INFO" or "DEBUG": lines to standard error
//   debug false                  true: as log_level "DEBUG"
//   ai_analyzer_profiling false  true: writes a JSON file with the time of every operator
//   config_json none             the path of a JSON file with options; this map takes precedence
//   cache_path none              a directory into which a .rai model is extracted
//   shape_profile none           the profile of an archive with open dimensions; without it
//                                MILLRACE_PROFILE chooses, or the first is taken
//   enable_xrt_run_pool false    accepted, without effect
//
// The environment variable MILLRACE_LOG takes precedence over both: "error" leaves why calls were
// refused and jobs failed, "off" nothing. Without any of them, equal reasons are logged once.
//
// A job that hangs on its device hangs for ever, and so does a call that waits for it without a
// limit: execute() too. With the environment variable MILLRACE_WATCHDOG ("10s", "500ms") jobs that
// make no progress for so long end with RUNTIME_ERROR, and those behind them run. After fork() a
// child must not use what its parent made: its threads are not there.
//
// Programs may derive from it, for a mock or a decorator. Release 6.2 has no get_property, no
// get_batch_size of a direction, no execute_async with user data and no allocate_npu_tensor in a
// bank, so these are not pure: unless they are overridden, they throw std::invalid_argument, return
// what get_batch_size() does, call the execute_async with a callback, and leave the choice of the
// bank to the other allocate_npu_tensor.
class Runner {
 public:
  // Runs on an internal thread, after the job has completed and its place is free. Callbacks of a
  // runner run one at a time. They may call the runner, and may drop the last pointer to it.
  using ExecuteAsyncCallback = std::function<void(const JobHandle&)>;

  // Jobs that have not started end with FAILURE, the running ones finish, and every callback is
  // delivered before this returns (afterwards, where it is called from a callback). Until then
  // callbacks may call the runner, which takes no more jobs: FAILURE. A running job that makes no
  // progress for ten seconds, or for MILLRACE_WATCHDOG where that is set, is given up. Threads that
  // are blocked in execute() or wait() return with the status of their job; no other call may go on
  // in other threads, and none may begin.
  virtual ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // The model's tensors, in the order in which execute takes them. Both views can be asked for
  // whatever the options say. The CPU list has every tensor; the HW list leaves out those that lie
  // on a CPU partition, so it may be shorter, or empty: pass those in the CPU view. The reference
  // is valid as long as the runner. A tensor of rank 0 is described as a vector of one.
  // Throws std::invalid_argument for a direction or type that is none of the enumerators.
  virtual const std::vector<NpuTensorInfo>& get_tensors_info(TensorDirection direction,
                                                             TensorType type) const = 0;
  // Throws std::runtime_error when there is no such tensor in that view, with what there is.
  virtual const NpuTensorInfo& get_tensor_info_by_name(const std::string& name,
                                                       TensorType type) const = 0;
  // One entry per tensor, the same for both views, also for tensors that are not quantised. Throws
  // std::runtime_error for an unknown name.
  virtual const QuantParameters& get_quant_parameters(const std::string& tensor_name) const = 0;

  virtual size_t get_num_input_tensors() const = 0;
  virtual size_t get_num_output_tensors() const = 0;
  // Frames that one call takes at most.
  virtual size_t get_batch_size() const = 0;
  virtual size_t get_batch_size(TensorDirection direction) const;

  // std::string: model_name; name (the option); device ("cpu"); precision ("int8", "fp32" or
  // "bf16", what is computed in). size_t: nb_systems; nb_cores_per_system; batch_size_per_core;
  // columns (that the model occupies); onnx_scratch_bytes (scratch memory of one running job).
  // uint8_t: nb_ddrs, the memory banks. size_t, of the jobs completed so far: converted_tensors and
  // converted_bytes, the tensors that were not used in place but converted, and their bytes in the
  // view in which they were passed. std::vector<size_t>: ddr_free_bytes, what this process may
  // still allocate in each bank. Throws std::invalid_argument for any other key.
  virtual std::any get_property(const std::string& key) const;

  // Runs one batch to its end. `inputs` and `outputs` hold one vector per frame, of one tensor per
  // tensor of the model. 1 to get_batch_size() frames are run: as many as there are inputs; outputs
  // beyond are left alone. Results are visible to the host on return. Waits while
  // max_concurrent_runs jobs are not complete.
  //
  // INVALID_INPUT, INVALID_OUTPUT: wrong counts, an empty tensor, one smaller than its view, of a
  // view the model does not have or strict_zero_copy forbids, misaligned for its element type, or
  // an output that is read-only. RUNTIME_ERROR: the device failed, or a file behind a tensor was
  // truncated. A tensor's name, data_type and memory_layout are not checked: where they differ from
  // the model's, and where an input tensor is passed as an output, the log has a warning, once.
  virtual StatusCode execute(const std::vector<std::vector<NpuTensor>>& inputs,
                             std::vector<std::vector<NpuTensor>>& outputs) noexcept = 0;

  // The same as a job. Returns at once, with SUCCESS and the job's id, or with the reason why
  // nothing was started. The vectors are not needed afterwards, the tensors' memory is until the
  // job is complete.
  virtual JobHandle execute_async(const std::vector<std::vector<NpuTensor>>& inputs,
                                  std::vector<std::vector<NpuTensor>>& outputs) noexcept = 0;
  // The same, and calls `callback`, if it is not empty, once, when the job is complete.
  virtual JobHandle execute_async(const std::vector<std::vector<NpuTensor>>& inputs,
                                  std::vector<std::vector<NpuTensor>>& outputs,
                                  ExecuteAsyncCallback callback) noexcept = 0;
  virtual JobHandle execute_async(const std::vector<std::vector<NpuTensor>>& inputs,
                                  std::vector<std::vector<NpuTensor>>& outputs,
                                  std::function<void(const JobHandle&, void*)> callback,
                                  void* user_data) noexcept;

  // The job's final status, once; then its id is no longer known. JOB_PENDING when `timeout` passed
  // first: the job stays collectable. Zero polls; less than zero waits as long as it takes.
  // INVALID_JOB_ID for id 0, an id never issued or already collected, and results older than the
  // last 65,536 that were not collected.
  virtual StatusCode wait(const JobHandle& job, std::chrono::milliseconds timeout) noexcept = 0;

  // Zero-filled memory for `info`, of either view: XRT_BO, with a host address, exportable as long
  // as memory holds less than half of the descriptors that the process may have. Throws
  // std::invalid_argument for an incomplete description, std::runtime_error when there is no such
  // bank, no room in it, or no memory. Without `memory_bank`, in the bank of cma_index.
  virtual NpuTensor allocate_npu_tensor(const NpuTensorInfo& info) const = 0;
  virtual NpuTensor allocate_npu_tensor(const NpuTensorInfo& info, uint32_t memory_bank) const;
  // `info.size_in_bytes` bytes of `parent` from byte `offset`; shares its memory. Throws
  // std::invalid_argument when the parent was not allocated by a runner or is a sub-tensor itself,
  // for an incomplete description, and for a range that leaves the parent.
  virtual NpuTensor allocate_sub_tensor(const NpuTensor& parent, const NpuTensorInfo& info,
                                        size_t offset) const = 0;

 protected:
  explicit Runner(const std::string& model_path,
                  const std::unordered_map<std::string, std::any>& options = {});
};

// For programs that spell it without the class.
using ExecuteAsyncCallback = Runner::ExecuteAsyncCallback;

class RunnerFactory {
 public:
  // Loads `model_path`: a .rai file, or a directory that contains vaiml_par_0. Throws
  // std::runtime_error for an unknown type, a model that is missing or not valid, or one without
  // the views the options ask for, a config_json that cannot be read (with file and line), a
  // cache_path that cannot be written, memory banks that make no sense, or an option with a bad
  // payload (with file and line where it stands in a file); std::invalid_argument where that is
  // text for a view which is neither "HW" nor "CPU".
  static std::shared_ptr<Runner> create_runner(
      RunnerType type, const std::string& model_path,
      const std::unordered_map<std::string, std::any>& options = {});
};

}  // namespace vart

#pragma GCC visibility pop

#endif  // VART_VART_RUNNER_FACTORY_HPP
