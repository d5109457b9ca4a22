// `millrace bench`: measures latency and throughput of a model on random inputs, in one scenario of
// MLPerf or, without --scenario, in single-stream and offline one after the other; with --sweep or
// --find-rate, several times with different loads; with --model, several models at the same time.
// With limits or a sandbox the measurement runs in a child process, and output files are written by
// the parent.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/files/output_target.h"
#include "base/process/topology.h"
#include "base/settings/environment.h"
#include "cli/bench/bench_report.h"
#include "cli/bench/closed_loops.h"
#include "cli/bench/ended_by_user.h"
#include "cli/bench/latency_plot.h"
#include "cli/bench/open_loop.h"
#include "cli/bench/remote/remote_command.h"
#include "cli/bench/sweep.h"
#include "cli/bench/together/model_load.h"
#include "cli/bench/together/run_together.h"
#include "cli/bench/together/together_report.h"
#include "cli/commands.h"
#include "cli/inputs/boundary_tensor.h"
#include "cli/inputs/frames.h"
#include "cli/inputs/job_buffers.h"
#include "cli/inputs/open_tensors.h"
#include "cli/inputs/random_inputs.h"
#include "cli/model_source.h"
#include "cli/notes.h"
#include "cli/print_escaped.h"
#include "cli/supervision/interruption.h"
#include "device/paced/paced_device.h"
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
constexpr const char* kCsv = "csv.bin";

constexpr std::chrono::seconds kUsualDuration{3};

bool has_hw_views(const graph::CompiledModel& model) {
  const auto has_one = [](const graph::Boundary& boundary) { return boundary.hw.has_value(); };
  return std::ranges::any_of(model.inputs, has_one) || std::ranges::any_of(model.outputs, has_one);
}

bool has_several_runs(const BenchArguments& arguments) {
  return !arguments.sweep.empty() || !arguments.find_rate.empty();
}

// Whether the command line names a scenario, and not that of a server.
bool names_other_than_server(const BenchArguments& arguments) {
  return !arguments.scenario.empty() && arguments.scenario != name_of(Scenario::kServer);
}

// Checks the options of a sweep and of a search with each other and with those of single runs.
Status check_several_runs(const BenchArguments& arguments) {
  if (!has_several_runs(arguments)) return {};
  if (!arguments.sweep.empty() && !arguments.find_rate.empty())
    return invalid_argument("--sweep and --find-rate are different series of runs: give one");
  if (!arguments.plot.empty())
    return invalid_argument("--plot shows a single run, not a series: --csv lists the runs");
  if (!arguments.find_rate.empty()) {
    MILLRACE_RETURN_IF_ERROR(
        parse_condition(arguments.find_rate).status().with_context("--find-rate"));
    if (names_other_than_server(arguments))
      return invalid_argument("--find-rate measures --scenario server, no other");
    return arguments.queries_per_second > 0
               ? invalid_argument("--find-rate chooses the rates, so --qps has no effect")
               : Status();
  }
  MILLRACE_ASSIGN_OR_RETURN(const Sweep sweep, parse_sweep(arguments.sweep));
  if (!sweep.in_flight.empty() && arguments.in_flight != 0)
    return invalid_argument("--sweep in-flight and --in-flight say the same: give one");
  if (!sweep.per_second.empty() && arguments.queries_per_second > 0)
    return invalid_argument("--sweep qps and --qps say the same: give one");
  if (!sweep.per_second.empty() && names_other_than_server(arguments))
    return invalid_argument("--sweep qps is for --scenario server, which alone has arrivals");
  if (!sweep.in_flight.empty() && arguments.scenario == name_of(Scenario::kSingleStream))
    return invalid_argument(
        "--sweep in-flight is for other scenarios; single-stream has one job in flight");
  return {};
}

// Returns the arguments with what a series of runs implies: its scenario, the greatest number of
// jobs in flight and, to pass the checks of a single run, a rate.
BenchArguments with_implied(BenchArguments arguments) {
  const bool searches = !arguments.find_rate.empty();
  const Result<Sweep> parsed = parse_sweep(arguments.sweep);
  const Sweep sweep = parsed.ok() ? *parsed : Sweep();
  const bool is_server = searches || !sweep.per_second.empty();
  if (!has_several_runs(arguments)) return arguments;
  if (arguments.scenario.empty())
    arguments.scenario = name_of(is_server ? Scenario::kServer : Scenario::kOffline);
  if (!sweep.in_flight.empty()) arguments.in_flight = *std::ranges::max_element(sweep.in_flight);
  if (!sweep.per_second.empty()) arguments.queries_per_second = sweep.per_second.front();
  if (searches) arguments.queries_per_second = 1;
  return arguments;
}

// Returns what to measure of one of several models, as if it were the only one.
BenchArguments arguments_of(const ModelLoad& load, BenchArguments arguments) {
  arguments.model = load.model;
  arguments.scenario = name_of(load.per_second > 0 ? Scenario::kServer : Scenario::kOffline);
  if (load.in_flight != 0) arguments.in_flight = load.in_flight;
  return arguments;
}

// Checks the options of several models with those of one.
Status check_together(const BenchArguments& arguments) {
  if (!arguments.model.empty())
    return invalid_argument("name each of several models with --model, or one without it");
  if (!arguments.scenario.empty() || has_several_runs(arguments) || !arguments.plot.empty() ||
      arguments.queries_per_second > 0)
    return invalid_argument(
        "--scenario, --qps, --sweep, --find-rate and --plot are for one model; with --model, write "
        "the rate of each behind its file, as --model FILE:rate=20");
  if (arguments.iterations != 0)
    return invalid_argument("models that run at the same time do so for a --duration, not for -n");
  if (!arguments.inputs.empty() || !arguments.shapes.empty())
    return invalid_argument("--input and --shape are for one model, not for --model");
  for (const std::string& text : arguments.models) {
    MILLRACE_ASSIGN_OR_RETURN(const ModelLoad load, parse_model_load(text));
    MILLRACE_RETURN_IF_ERROR(check_flags(load.model, arguments.flags));
  }
  return check_limits(arguments.limits);
}

// Checks which options may be combined, which the parser of the command line cannot.
Status check_load(const BenchArguments& arguments) {
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
  if (arguments.scenario.empty() && (!arguments.csv.empty() || !arguments.plot.empty()))
    return invalid_argument("--csv and --plot need a --scenario");
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
    const std::chrono::duration<double> given(arguments.duration_seconds);
    std::chrono::nanoseconds duration = std::chrono::duration_cast<std::chrono::nanoseconds>(given);
    if (duration.count() == 0 && arguments.iterations == 0) duration = kUsualDuration;
    return {.session = *session,
            .slots = slots,
            .warmup = arguments.warmup,
            .jobs = arguments.iterations,
            .duration = duration,
            .ended = EndedByUser::flag()};
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
          .load_ms = load_ms,
          .version = MILLRACE_VERSION,
          .processor = topology().cpu_model};
}

// Adds what is known after the run.
BenchSubject after_run(BenchSubject subject) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  subject.peak_memory_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;  // in kilobytes
  subject.interrupted = *EndedByUser::flag();
  return subject;
}

// Reads the files of --input; no frames without it.
Result<LoadedInputs> given_data(const BenchArguments& arguments, const graph::CompiledModel& model,
                                device::View view, const GivenShapes& shapes) {
  if (arguments.inputs.empty()) return LoadedInputs();
  MILLRACE_ASSIGN_OR_RETURN(const auto files, resolve_inputs(model, arguments.inputs));
  MILLRACE_ASSIGN_OR_RETURN(const io::PictureOptions picture, picture_options(arguments.picture));
  return load_inputs(model, view, files, shapes, picture);
}

// Copies the frames from `first` on into the inputs of a job, from the beginning again when they
// end.
Status copy_frames(const LoadedInputs& data, size_t first, device::View view,
                   const JobBuffers& buffers) {
  for (uint32_t frame = 0; frame < buffers.bindings().frames; ++frame) {
    for (size_t i = 0; i < data.boundaries.size(); ++i) {
      const size_t bytes = desc_in(data.boundaries[i], view).bytes();
      const size_t from = (first + frame) % data.frames * bytes;
      if (bytes > 0) std::memcpy(buffers.input(frame, i), data.bytes[i].data() + from, bytes);
    }
  }
  return {};
}

Result<std::vector<JobBuffers>> make_slots(const BenchArguments& arguments,
                                           const graph::CompiledModel& model, uint32_t count,
                                           runtime::Session& session) {
  const device::View view = arguments.view == "hw" ? device::View::kHw : device::View::kCpu;
  MILLRACE_ASSIGN_OR_RETURN(const GivenShapes shapes, parse_shapes(model, arguments.shapes));
  MILLRACE_ASSIGN_OR_RETURN(const LoadedInputs data, given_data(arguments, model, view, shapes));
  std::vector<graph::Boundary> inputs = data.boundaries;
  if (data.frames == 0) {
    MILLRACE_ASSIGN_OR_RETURN(inputs, settled_inputs(model, shapes));
  }
  std::vector<JobBuffers> slots;
  for (uint32_t i = 0; i < count; ++i) {
    MILLRACE_ASSIGN_OR_RETURN(JobBuffers buffers,
                              JobBuffers::allocate(model, inputs, model.batch_size, view, view));
    MILLRACE_RETURN_IF_ERROR(data.frames == 0
                                 ? fill_inputs(inputs, view, buffers)
                                 : copy_frames(data, i * model.batch_size, view, buffers));
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

ServerLoad server_load(const BenchArguments& arguments) {
  return {.per_second = arguments.queries_per_second, .seed = arguments.seed.value_or(1)};
}

Status give(const OutputSink& files, const char* name, const std::string& content) {
  return files(name, std::as_bytes(std::span(content)));
}

// Returns the file for the JSON; empty if it goes to standard output, or nowhere.
std::string json_file(const BenchArguments& arguments) {
  return arguments.json == "-" ? std::string() : arguments.json;
}

// Prints the report as text or JSON, and passes its JSON to the sink if it goes to a file.
template <class Report>
Status publish(const Report& report, const BenchArguments& arguments, const OutputSink& files) {
  const bool to_file = !json_file(arguments).empty();
  if (!arguments.json.empty() && !to_file)
    print_escaped("{}\n", report_json(report));
  else
    print_escaped_lines(report_text(report));
  return to_file ? give(files, kJson, report_json(report) + "\n") : Status();
}

Status run_scenario(Scenario scenario, Prepared& prepared, const BenchArguments& arguments,
                    const OutputSink& files) {
  const Workload workload = prepared.workload(arguments);
  ScenarioReport report;
  MILLRACE_ASSIGN_OR_RETURN(report.measured, measure(scenario, workload, server_load(arguments)));
  report.subject = after_run(prepared.subject);
  if (kCountsAllocations && !report.subject.interrupted) {
    MILLRACE_ASSIGN_OR_RETURN(report.allocations, count_allocations(scenario, workload));
  }
  MILLRACE_RETURN_IF_ERROR(publish(report, arguments, files));
  if (!arguments.csv.empty())
    MILLRACE_RETURN_IF_ERROR(give(files, kCsv, queries_csv(report.measured)));
  if (arguments.plot.empty()) return {};
  const std::string title = fmt::format("{}, {}, {} lanes", report.subject.model, name_of(scenario),
                                        report.subject.lanes);
  return give(files, kPlot, latency_plot(title, report.measured));
}

// Measures latency with one job at a time, and then throughput with several jobs in flight.
Status run_overview(Prepared& prepared, const BenchArguments& arguments, const OutputSink& files) {
  Workload workload = prepared.workload(arguments);
  OverviewReport report;
  MILLRACE_ASSIGN_OR_RETURN(report.single_stream, run_single_stream(workload));
  workload.warmup = 0;
  MILLRACE_ASSIGN_OR_RETURN(report.offline, run_offline(workload));
  report.subject = after_run(prepared.subject);
  return publish(report, arguments, files);
}

// Measures several times with different loads.
Status run_series(Prepared& prepared, const BenchArguments& arguments, const OutputSink& files) {
  const Workload workload = prepared.workload(arguments);
  SweepReport report;
  report.subject = prepared.subject;
  report.condition = arguments.find_rate;
  MILLRACE_ASSIGN_OR_RETURN(report.scenario, parse_scenario(arguments.scenario));
  const ServerLoad load = server_load(arguments);
  if (arguments.sweep.empty()) {
    MILLRACE_ASSIGN_OR_RETURN(const LatencyCondition condition,
                              parse_condition(arguments.find_rate));
    MILLRACE_RETURN_IF_ERROR(find_rate(condition, load.seed, workload, &report));
  } else {
    MILLRACE_ASSIGN_OR_RETURN(const Sweep sweep, parse_sweep(arguments.sweep));
    MILLRACE_RETURN_IF_ERROR(run_sweep(sweep, load, workload, &report));
  }
  report.subject = after_run(prepared.subject);
  MILLRACE_RETURN_IF_ERROR(publish(report, arguments, files));
  return arguments.csv.empty() ? Status() : give(files, kCsv, sweep_csv(report));
}

// Adds the run of one model to the report.
void add_model(const ModelLoad& load, const BenchSubject& subject, const Measurement& measured,
               TogetherReport& report) {
  report.models.push_back({.subject = after_run(subject),
                           .priority = load.priority,
                           .run = sweep_run(subject, subject.in_flight, measured)});
}

// Measures several models at the same time.
Status measure_together(const BenchArguments& arguments, const OutputSink& files) {
  std::vector<ModelLoad> models;
  std::vector<Prepared> prepared;
  std::vector<SharedLoad> loads;
  prepared.reserve(arguments.models.size());
  for (const std::string& text : arguments.models) {
    MILLRACE_ASSIGN_OR_RETURN(const ModelLoad load, parse_model_load(text));
    const BenchArguments own = arguments_of(load, arguments);
    MILLRACE_ASSIGN_OR_RETURN(Prepared one, prepare(own));
    prepared.push_back(std::move(one));
    loads.push_back({.workload = prepared.back().workload(own),
                     .per_second = load.per_second,
                     .priority = load.priority});
    models.push_back(load);
  }
  MILLRACE_ASSIGN_OR_RETURN(const SharedRun shared,
                            run_together(loads, arguments.seed.value_or(1)));
  TogetherReport report{.models = {},
                        .seconds = shared.seconds,
                        .busy_cores = shared.processor_seconds / shared.seconds};
  for (size_t i = 0; i < models.size(); ++i)
    add_model(models[i], prepared[i].subject, shared.models[i], report);
  MILLRACE_RETURN_IF_ERROR(publish(report, arguments, files));
  return arguments.csv.empty() ? Status() : give(files, kCsv, together_csv(report));
}

Status load_and_measure(const BenchArguments& arguments, const OutputSink& files) {
  if (!arguments.models.empty()) return measure_together(arguments, files);
  MILLRACE_ASSIGN_OR_RETURN(Prepared prepared, prepare(arguments));
  if (has_several_runs(arguments)) return run_series(prepared, arguments, files);
  if (arguments.scenario.empty()) return run_overview(prepared, arguments, files);
  MILLRACE_ASSIGN_OR_RETURN(const Scenario scenario, parse_scenario(arguments.scenario));
  return run_scenario(scenario, prepared, arguments, files);
}

// A measurement at the pace of another device must not be taken for one of this machine.
void note_pace(const BenchArguments& arguments) {
  const std::string_view profile = environment_variable(device::kPaceVariable);
  if (profile.empty() && !arguments.device.starts_with(device::kPacedPrefix)) return;
  print_note(
      fmt::format("{} is set: jobs take the times of the profile {}, not those of this machine",
                  device::kPaceVariable, profile));
}

// Writes a file to the path that the command line gives for it. Other files are refused.
Status write_asked_for(const BenchArguments& arguments, const std::string& name,
                       std::span<const std::byte> bytes) {
  const std::string path = name == kJson   ? json_file(arguments)
                           : name == kPlot ? arguments.plot
                           : name == kCsv  ? arguments.csv
                                           : std::string();
  if (path.empty())
    return corrupt_data(
        fmt::format("unexpected output \"{}\" received from the child process", name));
  CleanInterruption interruption;
  MILLRACE_RETURN_IF_ERROR(interruption.start());
  return io::write_file(path, bytes);
}

}  // namespace

Status check_bench(const BenchArguments& arguments) {
  if (!arguments.url.empty()) return check_remote_bench(arguments);
  if (arguments.retries > 0) return invalid_argument("--retries is for --url");
  if (!arguments.tls_ca.empty()) return invalid_argument("--tls-ca is for --url");
  if (!arguments.models.empty()) return check_together(arguments);
  if (arguments.model.empty())
    return invalid_argument("name the model, or each of several with --model");
  MILLRACE_RETURN_IF_ERROR(check_several_runs(arguments));
  MILLRACE_RETURN_IF_ERROR(check_load(with_implied(arguments)));
  MILLRACE_RETURN_IF_ERROR(picture_options(arguments.picture).status());
  MILLRACE_RETURN_IF_ERROR(check_limits(arguments.limits));
  MILLRACE_RETURN_IF_ERROR(check_shape_texts("--shape", arguments.shapes));
  return check_flags(arguments.model, arguments.flags);
}

Result<int> run_bench(const BenchArguments& given) {
  if (!given.url.empty()) return run_remote_bench(given);
  const BenchArguments arguments = with_implied(given);
  note_pace(arguments);
  for (const std::string& output : {json_file(arguments), arguments.plot, arguments.csv})
    MILLRACE_RETURN_IF_ERROR(check_output(output));
  // A child process that does the work is ended by the signal as usual.
  std::optional<EndedByUser> ended;
  if (!arguments.limits.sandbox && arguments.limits.time.empty()) ended.emplace();
  MILLRACE_RETURN_IF_ERROR(run_within(
      arguments.limits, [&](const OutputSink& files) { return load_and_measure(arguments, files); },
      [&](const std::string& name, std::span<const std::byte> bytes) {
        return write_asked_for(arguments, name, bytes);
      }));
  return *EndedByUser::flag() ? kInterrupted : 0;
}

}  // namespace millrace::cli
