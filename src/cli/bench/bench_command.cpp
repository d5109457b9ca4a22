// `millrace bench`: measures latency and throughput of a model on random inputs, in one scenario of
// MLPerf or, without --scenario, in single-stream and offline one after the other. With limits or a
// sandbox the measurement runs in a child process, and output files are written by the parent.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/clock.h"
#include "base/files/output_target.h"
#include "cli/bench/bench_report.h"
#include "cli/bench/closed_loops.h"
#include "cli/bench/latency_plot.h"
#include "cli/bench/open_loop.h"
#include "cli/commands.h"
#include "cli/inputs/job_buffers.h"
#include "cli/inputs/open_tensors.h"
#include "cli/inputs/random_inputs.h"
#include "cli/model_source.h"
#include "cli/print_escaped.h"
#include "cli/supervision/interruption.h"
#include "graph/precision_name.h"
#include "io/file.h"
#include "runtime/session.h"

namespace millrace::cli {
namespace {

// Sanitizers replace malloc themselves, so allocations cannot be counted.
#ifdef MILLRACE_COUNTS_NO_ALLOCATIONS
constexpr bool kCountsAllocations = false;
#else
constexpr bool kCountsAllocations = true;
#endif

// The names under which the work passes its files to the sink. They end in .bin, since the sink
// accepts only such names from a child process.
constexpr const char* kJson = "json.bin";
constexpr const char* kPlot = "plot.bin";

bool has_hw_views(const graph::CompiledModel& model) {
  const auto has_one = [](const graph::Boundary& boundary) { return boundary.hw.has_value(); };
  return std::ranges::any_of(model.inputs, has_one) || std::ranges::any_of(model.outputs, has_one);
}

// Checks which options may be combined, which the parser of the command line cannot.
Status check(const BenchArguments& arguments) {
  if (std::isnan(arguments.queries_per_second) || std::isnan(arguments.duration_seconds))
    return invalid_argument("--qps and --duration must not be NaN");
  if (arguments.scenario == name_of(Scenario::kSingleStream) && arguments.in_flight > 1)
    return invalid_argument(
        "--in-flight is for other scenarios; single-stream has one job in flight");
  if (arguments.seed && arguments.scenario != name_of(Scenario::kServer))
    return invalid_argument(
        "--seed is for --scenario server; no other scenario draws random times");
  if (arguments.scenario == name_of(Scenario::kServer)) {
    if (arguments.queries_per_second > 0) return {};
    return invalid_argument("--scenario server needs --qps, the arrival rate in jobs per second");
  }
  if (arguments.queries_per_second > 0)
    return invalid_argument(
        "--qps is for --scenario server; other scenarios issue a job when an earlier one ends");
  if (arguments.scenario.empty() && (arguments.duration_seconds > 0 || !arguments.plot.empty()))
    return invalid_argument("--duration and --plot need a --scenario");
  return {};
}

// Returns the number of jobs in flight if the command line has none.
uint32_t in_flight_unless_stated(const BenchArguments& arguments, uint32_t lanes) {
  const Result<Scenario> scenario = parse_scenario(arguments.scenario);
  return scenario.ok() ? default_in_flight(*scenario, lanes) : 2;
}

// Everything that a measurement needs. The session is declared last, so that it is destroyed before
// the buffers of its jobs.
struct Prepared {
  BenchSubject subject;
  std::vector<JobBuffers> slots;
  std::unique_ptr<runtime::Session> session;

  Workload workload(const BenchArguments& arguments) const {
    const std::chrono::duration<double> duration(arguments.duration_seconds);
    return {.session = *session,
            .slots = slots,
            .warmup = arguments.warmup,
            .jobs = arguments.iterations,
            .duration = std::chrono::duration_cast<std::chrono::nanoseconds>(duration)};
  }
};

BenchSubject subject_of(const BenchArguments& arguments, const LoadedModel& loaded,
                        double load_ms) {
  const device::ProgramInfo info = loaded.program->info();
  const uint32_t lanes = loaded.device->lanes().count();
  return {.model = arguments.model,
          .precision = graph::precision_name(loaded.program->model(), info.precision),
          .view = arguments.view,
          .device = loaded.device->description(),
          .note = info.note,
          .batch = loaded.program->model().batch_size,
          .lanes = lanes,
          .in_flight = arguments.in_flight != 0 ? arguments.in_flight
                                                : in_flight_unless_stated(arguments, lanes),
          .load_ms = load_ms};
}

Result<std::vector<JobBuffers>> make_slots(const BenchArguments& arguments,
                                           const graph::CompiledModel& model, uint32_t count,
                                           runtime::Session& session) {
  const device::View view = arguments.view == "hw" ? device::View::kHw : device::View::kCpu;
  MILLRACE_ASSIGN_OR_RETURN(const GivenShapes shapes, parse_shapes(model, arguments.shapes));
  MILLRACE_ASSIGN_OR_RETURN(const auto inputs, settled_inputs(model, shapes));
  std::vector<JobBuffers> slots;
  for (uint32_t i = 0; i < count; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(JobBuffers buffers,
                              JobBuffers::allocate(model, inputs, model.batch_size, view, view));
    MILLRACE_RETURN_IF_ERROR(fill_inputs(inputs, view, buffers));
    // A first job lets open outputs get buffers of the right size before anything is measured.
    if (buffers.has_open_tensors()) MILLRACE_RETURN_IF_ERROR(buffers.execute(session));
    slots.push_back(std::move(buffers));
  }
  return slots;
}

Result<Prepared> prepare(const BenchArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const uint64_t memory_limit,
                            parse_memory_limit(arguments.limits.memory));
  const int64_t load_start = now_ns();
  MILLRACE_ASSIGN_OR_RETURN(const LoadedModel loaded,
                            load_model(arguments.model, arguments.flags, arguments.device,
                                       memory_limit, {.lanes = arguments.lanes}));
  const double load_ms = static_cast<double>(now_ns() - load_start) * 1e-6;
  const graph::CompiledModel& model = loaded.program->model();
  if (arguments.view == "hw" && !has_hw_views(model))
    return invalid_argument(
        fmt::format("--view hw: the tensors of {} have a CPU view only, since {}", arguments.model,
                    model.network != nullptr ? "their shapes are open"
                                             : "CPU or collective partitions read and make them"));
  Prepared prepared;
  prepared.subject = subject_of(arguments, loaded, load_ms);
  const uint32_t in_flight = prepared.subject.in_flight;
  MILLRACE_ASSIGN_OR_RETURN(
      prepared.session, runtime::Session::create(loaded.device, loaded.program,
                                                 {.max_concurrent_runs = in_flight,
                                                  .callback_order = CallbackOrder::kCompletion}));
  MILLRACE_ASSIGN_OR_RETURN(prepared.slots,
                            make_slots(arguments, model, in_flight, *prepared.session));
  return prepared;
}

Result<Measurement> measure(Scenario scenario, const Workload& workload,
                            const BenchArguments& arguments) {
  switch (scenario) {
    case Scenario::kSingleStream:
      return run_single_stream(workload);
    case Scenario::kMultiStream:
      return run_multi_stream(workload);
    case Scenario::kOffline:
      return run_offline(workload);
    case Scenario::kServer:
      break;
  }
  return run_server(
      workload, {.per_second = arguments.queries_per_second, .seed = arguments.seed.value_or(1)});
}

Status give(const OutputSink& files, const char* name, const std::string& content) {
  return files(name, std::as_bytes(std::span(content)));
}

// Prints the report as text or JSON, and passes its JSON to the sink if it goes to a file.
template <class Report>
Status publish(const Report& report, const BenchArguments& arguments, const OutputSink& files) {
  const bool to_file = !arguments.json_file.empty();
  if (arguments.json && !to_file)
    print_escaped("{}\n", report_json(report));
  else
    print_escaped_lines(report_text(report));
  return to_file ? give(files, kJson, report_json(report) + "\n") : Status();
}

Status run_scenario(Scenario scenario, Prepared& prepared, const BenchArguments& arguments,
                    const OutputSink& files) {
  const Workload workload = prepared.workload(arguments);
  ScenarioReport report;
  report.subject = prepared.subject;
  MILLRACE_ASSIGN_OR_RETURN(report.measured, measure(scenario, workload, arguments));
  if (kCountsAllocations) {
    MILLRACE_ASSIGN_OR_RETURN(report.allocations, count_allocations(scenario, workload));
  }
  MILLRACE_RETURN_IF_ERROR(publish(report, arguments, files));
  if (arguments.plot.empty()) return {};
  const std::string title = fmt::format("{}, {}, {} lanes", report.subject.model, name_of(scenario),
                                        report.subject.lanes);
  return give(files, kPlot, latency_plot(title, report.measured));
}

// Measures latency with one job at a time, and then throughput with several jobs in flight.
Status run_overview(Prepared& prepared, const BenchArguments& arguments, const OutputSink& files) {
  Workload workload = prepared.workload(arguments);
  OverviewReport report;
  report.subject = prepared.subject;
  MILLRACE_ASSIGN_OR_RETURN(report.single_stream, run_single_stream(workload));
  workload.warmup = 0;
  MILLRACE_ASSIGN_OR_RETURN(report.offline, run_offline(workload));
  return publish(report, arguments, files);
}

Status load_and_measure(const BenchArguments& arguments, const OutputSink& files) {
  MILLRACE_RETURN_IF_ERROR(check(arguments));
  MILLRACE_ASSIGN_OR_RETURN(Prepared prepared, prepare(arguments));
  if (arguments.scenario.empty()) return run_overview(prepared, arguments, files);
  MILLRACE_ASSIGN_OR_RETURN(const Scenario scenario, parse_scenario(arguments.scenario));
  return run_scenario(scenario, prepared, arguments, files);
}

// Writes a file to the path that the command line gives for it. Other files are refused.
Status write_asked_for(const BenchArguments& arguments, const std::string& name,
                       std::span<const std::byte> bytes) {
  const std::string path = name == kJson   ? arguments.json_file
                           : name == kPlot ? arguments.plot
                                           : std::string();
  if (path.empty())
    return corrupt_data(
        fmt::format("unexpected output \"{}\" received from the child process", name));
  CleanInterruption interruption;
  MILLRACE_RETURN_IF_ERROR(interruption.start());
  return io::write_file(path, bytes);
}

}  // namespace

Status run_bench(const BenchArguments& arguments) {
  for (const std::string& output : {arguments.json_file, arguments.plot})
    MILLRACE_RETURN_IF_ERROR(check_output(output));
  return run_within(
      arguments.limits, [&](const OutputSink& files) { return load_and_measure(arguments, files); },
      [&](const std::string& name, std::span<const std::byte> bytes) {
        return write_asked_for(arguments, name, bytes);
      });
}

}  // namespace millrace::cli
