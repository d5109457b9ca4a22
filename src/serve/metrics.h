// Metrics of the server in the text form of Prometheus. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace millrace::serve {

// The metrics of one model. Counting takes a few atomic operations. It never fails: what there is
// no memory to count is not counted.
class ModelMetrics {
 public:
  virtual ~ModelMetrics() = default;
  // A request was answered with this status of HTTP, so long after its arrival.
  virtual void answered(unsigned status, double seconds) noexcept = 0;
  // A request had waited for its job, which then ran.
  virtual void ran(double queued_seconds, double computed_seconds) noexcept = 0;
  virtual void job_accepted() = 0;
  virtual void job_ended() = 0;
  virtual void job_frames(uint32_t frames) = 0;  // of a job that was accepted
  virtual void refused() = 0;                    // since the queue was full
  virtual void cancelled() = 0;                  // since the client had gone, or the server ends
  virtual void late() = 0;                       // since the deadline had passed
  virtual void copied(uint64_t bytes) = 0;       // of raw inputs
};

class Metrics {
 public:
  Metrics();
  ~Metrics();

  // Adds a model, whose metrics must not be used after this object is destroyed.
  std::unique_ptr<ModelMetrics> add_model(const std::string& name, const std::string& version);
  // Counts an answer to a request that belongs to no model.
  void answered(unsigned status) noexcept;
  // Counts a line of the access log that was not written.
  void log_line_dropped() noexcept;
  // Returns the text of /metrics. `connections` is their number at the moment.
  std::string text(uint32_t connections);

  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Families;
  const std::unique_ptr<Families> families_;
};

}  // namespace millrace::serve
