#include "record/record.h"

#include <unistd.h>

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/hooks.h"
#include "base/log.h"
#include "base/never_destroyed.h"
#include "queue/requests/ids.h"
#include "record/folder.h"
#include "record/memory_copy.h"
#include "record/record_state.h"

namespace millrace::record {

namespace record_internal {
constinit std::atomic<bool> active{false};
}  // namespace record_internal

namespace {

constexpr int kVersion = 1;

struct KeptTensor {
  Tensor tensor;
  std::string name;  // to which tensor.name refers no longer than the call that announces the job
};

struct RecordedJob {
  uint64_t number = 0;  // by the lines of the record
  uint32_t model = 0;
  uint32_t frames = 0;
  std::vector<KeptTensor> inputs, outputs;
};

// A job that is filled and not yet submitted.
struct Begun {
  RecordedJob job;
  Begun* next = nullptr;
};

// The state of a thread. It is trivially destructible, so that it can be used as long as the
// thread's memory exists, also by destructors at the end of the thread.
struct ThreadState {
  Begun *first_begun = nullptr, *last_begun = nullptr;  // in order

  void push(RecordedJob job) {
    auto* const begun = new Begun{std::move(job)};
    (first_begun == nullptr ? first_begun : last_begun->next) = begun;
    last_begun = begun;
  }
  std::unique_ptr<Begun> pop() noexcept {
    std::unique_ptr<Begun> begun(first_begun);
    if (begun != nullptr) first_begun = begun->next;
    return begun;
  }
};

ThreadState& of_this_thread() noexcept {
  static constinit thread_local ThreadState state;
  return state;
}

struct Recorder {
  Folder folder;
  bool keeps_tensors = true;
  int64_t began_ns = 0;
  pid_t process = 0;  // a forked child must not write to the record of its parent
  std::mutex mutex;   // guards what follows, and orders the jobs
  std::unordered_map<ModelKey, uint32_t> models;
  std::unordered_map<queue::SequenceId, RecordedJob> in_flight;
  uint32_t last_model = 0;
  uint64_t last_job = 0;
};

Recorder& recorder() {
  // Never destroyed, since threads may use it while the process exits.
  static NeverDestroyed<Recorder> made;
  return made.get();
}

// The observer stays in the table of hooks, since this may be called by it.
void end_recording(const Status& reason) {
  if (!record_internal::active.exchange(false)) return;
  static_cast<void>(recorder().folder.append_last({{"ended", reason.message()}}));
  log_format(LogLevel::kError, "record", "MILLRACE_RECORD: the recording has ended: {}",
             reason.message());
}

// Runs a part of the recorder. It must not disturb the program, whatever happens.
template <class Part>
void contained(Part&& part) noexcept {
  if (!on() || ::getpid() != recorder().process) return;
  const CancellationOff whole;
  try {
    if (const Status status = part(); !status.ok()) end_recording(status);
  } catch (const std::exception&) {
    record_internal::active.store(false);  // memory is exhausted, there is none for a message
  }
}

std::vector<KeptTensor> kept(std::span<const Tensor> tensors) {
  std::vector<KeptTensor> all;
  for (const Tensor& tensor : tensors) all.push_back({tensor, std::string(tensor.name)});
  return all;
}

Json dimensions_of(const TensorShape& shape) {
  Json dimensions = Json::array();
  for (uint32_t i = 0; i < shape.rank; ++i) dimensions.push_back(shape.dims[i]);
  return dimensions;
}

// Returns the bytes of the dimensions, or of all the memory if they are more, as when a job fails.
size_t bytes_of(const TensorShape& shape, size_t element_bytes, size_t most) {
  size_t bytes = element_bytes;
  for (uint32_t i = 0; i < shape.rank; ++i)
    if (__builtin_mul_overflow(bytes, size_t{shape.dims[i]}, &bytes)) return most;
  return bytes < most ? bytes : most;
}

// Describes a tensor, and keeps its bytes if `with_bytes` is true.
Result<Json> line_of(const KeptTensor& kept, bool with_bytes) {
  const Tensor& tensor = kept.tensor;
  Json line = {{"name", kept.name}, {"view", tensor.view == View::kHw ? "hw" : "cpu"}};
  size_t bytes = tensor.bytes;
  if (tensor.shape) line["shape"] = dimensions_of(*tensor.shape);
  if (tensor.written_shape != nullptr && with_bytes) {
    line["shape"] = dimensions_of(*tensor.written_shape);
    bytes = bytes_of(*tensor.written_shape, tensor.element_bytes, bytes);
  }
  const bool is_known = !tensor.open_output || tensor.written_shape != nullptr;
  line["bytes"] = bytes;
  if (!with_bytes || !is_known || tensor.data == nullptr) return line;
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> copy, copy_of(tensor.data, bytes));
  MILLRACE_ASSIGN_OR_RETURN(line["file"], recorder().folder.keep("tensors", copy));
  return line;
}

Result<Json> lines_of(const std::vector<KeptTensor>& tensors, bool with_bytes) {
  Json lines = Json::array();
  for (const KeptTensor& tensor : tensors) {
    MILLRACE_ASSIGN_OR_RETURN(Json line, line_of(tensor, with_bytes));
    lines.push_back(std::move(line));
  }
  return lines;
}

// The job has not been published, so no thread has started it yet.
Status on_submitted(queue::SequenceId id, int64_t time_ns) {
  const std::unique_ptr<Begun> begun = of_this_thread().pop();
  if (begun == nullptr) return {};  // a request that is no job of a known model
  Recorder& state = recorder();
  RecordedJob& job = begun->job;
  MILLRACE_ASSIGN_OR_RETURN(Json inputs, lines_of(job.inputs, false));
  MILLRACE_ASSIGN_OR_RETURN(Json outputs, lines_of(job.outputs, false));
  const std::lock_guard lock(state.mutex);
  job.number = ++state.last_job;
  Json line = {{"submitted", job.number},        {"model", job.model},
               {"unit", queue::unit_of(id)},     {"id", queue::counter_of(id)},
               {"ns", time_ns - state.began_ns}, {"frames", job.frames},
               {"inputs", std::move(inputs)},    {"outputs", std::move(outputs)}};
  MILLRACE_RETURN_IF_ERROR(state.folder.append(line));
  state.in_flight.insert_or_assign(id, std::move(job));
  return {};
}

// Returns whether the job has not completed.
bool is_in_flight(queue::SequenceId id) {
  Recorder& state = recorder();
  const std::lock_guard lock(state.mutex);
  return state.in_flight.contains(id);
}

// The inputs are read now, since a job before it in its unit may have written them after the
// submit. The watchdog may give the job up meanwhile, whose inputs the program may then free.
Status on_started(queue::SequenceId id, int64_t time_ns) {
  Recorder& state = recorder();
  std::vector<KeptTensor> inputs;
  uint64_t number = 0;
  {
    const std::lock_guard lock(state.mutex);
    const auto found = state.in_flight.find(id);
    if (found == state.in_flight.end()) return {};
    number = found->second.number;
    inputs = std::move(found->second.inputs);
  }
  Json line = {{"started", number}, {"ns", time_ns - state.began_ns}};
  if (state.keeps_tensors) {
    Result<Json> read = lines_of(inputs, true);
    if (!read.ok() && !is_in_flight(id)) return {};
    MILLRACE_ASSIGN_OR_RETURN(line["inputs"], std::move(read));
  }
  return state.folder.append(line);
}

// The job is not published yet, so its outputs are still what it has written.
Status on_completed(queue::SequenceId id, StatusCode code, int64_t time_ns) {
  Recorder& state = recorder();
  RecordedJob job;
  {
    const std::lock_guard lock(state.mutex);
    auto found = state.in_flight.extract(id);
    if (found.empty()) return {};
    job = std::move(found.mapped());
  }
  Json line = {{"completed", job.number},
               {"ns", time_ns - state.began_ns},
               {"status", std::string(to_string(code))}};
  if (code == StatusCode::kOk && state.keeps_tensors) {
    MILLRACE_ASSIGN_OR_RETURN(line["outputs"], lines_of(job.outputs, true));
  }
  return state.folder.append(line);
}

void observe(void*, const HookEvent& event) noexcept {
  if (event.point == HookPoint::kSubmitted)
    contained([&] { return on_submitted(event.subject, event.time_ns); });
  else if (event.point == HookPoint::kStarted)
    contained([&] { return on_started(event.subject, event.time_ns); });
  else if (event.point == HookPoint::kCompleted)
    contained([&] {
      return on_completed(event.subject, static_cast<StatusCode>(event.detail), event.time_ns);
    });
}

}  // namespace

Status start_recording(const RecordOptions& options) {
  Recorder& state = recorder();
  MILLRACE_RETURN_IF_ERROR(state.folder.create(options.folder, options.limit_bytes));
  state.keeps_tensors = options.keeps_tensors;
  state.began_ns = now_ns();
  state.process = ::getpid();
  MILLRACE_RETURN_IF_ERROR(state.folder.append({{"format", "millrace-record"},
                                                {"version", kVersion},
                                                {"process", ::getpid()},
                                                {"tensors", options.keeps_tensors}}));
  if (!add_hook(observe, nullptr))
    return {StatusCode::kResourceExhausted, "the table of hooks is full"};
  record_internal::active.store(true);
  return {};
}

void note_model(ModelKey key, const Model& model) noexcept {
  contained([&]() -> Status {
    Recorder& state = recorder();
    MILLRACE_ASSIGN_OR_RETURN(const std::string file, state.folder.keep("models", model.archive));
    const std::lock_guard lock(state.mutex);
    const uint32_t number = ++state.last_model;
    state.models.insert_or_assign(key, number);
    return state.folder.append({{"model", number},
                                {"name", std::string(model.name)},
                                {"archive", file},
                                {"profile", std::string(model.profile)}});
  });
}

void forget_model(ModelKey key) noexcept {
  contained([&]() -> Status {
    const std::lock_guard lock(recorder().mutex);
    recorder().models.erase(key);
    return {};
  });
}

void begin_job(ModelKey key, uint32_t frames, std::span<const Tensor> inputs,
               std::span<const Tensor> outputs) noexcept {
  contained([&]() -> Status {
    Recorder& state = recorder();
    RecordedJob job;
    job.frames = frames;
    job.inputs = kept(inputs);
    job.outputs = kept(outputs);
    {
      const std::lock_guard lock(state.mutex);
      const auto found = state.models.find(key);
      if (found == state.models.end()) return {};
      job.model = found->second;
    }
    of_this_thread().push(std::move(job));
    return {};
  });
}

}  // namespace millrace::record
