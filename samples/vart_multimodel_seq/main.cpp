// vart_multimodel_seq: several models, one after another: each is created, loaded, run and saved
// before the next.
#include <exception>
#include <iostream>
#include <memory>
#include <vector>

#include "common/model_job.hpp"
#include "common/output_file.hpp"

namespace {

using samples::ModelJob;
using samples::MultiModelArguments;
using Jobs = std::vector<std::unique_ptr<ModelJob>>;

void run(const MultiModelArguments& arguments) {
  const std::vector<samples::ModelConfig> configs = samples::read_model_configs(arguments.config);
  Jobs jobs;
  for (const samples::ModelConfig& config : configs) {
    samples::log_info(arguments, "Model " + std::to_string(config.number) + ": " + config.path);
    ModelJob& job = *jobs.emplace_back(std::make_unique<ModelJob>(config, arguments));
    job.load();
    job.run();
    job.save();
    job.release();
  }
  if (arguments.benchmark) samples::print_performance(jobs);
  samples::log_info(arguments, "All models completed successfully.");
  samples::print_summary(jobs, "Avg (ms)", &ModelJob::average_ms);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (const auto arguments = samples::parse_multi_model_arguments(argc, argv)) run(*arguments);
    samples::finish_standard_output();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << "\n";
    return 1;
  }
}
