#include "bench/vart/zero_copy.h"

#include <fmt/format.h>

#include <chrono>
#include <functional>

#include "bench/median.h"
#include "bench/queue/native_job.h"
#include "bench/vart/loaded_model.h"

namespace millrace::bench {
namespace {

constexpr int kExecutes = 20'000;

double nanoseconds_each(const std::function<void()>& execute) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kExecutes; ++i) execute();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / kExecutes;
}

}  // namespace

void report_zero_copy(const std::string& archive) {
  Result<Device> device = Device::open("null");
  if (!device.ok()) throw std::runtime_error(device.status().to_string());
  const Result<Model> model = device->load(archive);
  if (!model.ok()) throw std::runtime_error(model.status().to_string());
  Result<Unit> unit = device->create_unit({.depth = 2});
  const NativeJob job(*model);
  const auto native = [&] {
    if (!unit->execute(*model, job.args()).ok()) throw std::runtime_error("native execute failed");
  };

  const std::shared_ptr<vart::Runner> runner = make_runner(archive, "null");
  const Tensors inputs = allocate(*runner, vart::TensorDirection::INPUT);
  Tensors outputs = allocate(*runner, vart::TensorDirection::OUTPUT);
  const Tensors shared_inputs = through_descriptors(inputs);
  Tensors shared_outputs = through_descriptors(outputs);
  const auto allocated = [&] { expect_success(runner->execute(inputs, outputs)); };
  const auto imported = [&] { expect_success(runner->execute(shared_inputs, shared_outputs)); };

  std::vector<double> native_ns, allocated_ns, imported_ns;
  constexpr int kRounds = 9;
  for (int round = 0; round < kRounds; ++round) {
    native_ns.push_back(nanoseconds_each(native));
    allocated_ns.push_back(nanoseconds_each(allocated));
    imported_ns.push_back(nanoseconds_each(imported));
  }
  const double base = median(native_ns);
  const auto line = [&](const char* name, double each) {
    fmt::print("  {:<44}{:>7.0f} ns, {:>5.0f} over native (target 1000)\n", name, each,
               each - base);
  };
  fmt::print("execute on the null device, HW views, nothing copied\n");
  fmt::print("  {:<44}{:>7.0f} ns\n", "native API", base);
  line("Runner::execute, allocated tensors", median(allocated_ns));
  line("Runner::execute, tensors of descriptors", median(imported_ns));
}

}  // namespace millrace::bench
