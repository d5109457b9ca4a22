// ServedModel: a loaded model with the units that run its jobs. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "millrace/millrace.hpp"
#include "serve/metrics.h"
#include "serve/options.h"

namespace millrace::serve {

class ServedModel {
 public:
  // Loads the file and creates the units. Errors are those of load_model_file() and
  // Device::create_unit().
  static Result<std::unique_ptr<ServedModel>> load(const std::string& path, const Options& options,
                                                   Device& device, Metrics& metrics);

  const std::string& name() const { return name_; }
  const std::string& version() const { return version_; }
  const Model& model() const { return model_; }
  ModelMetrics& metrics() { return *metrics_; }

  // Whether a unit takes jobs: none is degraded, nor closed.
  bool ready() const;
  uint32_t in_flight() const;

  // Submits a job to the unit with the fewest. Errors are those of Unit::try_submit(): kQueueFull
  // if all units are full.
  Result<Job> submit(const JobArgs& args);

  // The memory that outputs with open dimensions get at first: what the last ones took.
  size_t expected_bytes(size_t output) const { return expected_[output]; }
  void expect_bytes(size_t output, size_t bytes) { expected_[output] = bytes; }

  // Cancels the jobs that have not started, waits for the others, and for all callbacks.
  void close();

 private:
  ServedModel(std::string name, Model model, Metrics& metrics);

  const std::string name_;
  const std::string version_ = "1";
  const Model model_;
  std::vector<Unit> units_;
  std::atomic<bool> closed_ = false;
  std::unique_ptr<std::atomic<size_t>[]> expected_;
  const std::unique_ptr<ModelMetrics> metrics_;
};

}  // namespace millrace::serve
