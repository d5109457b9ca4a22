#include "common/model_job.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <numeric>
#include <stdexcept>

#include "common/model_files.hpp"
#include "common/table.hpp"

namespace samples {
namespace {

using Clock = std::chrono::steady_clock;

const TensorInfos& hw_tensors(const vart::Runner& runner, vart::TensorDirection direction) {
  return runner.get_tensors_info(direction, vart::TensorType::HW);
}

std::string runner_log_level(int log_level) {
  constexpr const char* kNames[] = {"ERROR", "WARNING", "INFO"};
  return kNames[log_level];
}

std::string name_of(const ModelConfig& config) {
  return "model " + std::to_string(config.number) + " (" + config.path + ")";
}

}  // namespace

ModelJob::ModelJob(const ModelConfig& config, const MultiModelArguments& arguments)
    : config_(config), arguments_(arguments) {
  runner_ =
      vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, config.path,
                                         {{"input_tensor_type", std::string("HW")},
                                          {"output_tensor_type", std::string("HW")},
                                          {"start_column", config.start_column},
                                          {"aie_columns_sharing", config.aie_columns_sharing},
                                          {"log_level", runner_log_level(arguments.log_level)}});
  if (runner_ == nullptr) throw std::runtime_error(name_of(config) + ": no runner was created");
}

void ModelJob::load() {
  inputs_ = allocate_batch(*runner_, hw_tensors(*runner_, vart::TensorDirection::INPUT));
  outputs_ = allocate_batch(*runner_, hw_tensors(*runner_, vart::TensorDirection::OUTPUT));
  if (arguments_.dry_run)
    fill_with_random(inputs_);
  else
    fill_from_files();
  rows_ = inputs_.size();
}

void ModelJob::fill_from_files() {
  const TensorInfos& infos = hw_tensors(*runner_, vart::TensorDirection::INPUT);
  const std::vector<std::vector<char>> ifms = read_ifms(config_, infos);
  const std::size_t batch_size = inputs_.size();
  std::size_t rows = batch_size;
  for (std::size_t i = 0; i < infos.size(); ++i) {
    const std::size_t held = ifms[i].size() / infos[i].size_in_bytes;
    const std::string where = name_of(config_) + ", tensor " + infos[i].name + ": ";
    if (held > batch_size)
      log_warning(arguments_, where + std::to_string(held - batch_size) + " of " +
                                  std::to_string(held) + " rows are dropped, the batch size is " +
                                  std::to_string(batch_size));
    if (held < batch_size)
      log_warning(arguments_, where + "the file holds " + std::to_string(held) + " of " +
                                  std::to_string(batch_size) + " rows: a partial batch is run");
    rows = std::min(rows, held);
  }
  inputs_.resize(rows);
  outputs_.resize(rows);
  for (std::size_t i = 0; i < infos.size(); ++i) copy_rows(ifms[i], 0, rows, i, inputs_);
}

void ModelJob::run() {
  for (int run = 0; run < arguments_.runs; ++run) {
    const Clock::time_point start = Clock::now();
    const vart::StatusCode status = runner_->execute(inputs_, outputs_);
    const std::chrono::duration<double, std::milli> time = Clock::now() - start;
    if (status != vart::StatusCode::SUCCESS)
      throw std::runtime_error(name_of(config_) +
                               ": execute failed: " + std::string(vart::to_string(status)));
    milliseconds_.push_back(time.count());
  }
}

void ModelJob::save() {
  output_location_ =
      arguments_.dry_run ? "(skipped in a dry run)" : write_ofms(config_, outputs_, rows());
}

void ModelJob::release() {
  inputs_.clear();
  outputs_.clear();
  runner_.reset();
}

double ModelJob::total_ms() const {
  return std::accumulate(milliseconds_.begin(), milliseconds_.end(), 0.0);
}

void print_summary(const std::vector<std::unique_ptr<ModelJob>>& jobs,
                   const std::string& time_heading, double (ModelJob::*time)() const) {
  std::vector<TableRow> rows = {{"Model", "File", "Rows", "Runs", time_heading, "OFM"}};
  for (const auto& job : jobs)
    rows.push_back({std::to_string(job->config().number), job->config().path,
                    std::to_string(job->rows()), std::to_string(job->milliseconds().size()),
                    fixed(((*job).*time)(), 3), job->output_location()});
  print_table(std::cout, "Execution Summary", rows);
}

void print_performance(const std::vector<std::unique_ptr<ModelJob>>& jobs) {
  std::vector<TableRow> rows = {{"Model", "Min (ms)", "Avg (ms)", "Max (ms)", "Frames/s"}};
  for (const auto& job : jobs) {
    const auto [fastest, slowest] =
        std::minmax_element(job->milliseconds().begin(), job->milliseconds().end());
    const double frames = static_cast<double>(job->rows() * job->milliseconds().size());
    rows.push_back({std::to_string(job->config().number), fixed(*fastest, 3),
                    fixed(job->average_ms(), 3), fixed(*slowest, 3),
                    fixed(frames * 1000 / job->total_ms(), 1)});
  }
  print_table(std::cout, "Performance", rows);
}

}  // namespace samples
