#include "cli/bench/remote/remote_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <span>
#include <utility>

#include "base/files/output_target.h"
#include "cli/bench/ended_by_user.h"
#include "cli/bench/remote/remote_model.h"
#include "cli/bench/remote/remote_report.h"
#include "cli/bench/remote/remote_requests.h"
#include "cli/data/picture_flags.h"
#include "cli/inputs/open_tensors.h"
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
                  .servers = arguments.lanes,
                  .retries = arguments.retries,
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

// Checks the options of the load with its scenario, which --qps implies.
Status check_load(const BenchArguments& arguments) {
  if (arguments.scenario == name_of(Scenario::kMultiStream))
    return invalid_argument("--scenario multi-stream is not for --url");
  const Scenario scenario = load_of(arguments).scenario;
  const bool has_rate = arguments.queries_per_second > 0;
  if (scenario == Scenario::kServer && !has_rate)
    return invalid_argument("--scenario server needs --qps, the arrival rate per second");
  if (scenario == Scenario::kSingleStream && arguments.in_flight > 1)
    return invalid_argument(
        "--in-flight is for other scenarios; single-stream has one request in flight");
  if (scenario == Scenario::kServer) return {};
  if (has_rate) return invalid_argument("--qps is for --scenario server");
  if (arguments.seed)
    return invalid_argument(
        "--seed is for --scenario server; no other scenario draws random times");
  if (arguments.lanes != 0)
    return invalid_argument(
        "with --url, --lanes is for --scenario server, which compares with an ideal queue");
  return {};
}

}  // namespace

Status check_remote_bench(const BenchArguments& arguments) {
  if (!arguments.model.empty() || arguments.models.size() != 1)
    return invalid_argument("--url needs the name of the server's model, by --model once");
  if (!arguments.local.empty())
    return invalid_argument(fmt::format("{} {} for models that run here, not for --url",
                                        fmt::join(arguments.local, " and "),
                                        arguments.local.size() == 1 ? "is" : "are"));
  MILLRACE_ASSIGN_OR_RETURN(const RemoteUrl url, parse_url(arguments.url));
  if (!arguments.tls_ca.empty() && url.scheme != "https" && url.scheme != "grpcs")
    return invalid_argument("--tls-ca is for servers of https:// and grpcs://");
  MILLRACE_RETURN_IF_ERROR(check_shape_texts("--shape", arguments.shapes));
  MILLRACE_RETURN_IF_ERROR(picture_options(arguments.picture).status());
  return check_load(arguments);
}

Result<int> run_remote_bench_over(std::shared_ptr<const RemoteProtocol> protocol,
                                  const BenchArguments& arguments) {
  const std::string json_file = arguments.json == "-" ? std::string() : arguments.json;
  MILLRACE_RETURN_IF_ERROR(check_output(json_file));
  MILLRACE_ASSIGN_OR_RETURN(RemoteServer server, find_server(arguments.url));
  server.protocol = std::move(protocol);
  const std::string& model = arguments.models.front();
  MILLRACE_ASSIGN_OR_RETURN(const RemoteModel described, describe(server, model));
  MILLRACE_ASSIGN_OR_RETURN(const io::PictureOptions picture, picture_options(arguments.picture));
  MILLRACE_ASSIGN_OR_RETURN(
      const auto requests,
      requests_for(server, described,
                   {.inputs = arguments.inputs, .shapes = arguments.shapes, .picture = picture}));
  const EndedByUser ended;
  RemoteReport report{.url = arguments.url,
                      .model = model,
                      .version = MILLRACE_VERSION,
                      .load = load_of(arguments),
                      .run = {}};
  MILLRACE_ASSIGN_OR_RETURN(report.run, run_remote_load(server, requests, report.load));
  MILLRACE_RETURN_IF_ERROR(publish(report, arguments.json));
  if (report.run.served.empty() && report.run.requests() > 0)
    return Status(StatusCode::kIoError, "the server served none of the requests");
  return *EndedByUser::flag() ? kInterrupted : 0;
}

}  // namespace millrace::cli
