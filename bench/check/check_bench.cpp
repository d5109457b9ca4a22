// Measures what the hazard checker costs: jobs on the null device, which computes nothing, without
// and with the checker, and the ratio.
//
//   check_bench          medians of 15 rounds; in each round all rows alternate
//
// It needs two idle cores.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/median.h"
#include "bench/queue/bound_job.h"
#include "bench/queue/one_node_model.h"
#include "check/check.h"
#include "check/check_state.h"
#include "device/registry.h"
#include "runtime/session.h"
#include "tensor/desc.h"

namespace millrace::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 15;
constexpr auto kBlock = std::chrono::milliseconds(100);
constexpr uint32_t kPicture = 3 * 224 * 224;

// Checks jobs while it exists, if asked to.
class Checked {
 public:
  explicit Checked(bool wanted) : wanted_(wanted) {
    if (wanted_ && !check::start_checking().ok()) std::abort();
  }
  ~Checked() {
    if (wanted_) check::stop_checking();
  }
  Checked(const Checked&) = delete;
  Checked& operator=(const Checked&) = delete;

 private:
  const bool wanted_;
};

// Returns a model whose input and output have this number of elements of 4 bytes.
graph::CompiledModel model_of(uint32_t elements) {
  graph::CompiledModel model = one_node_model();
  for (graph::Value& value : model.graph.values) value.shape = {1, elements};
  for (auto* side : {&model.inputs, &model.outputs})
    for (graph::Boundary& boundary : *side)
      boundary.cpu =
          tensor::make_cpu_desc(boundary.cpu.name, tensor::DataType::kFloat32, {1, elements});
  return model;
}

// Jobs of a session, each in flight with memory of its own.
class Load {
 public:
  Load(uint32_t elements, size_t in_flight)
      : model_(std::make_shared<const graph::CompiledModel>(model_of(elements))),
        session_(runtime::Session::create(device_, device_->load(model_).value(),
                                          {.max_concurrent_runs = 16})
                     .value()) {
    for (size_t i = 0; i < in_flight; ++i) jobs_.emplace_back(*model_);
  }

  // Submits as many jobs as there are in flight, and waits for them; or runs one by a call that
  // waits. Returns the number of jobs.
  size_t run_some() {
    if (jobs_.size() == 1) {
      benchmark::DoNotOptimize(session_->execute(jobs_.front().bindings()));
      return 1;
    }
    ids_.clear();
    for (const BoundJob& job : jobs_) ids_.push_back(session_->submit(job.bindings()).value());
    for (const runtime::SessionJobId id : ids_)
      benchmark::DoNotOptimize(session_->wait(id, std::chrono::hours(1)));
    return jobs_.size();
  }

 private:
  std::shared_ptr<device::Device> device_ = device::open_device("null", {.lanes = 1}).value();
  std::shared_ptr<const graph::CompiledModel> model_;
  std::unique_ptr<runtime::Session> session_;
  std::deque<BoundJob> jobs_;
  std::vector<runtime::SessionJobId> ids_;
};

// Returns how many nanoseconds one of the things that `run_some` does takes.
double measured(const std::function<size_t()>& run_some) {
  const Clock::time_point begin = Clock::now();
  Clock::time_point now = begin;
  size_t done = 0;
  for (; now < begin + kBlock; now = Clock::now()) done += run_some();
  return std::chrono::duration<double, std::nano>(now - begin).count() / static_cast<double>(done);
}

struct Row {
  std::string name;
  std::function<size_t()> run_some;
  std::vector<double> off{}, on{};
};

// The test that each call of the APIs makes to know that there is no checker.
size_t test_often() {
  constexpr size_t kTests = 10'000;
  bool on = false;
  for (size_t i = 0; i < kTests; ++i) benchmark::DoNotOptimize(on |= check::on());
  return kTests;
}

std::vector<Row> rows() {
  const auto load = [](uint32_t elements, size_t in_flight) {
    return [made = std::make_shared<Load>(elements, in_flight)] { return made->run_some(); };
  };
  return {{"test whether there is a checker", test_often},
          {"execute, 64 bytes", load(kOneNodeElements, 1)},
          {"16 in flight, 64 bytes", load(kOneNodeElements, 16)},
          {"execute, 600 KB", load(kPicture, 1)},
          {"16 in flight, 600 KB", load(kPicture, 16)}};
}

void measure(std::vector<Row>& rows) {
  for (int round = 0; round < kRounds; ++round)
    for (Row& row : rows)
      for (const bool wanted : {round % 2 == 0, round % 2 != 0}) {
        const Checked checked(wanted);
        (wanted ? row.on : row.off).push_back(measured(row.run_some));
      }
}

void print(const std::vector<Row>& rows) {
  fmt::print("{:32} {:>12} {:>12} {:>8}\n", "ns for each", "off", "on", "ratio");
  for (const Row& row : rows) {
    const double off = median(row.off), on = median(row.on);
    fmt::print("{:32} {:12.2f} {:12.2f} {:8.1f}\n", row.name, off, on, on / off);
  }
}

}  // namespace
}  // namespace millrace::bench

int main() {
  std::vector<millrace::bench::Row> rows = millrace::bench::rows();
  millrace::bench::measure(rows);
  millrace::bench::print(rows);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
