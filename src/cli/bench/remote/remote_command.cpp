#include "cli/bench/remote/remote_command.h"

#include <chrono>
#include <span>

#include "base/files/output_target.h"
#include "cli/bench/ended_by_user.h"
#include "cli/bench/remote/remote_model.h"
#include "cli/bench/remote/remote_report.h"
#include "cli/print_escaped.h"
#include "cli/supervision/interruption.h"
#include "io/file.h"

namespace millrace::cli {
namespace {

constexpr double kUsualSeconds = 3;
constexpr uint32_t kServerConnections = 64, kOfflineConnections = 16;

RemoteLoad load_of(const BenchArguments& arguments) {
  RemoteLoad load{.per_second = arguments.queries_per_second,
                  .seed = arguments.seed.value_or(1),
                  .ended = EndedByUser::flag()};
  load.scenario = arguments.queries_per_second > 0 ? Scenario::kServer : Scenario::kSingleStream;
  if (const auto named = parse_scenario(arguments.scenario); named.ok()) load.scenario = *named;
  load.connections = load.scenario == Scenario::kSingleStream ? 1
                     : arguments.in_flight != 0               ? arguments.in_flight
                     : load.scenario == Scenario::kServer     ? kServerConnections
                                                              : kOfflineConnections;
  load.jobs = arguments.iterations;
  const bool has_end = arguments.duration_seconds > 0 || arguments.iterations > 0;
  const std::chrono::duration<double> time(has_end ? arguments.duration_seconds : kUsualSeconds);
  load.duration_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  return load;
}

Status publish(const RemoteReport& report, const std::string& json) {
  if (json == "-") {
    print_escaped("{}\n", report_json(report));
    return {};
  }
  print_escaped_lines(report_text(report));
  if (json.empty()) return {};
  const std::string text = report_json(report) + "\n";
  return io::write_file(json, std::as_bytes(std::span(text)));
}

}  // namespace

Status check_remote_bench(const BenchArguments& arguments) {
  if (!arguments.model.empty() || arguments.models.size() != 1)
    return invalid_argument("--url needs the name of the server's model, by --model once");
  if (!arguments.sweep.empty() || !arguments.find_rate.empty() || !arguments.plot.empty() ||
      !arguments.csv.empty() || !arguments.inputs.empty() || !arguments.shapes.empty())
    return invalid_argument(
        "--sweep, --find-rate, --plot, --csv, --input and --shape are not for --url");
  const LimitFlags& limits = arguments.limits;
  if (limits.sandbox || !limits.memory.empty() || !limits.time.empty())
    return invalid_argument("limits and the sandbox are for models that run here, not for --url");
  if (arguments.scenario == name_of(Scenario::kMultiStream))
    return invalid_argument("--scenario multi-stream is not for --url");
  const bool is_server = arguments.scenario == name_of(Scenario::kServer);
  if (is_server && !(arguments.queries_per_second > 0))
    return invalid_argument("--scenario server needs --qps, the arrival rate per second");
  if (!arguments.scenario.empty() && !is_server && arguments.queries_per_second > 0)
    return invalid_argument("--qps is for --scenario server");
  return {};
}

Result<int> run_remote_bench(const BenchArguments& arguments) {
  const std::string json_file = arguments.json == "-" ? std::string() : arguments.json;
  MILLRACE_RETURN_IF_ERROR(check_output(json_file));
  MILLRACE_ASSIGN_OR_RETURN(const RemoteServer server, find_server(arguments.url));
  const std::string& model = arguments.models.front();
  MILLRACE_ASSIGN_OR_RETURN(const std::string request, request_for(server, model));
  const EndedByUser ended;
  RemoteReport report{.url = arguments.url,
                      .model = model,
                      .version = MILLRACE_VERSION,
                      .load = load_of(arguments),
                      .run = {}};
  MILLRACE_ASSIGN_OR_RETURN(report.run, run_remote_load(server, request, report.load));
  MILLRACE_RETURN_IF_ERROR(publish(report, arguments.json));
  if (report.run.served.empty() && report.run.requests() > 0)
    return Status(StatusCode::kIoError, "the server served none of the requests");
  return *EndedByUser::flag() ? kInterrupted : 0;
}

}  // namespace millrace::cli
