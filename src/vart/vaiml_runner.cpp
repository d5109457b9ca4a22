// The calls of the API: each binds its tensors (JobBinder), then submits to or executes on the
// session. Calls that may block keep references to session and log, since another thread may
// destroy the runner before they return. Calls that must not throw run within contained().
#include "vart/vaiml_runner.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/cancellation.h"
#include "base/float_environment.h"
#include "base/process/forked_child.h"
#include "base/settings/variables.h"
#include "graph/archive/connectivity.h"
#include "model/archive_extract.h"
#include "vart/job_trace.h"
#include "vart/properties.h"
#include "vart/tensors/tensor_info.h"
#include "vart/tensors/tensor_state.h"
#include "vart/value_or_runtime_error.h"

namespace millrace::vartml {

using ::vart::TensorDirection;
using ::vart::TensorState;
using ::vart::TensorType;
using ApiStatus = ::vart::StatusCode;

namespace {

runtime::LoadedProgram load(const std::string& model_path, const RunnerOptions& options) {
  return value_or_runtime_error(
      runtime::load_program(model_path, std::nullopt, options.shape_profile));
}

std::unique_ptr<runtime::Session> make_session(const runtime::LoadedProgram& loaded,
                                               const RunnerOptions& options, const RunnerPart& part,
                                               std::shared_ptr<runtime::Profile> profile) {
  runtime::SessionOptions session;
  session.profile = std::move(profile);
  session.max_concurrent_runs = options.max_concurrent_runs;
  session.callback_order = options.callback_order;
  session.sync_inputs = !options.skip_in_bo_sync;
  session.sync_outputs = !options.skip_out_bo_sync;
  session.name = fmt::format("runner \"{}\"", options.name);
  session.job_ids = part.job_ids;
  session.max_lanes = options.async_threadpool_depth;
  session.mode = options.job_mode;
  session.placement = runtime::Placement{options.start_column, !options.aie_columns_sharing,
                                         loaded.columns, part.column_owner};
  return value_or_runtime_error(runtime::Session::create(loaded.device, loaded.program, session));
}

std::string no_bank(const memory::BankList& banks, uint32_t wanted) {
  return fmt::format("there is no memory bank {}: banks are 0 to {}", wanted, banks.size() - 1);
}

// Logs a failure and returns its code, even if memory for the log line is exhausted.
ApiStatus report(const RunnerLog& log, ApiStatus code, std::string_view why) noexcept try {
  return log.report(code, why);
} catch (const std::exception&) {
  return code;
}

// Runs the body of a call that must not throw, and turns an exception, such as bad_alloc of the
// standard library, into a status. `log` must live as long as `call`, which may outlive the runner.
template <class Call>
ApiStatus contained(const RunnerLog& log, Call&& call) noexcept {
  try {
    if (is_forked_child()) [[unlikely]]
      return log.code_of(forked_status());
    return call();
  } catch (const std::bad_alloc&) {
    return report(log, ApiStatus::OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return report(log, ApiStatus::RUNTIME_ERROR, error.what());
  } catch (...) {
    return report(log, ApiStatus::RUNTIME_ERROR, "an exception of unknown type");
  }
}

// Like contained(), for calls that start a job: `start` sets the id and returns the status.
template <class Start>
::vart::JobHandle contained_start(const RunnerLog& log, Start&& start) noexcept {
  uint32_t id = 0;
  const ApiStatus status = contained(log, [&] { return start(id); });
  return {status, id};
}

template <class Enum>
void check_known(const char* name, Enum value) {
  if (to_string(value) == "UNKNOWN")
    throw std::invalid_argument(fmt::format("there is no {} {}", name, static_cast<int>(value)));
}

std::shared_ptr<const RunnerLog> make_log(const RunnerOptions& options) {
  return std::make_shared<const RunnerLog>(options.name,
                                           options.debug ? LogLevel::kDebug : options.log_level,
                                           options.debug || options.log_level_given);
}

}  // namespace

VaimlRunner::VaimlRunner(const std::string& model_path, const OptionMap& options)
    : VaimlRunner(model_path, read_options(options), {}) {
  if (options_.llm != LlmNames())
    log_->write(LogLevel::kWarning,
                "the options \"input_ids_name\", \"attention_mask_name\" and \"logits_name\" are "
                "those of an LlmRunner, and are ignored");
}

VaimlRunner::VaimlRunner(const std::string& model_path, RunnerOptions options,
                         const RunnerPart& part)
    : Runner(model_path),
      options_(std::move(options)),
      log_(make_log(options_)),
      banks_(value_or_runtime_error(memory::banks_of_environment())),
      loaded_(load(model_path, options_)),
      tensors_(loaded_.program->model(), part.prefix) {
  if (options_.cma_index >= banks_.size())
    throw std::runtime_error("option \"cma_index\": " + no_bank(banks_, options_.cma_index));
  for (const auto& [level, remark] : options_.remarks) log_->write(level, remark);
  if (const std::string warning = warning_of_unknown_variables(); !warning.empty())
    log_->write(LogLevel::kWarning, warning);
  tensors_.check(options_, *log_);
  if (!options_.cache_path.empty()) extract(model_path);
  if (options_.ai_analyzer_profiling)
    profile_ = std::make_unique<ProfileFile>(loaded_, options_.cache_path);
  session_ = make_session(loaded_, options_, part, profile_ ? profile_->profile() : nullptr);
  log_->write(LogLevel::kInfo, fmt::format("created from {}: {}", model_path, summary()));
}

void VaimlRunner::begin_close() {
  if (is_forked_child()) return;
  const CancellationOff whole;
  session_->begin_close();
}

void VaimlRunner::close() {
  if (is_forked_child()) return;
  const CancellationOff whole;
  session_->close();
}

// Closes the session first: that waits for the remaining callbacks, which may call the runner.
VaimlRunner::~VaimlRunner() {
  if (is_forked_child()) return;
  const CancellationOff whole;
  const DefaultFloatEnvironment floats;  // used for the times in a profile
  session_->close();
  if (profile_ != nullptr) profile_->write(*log_);
  log_->write_format(LogLevel::kDebug, "destroyed after {} jobs", session_->accepted_jobs());
}

void VaimlRunner::extract(const std::string& model_path) const {
  std::error_code error;
  if (std::filesystem::is_directory(model_path, error)) {
    log_->write(LogLevel::kDebug, "cache_path: the model is a directory, nothing to extract");
    return;
  }
  const Result<bool> written = model::extract_archive(
      model_path, options_.cache_path, graph::describe_parts(loaded_.program->model()));
  if (!written.ok()) throw std::runtime_error("cache_path: " + written.status().message());
  log_->write(LogLevel::kDebug,
              fmt::format("cache_path: the model is {} {}",
                          *written ? "extracted to" : "already in", options_.cache_path));
}

std::string VaimlRunner::summary() const {
  const graph::CompiledModel& model = loaded_.program->model();
  return fmt::format(
      "model \"{}\", input view {}, output view {}, device {}, batch size {}, at most {} jobs "
      "not complete",
      model.name, to_string(options_.input_type), to_string(options_.output_type),
      loaded_.device->name(), model.batch_size, options_.max_concurrent_runs);
}

const std::vector<::vart::NpuTensorInfo>& VaimlRunner::get_tensors_info(TensorDirection direction,
                                                                        TensorType type) const {
  check_known("TensorDirection", direction);
  check_known("TensorType", type);
  return tensors_.infos(direction, type);
}

const ::vart::NpuTensorInfo& VaimlRunner::get_tensor_info_by_name(const std::string& name,
                                                                  TensorType type) const {
  if (const NpuTensorInfo* info = tensors_.find(name, type)) return *info;
  throw std::runtime_error(tensors_.why_not_found(name, type));
}

const ::vart::QuantParameters& VaimlRunner::get_quant_parameters(
    const std::string& tensor_name) const {
  if (const ::vart::QuantParameters* found = tensors_.quantisation(tensor_name)) return *found;
  throw std::runtime_error(tensors_.why_not_found(tensor_name, TensorType::CPU));
}

size_t VaimlRunner::get_num_input_tensors() const {
  return loaded_.program->model().inputs.size();
}

size_t VaimlRunner::get_num_output_tensors() const {
  return loaded_.program->model().outputs.size();
}

size_t VaimlRunner::get_batch_size() const {
  return loaded_.program->model().batch_size;
}

size_t VaimlRunner::get_batch_size(TensorDirection) const {
  return get_batch_size();
}

std::any VaimlRunner::get_property(const std::string& key) const {
  return property_of(loaded_, options_, *session_, banks_, key);
}

CallRules VaimlRunner::rules() const noexcept {
  return {loaded_.program->model().batch_size,
          options_.strict_zero_copy ? loaded_.program.get() : nullptr};
}

ApiStatus VaimlRunner::execute(const TensorTable& inputs, TensorTable& outputs) noexcept {
  return contained(*log_, [&, log = log_, session = session_] {
    BinderOfCall binder;
    const ApiStatus bound = binder->bind(tensors_, rules(), inputs, outputs);
    if (bound != ApiStatus::SUCCESS) return log->report(bound, binder->reason());
    if (!binder->mismatches().empty()) tensor_warnings_.warn(binder->mismatches(), *log);
    if (log->enabled(LogLevel::kDebug)) [[unlikely]]
      return log->code_of(execute_traced(*session, binder->bindings(), *log));
    return log->code_of(session->execute(binder->bindings()));
  });
}

ApiStatus VaimlRunner::submit(const TensorTable& inputs, const TensorTable& outputs,
                              runtime::JobCallback callback, uint32_t& id) {
  BinderOfCall binder;
  const ApiStatus bound = binder->bind(tensors_, rules(), inputs, outputs);
  if (bound != ApiStatus::SUCCESS) return log_->report(bound, binder->reason());
  if (!binder->mismatches().empty()) tensor_warnings_.warn(binder->mismatches(), *log_);
  const Result<runtime::SessionJobId> job =
      log_->enabled(LogLevel::kDebug)
          ? submit_traced(*session_, binder->bindings(), std::move(callback), log_)
          : session_->submit(binder->bindings(), std::move(callback));
  if (!job.ok()) return log_->code_of(job.status());
  id = *job;
  return ApiStatus::SUCCESS;
}

::vart::JobHandle VaimlRunner::execute_async(const TensorTable& inputs,
                                             TensorTable& outputs) noexcept {
  return contained_start(*log_, [&](uint32_t& id) { return submit(inputs, outputs, {}, id); });
}

::vart::JobHandle VaimlRunner::execute_async(const TensorTable& inputs, TensorTable& outputs,
                                             ExecuteAsyncCallback callback) noexcept {
  if (!callback) return execute_async(inputs, outputs);
  return contained_start(*log_, [&](uint32_t& id) {
    return submit(
        inputs, outputs,
        [callback = std::move(callback), log = log_](uint64_t job, const Status& status) {
          callback({log->code_of(status), static_cast<uint32_t>(job)});
        },
        id);
  });
}

ApiStatus VaimlRunner::wait(const JobHandle& job, std::chrono::milliseconds timeout) noexcept {
  return contained(*log_, [&, log = log_, session = session_] {
    // The longest wait that a session knows stands for one without a limit.
    const auto limit = timeout.count() < 0 ? std::chrono::milliseconds::max() : timeout;
    const Status status = session->wait(job.job_id, limit);
    if (status.code() != StatusCode::kInvalidJobId) return log->code_of(status);
    return log->report(ApiStatus::INVALID_JOB_ID,
                       fmt::format("job {}: {}", job.job_id, status.message()));
  });
}

::vart::NpuTensor VaimlRunner::allocate_npu_tensor(const NpuTensorInfo& info) const {
  return allocate_npu_tensor(info, options_.cma_index);
}

::vart::NpuTensor VaimlRunner::allocate_npu_tensor(const NpuTensorInfo& info,
                                                   uint32_t memory_bank) const {
  if (memory_bank >= banks_.size()) throw std::runtime_error(no_bank(banks_, memory_bank));
  if (const char* missing = missing_in(info))
    throw std::invalid_argument(
        fmt::format("tensor \"{}\": the description has no {}", info.name, missing));
  return TensorState::tensor_of(TensorState::allocate(info, *banks_[memory_bank], log_));
}

::vart::NpuTensor VaimlRunner::allocate_sub_tensor(const NpuTensor& parent,
                                                   const NpuTensorInfo& info, size_t offset) const {
  return TensorState::tensor_of(TensorState::slice(TensorState::of(parent), info, offset));
}

}  // namespace millrace::vartml
