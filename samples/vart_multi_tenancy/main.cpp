// vart_multi_tenancy: several models on one device at the same time, a thread and a runner each.
//
//   1 create   a runner for every model
//   2 load     its tensors, filled from files or at random
//   3 run      one thread per model; all start together
//   4 save     the outputs, one model after another
#include <condition_variable>
#include <exception>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/model_job.hpp"
#include "common/output_file.hpp"

namespace {

using samples::ModelJob;
using samples::MultiModelArguments;
using Jobs = std::vector<std::unique_ptr<ModelJob>>;

// Lets a number of threads go on once all of them have arrived.
class StartBarrier {
 public:
  explicit StartBarrier(std::size_t threads) : missing_(threads) {}

  void arrive_and_wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (--missing_ == 0) complete_.notify_all();
    complete_.wait(lock, [&] { return missing_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable complete_;
  std::size_t missing_;
};

// Runs every job on a thread of its own; throws the first failure after all have ended.
void run_together(const Jobs& jobs) {
  StartBarrier barrier(jobs.size());
  std::vector<std::exception_ptr> failures(jobs.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    threads.emplace_back([&, i] {
      barrier.arrive_and_wait();
      try {
        jobs[i]->run();
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

void run(const MultiModelArguments& arguments) {
  const std::vector<samples::ModelConfig> configs = samples::read_model_configs(arguments.config);
  Jobs jobs;
  samples::log_info(arguments, "Phase 1: create " + std::to_string(configs.size()) + " runner(s)");
  for (const samples::ModelConfig& config : configs)
    jobs.push_back(std::make_unique<ModelJob>(config, arguments));
  samples::log_info(arguments, "Phase 2: load inputs");
  for (const auto& job : jobs) job->load();
  samples::log_info(arguments, "Phase 3: run, one thread per model");
  run_together(jobs);
  samples::log_info(arguments, "Phase 4: save outputs");
  for (const auto& job : jobs) job->save();
  if (arguments.benchmark) samples::print_performance(jobs);
  samples::log_info(arguments, "All models completed successfully.");
  samples::print_summary(jobs, "Total (ms)", &ModelJob::total_ms);
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
