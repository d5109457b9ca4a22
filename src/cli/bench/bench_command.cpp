#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/clock.h"
#include "cli/commands.h"
#include "cli/job_buffers.h"
#include "cli/model_source.h"
#include "cli/open_tensors.h"
#include "cli/progress.h"
#include "cli/random_inputs.h"
#include "runtime/session.h"

namespace millrace::cli {
namespace {

// A failure says in which run it happened; `run` counts from 0.
Status named(const Status& status, const char* measurement, uint32_t run) {
  return status.ok() ? status
                     : status.with_context(fmt::format("{}, run {}", measurement, run + 1));
}

// Job after job, each alone: the sorted times in milliseconds.
Result<std::vector<double>> measure_latency(runtime::Session& session, const JobBuffers& buffers,
                                            const BenchArguments& arguments) {
  std::vector<double> times;
  Progress progress("latency");
  for (uint32_t i = 0; i < arguments.warmup + arguments.iterations; ++i) {
    const int64_t start = now_ns();
    MILLRACE_RETURN_IF_ERROR(named(session.execute(buffers.bindings()), "latency", i));
    if (i >= arguments.warmup) times.push_back(static_cast<double>(now_ns() - start) * 1e-6);
    progress.update(fmt::format("{} of {}", times.size(), arguments.iterations));
  }
  std::sort(times.begin(), times.end());
  return times;
}

// Keeps `in_flight` jobs submitted; returns jobs per second.
Result<double> measure_throughput(runtime::Session& session, const std::vector<JobBuffers>& slots,
                                  uint32_t iterations) {
  constexpr std::chrono::milliseconds kForever{3'600'000};
  std::deque<runtime::SessionJobId> pending;
  uint32_t collected = 0;
  const auto collect = [&] {
    const Status status = session.wait(pending.front(), kForever);
    pending.pop_front();
    return named(status, "throughput", collected++);
  };
  Progress progress("throughput");
  const int64_t start = now_ns();
  for (uint32_t i = 0; i < iterations; ++i) {
    if (pending.size() == slots.size()) {
      MILLRACE_RETURN_IF_ERROR(collect());
    }
    MILLRACE_ASSIGN_OR_RETURN(const runtime::SessionJobId id,
                              session.submit(slots[i % slots.size()].bindings()));
    pending.push_back(id);
    progress.update(fmt::format("{} of {}", i, iterations));
  }
  while (!pending.empty()) MILLRACE_RETURN_IF_ERROR(collect());
  return iterations / (static_cast<double>(now_ns() - start) * 1e-9);
}

double percentile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

struct Figures {
  double load_ms;
  std::vector<double> latency_ms;  // sorted
  double frames_per_second;
};

void print_json(const BenchArguments& arguments, const device::ProgramInfo& info,
                const Figures& figures) {
  const nlohmann::ordered_json json = {{"model", arguments.model},
                                       {"precision", graph::name_of(info.precision)},
                                       {"load_ms", figures.load_ms},
                                       {"latency_ms",
                                        {{"min", figures.latency_ms.front()},
                                         {"median", percentile(figures.latency_ms, 0.5)},
                                         {"p90", percentile(figures.latency_ms, 0.9)},
                                         {"p99", percentile(figures.latency_ms, 0.99)}}},
                                       {"frames_per_second", figures.frames_per_second},
                                       {"in_flight", arguments.in_flight}};
  fmt::print("{}\n", json.dump());
}

void print_figures(const BenchArguments& arguments, const LoadedModel& loaded,
                   const Figures& figures) {
  const device::ProgramInfo info = loaded.program->info();
  if (arguments.json) return print_json(arguments, info, figures);
  const std::vector<double>& times = figures.latency_ms;
  fmt::print("model       {} ({}, batch {}, {} view)\n", arguments.model,
             graph::name_of(info.precision), loaded.program->model().batch_size, arguments.view);
  if (!info.note.empty()) fmt::print("note        {}\n", info.note);
  fmt::print("device      {}, {} lanes; load {:.0f} ms\n", loaded.device->description(),
             loaded.device->lanes().count(), figures.load_ms);
  fmt::print("latency     median {:.3f} ms, p90 {:.3f}, p99 {:.3f}, min {:.3f} ({} runs)\n",
             percentile(times, 0.5), percentile(times, 0.9), percentile(times, 0.99), times.front(),
             times.size());
  fmt::print("throughput  {:.1f} frames/s with {} jobs in flight\n", figures.frames_per_second,
             arguments.in_flight);
}

bool has_hw_views(const graph::CompiledModel& model) {
  const auto has_one = [](const graph::Boundary& boundary) { return boundary.hw.has_value(); };
  return std::ranges::any_of(model.inputs, has_one) || std::ranges::any_of(model.outputs, has_one);
}

Status load_and_measure(const BenchArguments& arguments) {
  const device::View view = arguments.view == "hw" ? device::View::kHw : device::View::kCpu;
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t memory_limit,
                            parse_memory_limit(arguments.limits.memory));
  const int64_t load_start = now_ns();
  MILLRACE_ASSIGN_OR_RETURN(const LoadedModel loaded,
                            load_model(arguments.model, arguments.flags, arguments.device,
                                       memory_limit, {.lanes = arguments.lanes}));
  const double load_ms = static_cast<double>(now_ns() - load_start) * 1e-6;
  const graph::CompiledModel& model = loaded.program->model();
  if (view == device::View::kHw && !has_hw_views(model))
    return invalid_argument(fmt::format(
        "--view hw: the tensors of {} have a CPU view only, since {}", arguments.model,
        model.network != nullptr ? "their shapes are open" : "CPU partitions read and make them"));
  MILLRACE_ASSIGN_OR_RETURN(const auto session,
                            runtime::Session::create(loaded.device, loaded.program,
                                                     {.max_concurrent_runs = arguments.in_flight}));
  MILLRACE_ASSIGN_OR_RETURN(const GivenShapes shapes, parse_shapes(model, arguments.shapes));
  MILLRACE_ASSIGN_OR_RETURN(const auto inputs, settled_inputs(model, shapes));
  std::vector<JobBuffers> slots;
  for (uint32_t i = 0; i < arguments.in_flight; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(JobBuffers buffers,
                              JobBuffers::allocate(model, inputs, model.batch_size, view, view));
    MILLRACE_RETURN_IF_ERROR(fill_inputs(inputs, view, buffers));
    // Room for the outputs is made before anything is measured.
    if (buffers.has_open_tensors()) MILLRACE_RETURN_IF_ERROR(buffers.execute(*session));
    slots.push_back(std::move(buffers));
  }
  MILLRACE_ASSIGN_OR_RETURN(const auto times, measure_latency(*session, slots[0], arguments));
  MILLRACE_ASSIGN_OR_RETURN(const double jobs_per_second,
                            measure_throughput(*session, slots, arguments.iterations));

  print_figures(arguments, loaded, {load_ms, times, jobs_per_second * model.batch_size});
  return {};
}

// It has none.
Status refuse_output(const std::string& name, std::span<const std::byte>) {
  return corrupt_data(fmt::format("the child process sends an output, \"{}\"", name));
}

}  // namespace

Status run_bench(const BenchArguments& arguments) {
  return run_within(
      arguments.limits, [&](const OutputSink&) { return load_and_measure(arguments); },
      refuse_output);
}

}  // namespace millrace::cli
