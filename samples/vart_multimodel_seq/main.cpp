// vart_multimodel_seq: several models, one after another: each is created, loaded, run and saved
// before the next.
#include <exception>
#include <iostream>
#include <memory>
#include <vector>

#include "common/model_job.hpp"
#include "common/table.hpp"

namespace {

using samples::ModelJob;
using samples::MultiModelArguments;
using Jobs = std::vector<std::unique_ptr<ModelJob>>;

void print_summary(const Jobs& jobs) {
  std::vector<samples::TableRow> rows = {{"Model", "File", "Rows", "Runs", "Avg (ms)", "OFM"}};
  for (const auto& job : jobs)
    rows.push_back({std::to_string(job->config().index), job->config().path,
                    std::to_string(job->rows()), std::to_string(job->milliseconds().size()),
                    samples::fixed(job->average_ms(), 3), job->output_place()});
  samples::print_table(std::cout, "Execution Summary", rows);
}

void run(const MultiModelArguments& arguments) {
  const std::vector<samples::ModelConfig> configs = samples::read_model_configs(arguments.config);
  Jobs jobs;
  for (const samples::ModelConfig& config : configs) {
    samples::log_info(arguments, "Model " + std::to_string(config.index) + ": " + config.path);
    ModelJob& job = *jobs.emplace_back(std::make_unique<ModelJob>(config, arguments));
    job.load();
    job.run();
    job.save();
    job.release();
  }
  if (arguments.benchmark) samples::print_performance(jobs);
  samples::log_info(arguments, "All models completed successfully.");
  print_summary(jobs);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (const auto arguments = samples::parse_multi_model_arguments(argc, argv)) run(*arguments);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << "\n";
    return 1;
  }
}
