#include "serve/models/served_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "base/log.h"
#include "io/file.h"
#include "serve/models/model_file.h"

namespace millrace::serve {
namespace {

constexpr size_t kFirstOpenBytes = 64 << 10;
constexpr unsigned kSucceeded = 200;
constexpr int64_t kMostRetrySeconds = 600;
// The thread of a connection runs jobs that take no longer than this on average. To hand a job to a
// lane and its answer back takes longer, by a wake of a thread each. Other connections wait for it.
constexpr std::chrono::microseconds kLongestHere{20};

// Adds a tensor of zeros for each of these. A job that hangs may keep its memory.
Status add_zeros(std::span<const TensorInfo> infos, std::vector<TensorArg>& args) {
  for (const TensorInfo& info : infos) {
    if (info.cpu.is_open)
      return invalid_argument(
          fmt::format("\"warm_up\" needs tensors of fixed shape, and \"{}\" is open", info.name));
    MILLRACE_ASSIGN_OR_RETURN(const Buffer zeros, Buffer::allocate(info.cpu.bytes));
    args.emplace_back(zeros);
  }
  return {};
}

}  // namespace

ServedModel::ServedModel(ModelFile file, Model model, const ModelSettings& settings,
                         Metrics& metrics)
    : file_(std::move(file)),
      model_(std::move(model)),
      when_full_(settings.when_full),
      request_seconds_(settings.request_seconds),
      expected_(std::make_unique<std::atomic<size_t>[]>(model_.outputs().size())),
      metrics_(metrics.add_model(file_.name, file_.version)) {
  for (size_t i = 0; i < model_.outputs().size(); ++i) expected_[i] = kFirstOpenBytes;
  const auto is_open = [](const TensorInfo& info) { return info.cpu.is_open; };
  has_open_shapes_ = std::ranges::any_of(model_.inputs(), is_open) ||
                     std::ranges::any_of(model_.outputs(), is_open);
}

Result<std::shared_ptr<ServedModel>> ServedModel::load(const ModelFile& file,
                                                       const Options& options, Device& device,
                                                       Metrics& metrics,
                                                       const std::function<bool()>& closed) {
  MILLRACE_ASSIGN_OR_RETURN(const ModelSettings settings, settings_of(file, options));
  MILLRACE_ASSIGN_OR_RETURN(
      Model model, load_model_file(file.path, {settings.precision, settings.batch}, device));
  std::shared_ptr<ServedModel> served(new ServedModel(file, std::move(model), settings, metrics));
  if (!settings.labels.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(served->labels_, io::read_lines(settings.labels));
  }
  MILLRACE_RETURN_IF_ERROR(served->create_units(settings, device));
  MILLRACE_RETURN_IF_ERROR(served->warm_up(settings.warm_up, closed));
  MILLRACE_RETURN_IF_ERROR(served->start_batcher(settings, closed));
  return served;
}

Status ServedModel::create_units(const ModelSettings& settings, Device& device) {
  const uint32_t units = settings.units != 0 ? settings.units : std::max(1U, device.lanes());
  for (uint32_t i = 0; i < units; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(Unit unit,
                              device.create_unit({.name = fmt::format("{}/{}", file_.name, i),
                                                  .depth = settings.queue_depth,
                                                  .when_full = settings.when_full,
                                                  .callback_order = CallbackOrder::kCompletion,
                                                  .auto_reset = true}));
    units_.push_back(std::move(unit));
  }
  return {};
}

// Each unit runs `jobs` jobs of one frame, whose inputs are zeros.
Status ServedModel::warm_up(uint32_t jobs, const std::function<bool()>& closed) {
  if (jobs == 0) return {};
  std::vector<TensorArg> inputs, outputs;
  MILLRACE_RETURN_IF_ERROR(add_zeros(model_.inputs(), inputs));
  MILLRACE_RETURN_IF_ERROR(add_zeros(model_.outputs(), outputs));
  for (Unit& unit : units_) {
    for (uint32_t i = 0; i < jobs; ++i) {
      if (closed()) return {StatusCode::kClosed, "the server is shutting down"};
      const Status status = unit.execute(model_, {.inputs = inputs, .outputs = outputs});
      if (!status.ok()) return status.with_context(file_.path + ": a job of the warm-up");
    }
  }
  return {};
}

Status ServedModel::start_batcher(const ModelSettings& settings,
                                  const std::function<bool()>& closed) {
  if (settings.batch_delay_seconds <= 0) return {};
  const auto delay = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(settings.batch_delay_seconds));
  if (has_rows(model_)) {
    MILLRACE_RETURN_IF_ERROR(find_rows(std::max(settings.batch, model_.batch_size()), closed));
  } else {
    MILLRACE_RETURN_IF_ERROR(check_frames());
  }
  const uint32_t most = joins_rows() ? row_form_.most_rows : model_.batch_size();
  MILLRACE_ASSIGN_OR_RETURN(
      batcher_, Batcher::start(*this, most, delay, joins_rows() ? &row_form_ : nullptr));
  return {};
}

Status ServedModel::find_rows(uint32_t most_rows, const std::function<bool()>& closed) {
  if (most_rows < 2 || most_rows > kMostRows)
    return invalid_argument(
        fmt::format("{}: the leading dimension is open, and --batch-delay joins requests along it: "
                    "say by --batch how many rows a job may have, from 2 to {}",
                    file_.path, kMostRows));
  auto form = find_row_form(model_, units_.front(), most_rows, closed);
  if (!form.ok())
    return form.status().with_context(file_.path + ": --batch-delay cannot join requests");
  row_form_ = *std::move(form);
  return {};
}

uint32_t ServedModel::rows_of(const InferRequest& request) const {
  if (!joins_rows()) return 0;
  const uint32_t rows = request.inputs.front().shape.dims[0];
  const auto differs = [rows](const InputTensor& input) { return input.shape.dims[0] != rows; };
  return rows > row_form_.most_rows || std::ranges::any_of(request.inputs, differs) ? 0 : rows;
}

// The frames of a job have memory of their own, so any model with several of them can be batched,
// except that one with open outputs must know the memory for each.
Status ServedModel::check_frames() const {
  const auto is_open = [](const TensorInfo& info) { return info.cpu.is_open; };
  if (model_.batch_size() == 1)
    return invalid_argument(
        fmt::format("{}: --batch-delay needs a model that takes several frames, and this one takes "
                    "one: compile it with --batch N",
                    file_.path));
  if (std::ranges::any_of(model_.outputs(), is_open))
    return invalid_argument(
        fmt::format("{}: --batch-delay needs outputs of fixed shape, and this model has open ones",
                    file_.path));
  return {};
}

bool ServedModel::ready() const {
  const auto healthy = [](const Unit& unit) { return unit.state() == UnitState::kHealthy; };
  return !closed_ && std::ranges::all_of(units_, healthy);
}

uint32_t ServedModel::in_flight() const {
  uint32_t jobs = 0;
  for (const Unit& unit : units_) jobs += unit.in_flight();
  return jobs;
}

void ServedModel::recover() {
  for (Unit& unit : units_) {
    if (unit.state() != UnitState::kDegraded) continue;
    const Status status = unit.reset();
    if (status.ok())
      log_format(LogLevel::kWarning, "serve", "unit {} was reset and takes jobs again",
                 unit.name());
  }
}

Result<Job> ServedModel::submit(const JobArgs& args, uint32_t size) {
  metrics_->job_accepted();
  Result<Job> job = submit_copy(args);
  if (job.ok())
    metrics_->job_frames(size);
  else
    metrics_->job_ended();
  return job;
}

bool ServedModel::runs_here() const noexcept {
  const std::chrono::nanoseconds mean = mean_run();
  return !has_open_shapes_ && mean.count() != 0 && mean <= kLongestHere;
}

std::optional<Status> ServedModel::execute_here(const JobArgs& args, uint32_t size) {
  for (Unit& unit : units_) {
    std::optional<Status> status = unit.execute_here(model_, args, kLongestHere);
    if (!status) continue;
    metrics_->job_accepted();
    metrics_->job_frames(size);
    return status;
  }
  return std::nullopt;
}

// The copy of the callback may find no memory; nothing has been submitted then.
Result<Job> ServedModel::submit_copy(const JobArgs& args) {
  try {
    return submit_to_best(args);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kOutOfMemory, "there is not enough memory for another job");
  }
}

// A degraded unit comes last, however idle it is. It fails the jobs at once, by which it would
// draw all of them.
Result<Job> ServedModel::submit_to_best(const JobArgs& args) {
  const auto rank = [](const Unit& unit) {
    return std::pair(unit.state() == UnitState::kDegraded, unit.in_flight());
  };
  const auto passes_on = [](const Result<Job>& job) {
    return !job.ok() && (job.status().code() == StatusCode::kQueueFull ||
                         job.status().code() == StatusCode::kUnitDegraded);
  };
  Unit& best = *std::ranges::min_element(units_, {}, rank);
  Result<Job> job = best.try_submit(model_, args);
  if (!passes_on(job)) return job;
  bool full = job.status().code() == StatusCode::kQueueFull;
  for (Unit& unit : units_) {
    if (&unit == &best) continue;
    Result<Job> other = unit.try_submit(model_, args);
    if (!passes_on(other)) return other;
    if (!full) job = std::move(other);
    full = full || job.status().code() == StatusCode::kQueueFull;
  }
  return full && when_full_ != WhenFull::kFail ? best.submit(model_, args) : std::move(job);
}

void ServedModel::took_bytes(size_t output, size_t bytes) {
  size_t expected = expected_[output];
  const auto next = [bytes](size_t old) {
    return old <= bytes ? bytes : old - (old - bytes + 7) / 8;
  };
  while (!expected_[output].compare_exchange_weak(expected, next(expected))) {
  }
}

void ServedModel::answered(unsigned status, std::chrono::nanoseconds time) noexcept {
  metrics_->answered(status, std::chrono::duration<double>(time).count());
  const bool succeeded = status == kSucceeded;
  (succeeded ? succeeded_ : failed_).add(time);
  if (!succeeded) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  last_inference_ms_.store(static_cast<uint64_t>(ms), std::memory_order_relaxed);
}

void ServedModel::Answers::add(std::chrono::nanoseconds time) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  nanoseconds.fetch_add(static_cast<uint64_t>(time.count()), std::memory_order_relaxed);
}

void ServedModel::ran(std::chrono::nanoseconds reading, const JobTimes& times) noexcept {
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  metrics_->ran(seconds(times.queued), seconds(times.computed));
  queued_.add(times.queued);
  computed_.add(times.computed);
  read_.add(reading);
}

ModelStatistics ServedModel::statistics() const {
  ModelStatistics sum;
  for (const Unit& unit : units_) {
    const UnitStatistics own = unit.statistics();
    sum.jobs.submitted += own.submitted;
    sum.jobs.refused += own.refused;
    sum.jobs.in_flight += own.in_flight;
    sum.jobs.succeeded += own.succeeded;
    sum.jobs.cancelled += own.cancelled;
    sum.jobs.dropped += own.dropped;
    sum.jobs.late += own.late;
    sum.jobs.failed += own.failed;
  }
  sum.succeeded = {succeeded_.count, succeeded_.nanoseconds};
  sum.failed = {failed_.count, failed_.nanoseconds};
  sum.queued = {queued_.count, queued_.nanoseconds};
  sum.computed = {computed_.count, computed_.nanoseconds};
  sum.read = {read_.count, read_.nanoseconds};
  sum.written = {written_.count, written_.nanoseconds};
  sum.frames = frames_;
  sum.last_inference_ms = last_inference_ms_;
  return sum;
}

std::chrono::nanoseconds ServedModel::mean_run() const noexcept {
  std::chrono::nanoseconds longest{0};
  for (const Unit& unit : units_) longest = std::max(longest, unit.statistics().mean_run);
  return longest;
}

uint32_t ServedModel::retry_after_seconds() const {
  std::chrono::nanoseconds longest{0};
  for (const Unit& unit : units_) {
    const UnitStatistics statistics = unit.statistics();
    longest = std::max(longest, statistics.mean_run * statistics.in_flight);
  }
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(longest).count();
  return static_cast<uint32_t>(std::clamp<int64_t>(seconds, 1, kMostRetrySeconds));
}

void ServedModel::end_waiting() noexcept {
  if (batcher_) batcher_->end_waiting();
}

void ServedModel::close() {
  closed_ = true;
  if (batcher_) batcher_->close();
  for (Unit& unit : units_) unit.close();
}

}  // namespace millrace::serve
