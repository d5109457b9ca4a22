// ServedModel: a loaded model with the units that run its jobs. Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "millrace/millrace.hpp"
#include "serve/batching/batcher.h"
#include "serve/batching/job_runner.h"
#include "serve/batching/row_form.h"
#include "serve/http/message.h"
#include "serve/metrics.h"
#include "serve/models/model_file.h"
#include "serve/models/model_settings.h"
#include "serve/options.h"
#include "serve/protocol/infer_request.h"

namespace millrace::serve {

// The record of a model since it was loaded.
struct ModelStatistics {
  struct Answers {
    uint64_t count = 0, nanoseconds = 0;  // from the arrival of the header to the answer
  };
  UnitStatistics jobs;  // the sums of all units
  Answers succeeded, failed;
  Answers queued, computed;        // of requests whose job has run
  Answers read, written;           // of those, and of those whose outputs became an answer
  uint64_t frames = 0;             // of requests that succeeded
  uint64_t last_inference_ms = 0;  // since 1970; 0: never
};

class ServedModel : public JobRunner, public std::enable_shared_from_this<ServedModel> {
 public:
  // Loads the file with its settings and labels, creates the units and warms them up. Errors are
  // those of settings_of(), load_model_file(),
  // of io::read_lines(), of Device::create_unit() and of Batcher::start(); kInvalidArgument or
  // kUnsupported if requests are to be batched, and the model does not allow it; kClosed if
  // `closed`, which is asked before each job of the warm-up, says that the server ends.
  static Result<std::shared_ptr<ServedModel>> load(const ModelFile& file, const Options& options,
                                                   Device& device, Metrics& metrics,
                                                   const std::function<bool()>& closed);

  const std::string& name() const { return file_.name; }
  const std::string& version() const { return file_.version; }
  const Model& model() const { return model_; }
  // The names of classes, by index; empty if there are none.
  const std::vector<std::string>& labels() const { return labels_; }
  ModelMetrics& metrics() { return *metrics_; }
  // The deadline of requests that state none, from their arrival; 0: they have none.
  double request_seconds() const { return request_seconds_; }

  // A request to infer was answered with this status of HTTP, so long after its arrival.
  void answered(unsigned status, std::chrono::nanoseconds time) noexcept;
  // A request was read, in the first time, and had waited for its job, which then ran.
  void ran(std::chrono::nanoseconds reading, const JobTimes& times) noexcept;
  // The outputs of a request became an answer.
  void wrote(std::chrono::nanoseconds time) noexcept { written_.add(time); }
  ModelStatistics statistics() const;

  // Whether a unit takes jobs: none is degraded, nor closed.
  bool ready() const;
  uint32_t in_flight() const;

  // Puts degraded units back into service, as far as there are lanes for them again.
  void recover();

  // Runs requests together; null if each has a job of its own.
  Batcher* batcher() const { return batcher_.get(); }
  // Whether requests are joined along the leading dimension of the model; how many rows of it this
  // one has, or 0 if it cannot be joined; and the bytes of a row of an output.
  bool joins_rows() const { return row_form_.most_rows > 0; }
  uint32_t rows_of(const InferRequest& request) const;
  size_t row_bytes(size_t output) const { return row_form_.outputs[output].bytes; }
  // Counts a request of `frames` frames that has succeeded.
  void computed(uint32_t frames) noexcept { frames_.fetch_add(frames, std::memory_order_relaxed); }
  // The time that a job runs, as the slowest unit measured it; 0 if none did.
  std::chrono::nanoseconds mean_run() const noexcept override;

  // Submits a job to the unit with the fewest that is not degraded. When all are full, the policy
  // of the options decides. Errors are those of Unit::submit(). A job that was submitted counts in
  // the metrics until job_ended() is called.
  Result<Job> submit(const JobArgs& args, uint32_t size) override;
  // Whether jobs of one frame have been so short that the thread of a connection should run them.
  // Never so if a shape is open, by which the time of a job differs.
  bool runs_here() const noexcept;
  // Runs a job on the calling thread; returns nothing if it has to be submitted instead. Otherwise
  // like submit(), with the job's status; the job counts until job_ended(), too.
  std::optional<Status> execute_here(const JobArgs& args, uint32_t size);
  void job_ended() noexcept override { metrics_->job_ended(); }
  // How long a client that was refused should wait: as long as the jobs in the queue take, by the
  // average of the last ones, in whole seconds and at least one.
  uint32_t retry_after_seconds() const;

  // The memory that a frame of an output with open dimensions gets at first. It grows at once to
  // what an output took, and shrinks towards it by an eighth of the difference each time.
  size_t expected_bytes(size_t output) const { return expected_[output]; }
  void took_bytes(size_t output, size_t bytes);

  // From now on no request waits for others to share its job.
  void end_waiting() noexcept;
  // Cancels the jobs that have not started, waits for the others, and for all callbacks.
  void close();

 private:
  ServedModel(ModelFile file, Model model, const ModelSettings& settings, Metrics& metrics);
  Status create_units(const ModelSettings& settings, Device& device);
  Status warm_up(uint32_t jobs, const std::function<bool()>& closed);
  Status start_batcher(const ModelSettings& settings, const std::function<bool()>& closed);
  Status find_rows(uint32_t most_rows, const std::function<bool()>& closed);
  Status check_frames() const;
  Result<Job> submit_copy(const JobArgs& args);
  Result<Job> submit_to_best(const JobArgs& args);

  const ModelFile file_;
  const Model model_;
  const WhenFull when_full_;
  const double request_seconds_;
  std::vector<std::string> labels_;
  bool has_open_shapes_ = false;
  std::vector<Unit> units_;
  RowForm row_form_;  // without rows if requests are not joined along the leading dimension
  std::atomic<bool> closed_ = false;
  std::unique_ptr<std::atomic<size_t>[]> expected_;
  const std::unique_ptr<ModelMetrics> metrics_;
  struct Answers {
    std::atomic<uint64_t> count = 0, nanoseconds = 0;
    void add(std::chrono::nanoseconds time) noexcept;
  };
  Answers succeeded_, failed_, queued_, computed_, read_, written_;
  std::atomic<uint64_t> frames_ = 0, last_inference_ms_ = 0;
  std::unique_ptr<Batcher> batcher_;
};

}  // namespace millrace::serve
