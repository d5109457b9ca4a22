// vart_infer_async: keeps two inference jobs in flight.
//
// While the device computes the job in one slot, the host collects the other slot's job and submits
// the next one there:
//
//   prime   submit slot 0, submit slot 1
//   steady  wait for the older job, submit the next one in its slot, and so on
//   drain   wait for the last two
//
// With --benchmark the same number of batches also runs synchronously, for comparison.
#include <chrono>
#include <cstdio>
#include <deque>
#include <exception>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "arguments.hpp"
#include "common/output_file.hpp"
#include "slots.hpp"
#include "vart/vart_runner_factory.hpp"

namespace {

constexpr std::chrono::milliseconds kRetryDelay{10};
constexpr std::chrono::milliseconds kJobTimeout{30000};

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what, vart::StatusCode status) {
  throw std::runtime_error(what + " failed: " + std::string(vart::to_string(status)));
}

vart::JobHandle submit(vart::Runner& runner, Slot& slot) {
  for (;;) {
    const vart::JobHandle job = runner.execute_async(slot.inputs, slot.outputs);
    if (job.status == vart::StatusCode::SUCCESS) return job;
    if (job.status != vart::StatusCode::RESOURCE_UNAVAILABLE) fail("execute_async", job.status);
    std::this_thread::sleep_for(kRetryDelay);
  }
}

void collect(vart::Runner& runner, const vart::JobHandle& job) {
  const vart::StatusCode status = runner.wait(job, kJobTimeout);
  if (status != vart::StatusCode::SUCCESS)
    fail("wait for job " + std::to_string(job.job_id), status);
}

// Runs `iterations` batches, two at a time; the batch of iteration i uses slot i modulo 2. Returns
// the batches completed.
int run_async(vart::Runner& runner, Slots& slots, int iterations) {
  std::deque<vart::JobHandle> in_flight;
  int submitted = 0;
  int completed = 0;
  while (submitted < static_cast<int>(kSlots) && submitted < iterations)
    in_flight.push_back(submit(runner, slots[submitted++ % kSlots]));
  while (!in_flight.empty()) {
    collect(runner, in_flight.front());
    in_flight.pop_front();
    ++completed;
    if (submitted < iterations) in_flight.push_back(submit(runner, slots[submitted++ % kSlots]));
  }
  return completed;
}

void run_sync(vart::Runner& runner, Slots& slots, int iterations) {
  for (int iteration = 0; iteration < iterations; ++iteration) {
    Slot& slot = slots[iteration % kSlots];
    const vart::StatusCode status = runner.execute(slot.inputs, slot.outputs);
    if (status != vart::StatusCode::SUCCESS) fail("execute", status);
  }
}

void print_setup(const Arguments& arguments, const vart::Runner& runner) {
  std::cout << "Model              : " << arguments.model_path << "\n"
            << "Batch size         : " << runner.get_batch_size() << "\n"
            << "Iterations         : " << arguments.iterations << "\n"
            << "Tensor types       : input " << arguments.input_tensor_type << ", output "
            << arguments.output_tensor_type << "\n";
  if (arguments.dry_run)
    std::cout << "Mode               : dry-run (no IFM/OFM file I/O; random IFM fill)\n";
}

template <class Pass>
double milliseconds_of(Pass&& pass) {
  const Clock::time_point start = Clock::now();
  pass();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

void print_pass(const char* name, double milliseconds, std::size_t frames) {
  std::cout << std::fixed << std::setprecision(3) << "[INFO] " << name
            << " infer pass: " << milliseconds << " ms (" << milliseconds / frames << " ms/frame) ["
            << frames << " frames]\n";
}

void benchmark(vart::Runner& runner, Slots& slots, int iterations) {
  const std::size_t frames = iterations * runner.get_batch_size();
  run_sync(runner, slots, static_cast<int>(kSlots));  // first runs make contexts; not counted
  std::cout << "---- Async infer (binary IFM) pass (benchmark) ----\n";
  const double async_ms = milliseconds_of([&] { run_async(runner, slots, iterations); });
  const double sync_ms = milliseconds_of([&] { run_sync(runner, slots, iterations); });
  print_pass("async", async_ms, frames);
  print_pass("sync", sync_ms, frames);
  std::cout << "---- Performance ----\n"
            << "  async : " << frames * 1000.0 / async_ms << " frames/s\n"
            << "  sync  : " << frames * 1000.0 / sync_ms << " frames/s\n"
            << "  ratio : " << sync_ms / async_ms << "\n";
}

void infer(vart::Runner& runner, Slots& slots, const Arguments& arguments, std::size_t rows) {
  std::cout << "---- Async infer (binary IFM) pass (2 jobs in flight) ----\n";
  const int completed = run_async(runner, slots, arguments.iterations);
  if (!arguments.dry_run) {
    const int last = arguments.iterations - 1;
    write_outputs(slots[last % kSlots], last, rows);
    std::cout << "---- output dump ----\n"
              << "Only last iteration OFM is written (see messages above).\n";
  }
  std::cout << "Batches completed: " << completed << " / " << arguments.iterations << "\n";
}

vart::TensorType tensor_type(const std::string& name) {
  return name == "CPU" ? vart::TensorType::CPU : vart::TensorType::HW;
}

void run(const Arguments& arguments) {
  Slots slots;  // before the runner: tensors may outlive the runner that allocated them
  const std::shared_ptr<vart::Runner> runner =
      vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, arguments.model_path,
                                         {{"log_level", std::string("INFO")},
                                          {"input_tensor_type", arguments.input_tensor_type},
                                          {"output_tensor_type", arguments.output_tensor_type}});
  if (runner == nullptr) throw std::runtime_error("no runner was created");
  print_setup(arguments, *runner);
  slots = allocate_slots(*runner, {tensor_type(arguments.input_tensor_type),
                                   tensor_type(arguments.output_tensor_type)});

  std::size_t rows = runner->get_batch_size();
  if (arguments.dry_run)
    fill_with_random(slots);
  else if (fill_from_file(slots, arguments.input_binary) == 1)
    rows = 1;  // one picture in, one result out

  if (arguments.benchmark)
    benchmark(*runner, slots, arguments.iterations);
  else
    infer(*runner, slots, arguments, rows);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (const std::optional<Arguments> arguments = parse_arguments(argc, argv)) run(*arguments);
    samples::finish_standard_output();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "Error: " << error.what() << "\n";
    return 1;
  }
}
