// One model of vart_multi_tenancy and vart_multimodel_seq: from its runner to its output files, in
// four steps that the programs call in their own order. One thread at a time; different jobs may
// run on different threads. All steps throw std::exception.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/batch.hpp"
#include "common/model_config.hpp"
#include "common/multi_model_arguments.hpp"

namespace samples {

class ModelJob {
 public:
  // Creates the runner. Keeps references to both.
  ModelJob(const ModelConfig& config, const MultiModelArguments& arguments);

  // Allocates the tensors of one batch and fills the inputs: at random in a dry run, otherwise with
  // the first rows of the files. With fewer rows than the batch has frames, only so many are run.
  void load();
  // Executes the batch --runs times.
  void run();
  // Writes the outputs of the last run; nothing in a dry run.
  void save();
  // Lets go of tensors and runner; what the summary needs stays.
  void release();

  const ModelConfig& config() const { return config_; }
  std::size_t rows() const { return rows_; }
  const std::vector<double>& milliseconds() const { return milliseconds_; }  // of every run
  double total_ms() const;
  double average_ms() const { return total_ms() / static_cast<double>(milliseconds_.size()); }
  // Location of the outputs, for the summary.
  const std::string& output_location() const { return output_location_; }

 private:
  void fill_from_files();

  const ModelConfig& config_;
  const MultiModelArguments& arguments_;
  Batch inputs_, outputs_;
  std::shared_ptr<vart::Runner> runner_;
  std::size_t rows_ = 0;
  std::vector<double> milliseconds_;
  std::string output_location_;
};

// Prints the table at the end of a program: every job with one of its times, under that heading.
void print_summary(const std::vector<std::unique_ptr<ModelJob>>& jobs,
                   const std::string& time_heading, double (ModelJob::*time)() const);

// Prints the times of every job as a table, for --benchmark.
void print_performance(const std::vector<std::unique_ptr<ModelJob>>& jobs);

}  // namespace samples
