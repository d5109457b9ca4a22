#include "cli/command_line/commands/definitions.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/picture_options.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {
namespace {

// Adds the options that define the load to measure, and its duration.
void add_load_flags(CLI::App& command, BenchArguments& arguments) {
  as_choice(command.add_option(
                "--scenario", arguments.scenario,
                "how jobs are issued, in the terms of MLPerf; without it, latency and throughput "
                "are measured in brief"),
            {"single-stream", "multi-stream", "offline", "server"});
  auto* const iterations = as_count(
      command.add_option("-n,--iterations", arguments.iterations, "number of measured jobs"), 1,
      100'000'000);
  as_seconds(command.add_option("--duration", arguments.duration_seconds,
                                "time for which jobs are issued, as 10s; 3s without --iterations"))
      ->excludes(iterations);
  as_count(command.add_option("--warmup", arguments.warmup,
                              "number of jobs before the measured ones, at most for 2s"))
      ->capture_default_str();
  as_count(command.add_option(
               "--in-flight", arguments.in_flight,
               "jobs in flight: kept submitted (offline), in one query (multi-stream), or at most "
               "(server). 0: 2 per lane for offline, 8 for multi-stream, 4 per lane and at least 8 "
               "for server, 2 without --scenario; single-stream always has 1"),
           0, 1024)
      ->capture_default_str();
  as_number(command.add_option(
                "--qps", arguments.queries_per_second,
                "with --scenario server: mean arrival rate in jobs per second (Poisson arrivals)"),
            0.001, 1e9);
  as_count(command.add_option(
               "--seed", arguments.seed,
               "with --scenario server: seed of the random arrival times; 1 if not given"),
           0, std::numeric_limits<uint64_t>::max());
  taking(command.add_option(
             "--sweep", arguments.sweep,
             "one run for each value, as in-flight=1,2,4,8 (offline, unless --scenario says "
             "otherwise) or qps=50,100,200 (server), and a table of the runs"),
         "LIST");
  taking(command.add_option(
             "--find-rate", arguments.find_rate,
             "runs of the server scenario that find the highest mean arrival rate at which the "
             "condition holds, as 'p99<20ms'; also median, mean, p90, p95, p99.9 and max"),
         "CONDITION");
  as_count(command.add_option("--lanes,--threads", arguments.lanes,
                              "lanes of the device; 0: MILLRACE_LANES, or the core budget; with "
                              "--url: how many requests the server runs at once, for the ideal "
                              "queue"),
           0, 1024)
      ->capture_default_str();
}

// The options that say something about a server, too. Those of pictures do with --input.
constexpr std::array kForServers = {
    "--url",       "--model", "--scenario", "--iterations", "--duration", "--qps",     "--seed",
    "--in-flight", "--lanes", "--json",     "--input",      "--shape",    "--retries", "--tls-ca"};
constexpr std::array kForPictures = {"--mean",  "--scale",  "--std",       "--normalize",
                                     "--order", "--resize", "--short-side"};

bool is_one_of(std::span<const char* const> names, const std::string& name) {
  return std::ranges::any_of(names, [&](const char* text) { return name == text; });
}

// The parser alone knows which options were given, since they have values otherwise, too.
std::vector<std::string> given_for_local_models(const CLI::App& command) {
  const bool has_data = command.get_option("--input")->count() > 0;
  std::vector<std::string> names;
  for (const CLI::Option* const option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || !name.starts_with('-') || is_one_of(kForServers, name)) continue;
    if (!has_data || !is_one_of(kForPictures, name)) names.push_back(name);
  }
  return names;
}

}  // namespace

void add_bench_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand("bench", "Measure latency and throughput of a model");
  show_by_example(*command,
                  {"millrace bench model.rai --scenario offline --duration 10s",
                   "millrace bench model.rai --scenario server --qps 120 --plot run.svg",
                   "millrace bench model.rai --find-rate 'p99<20ms' --csv runs.csv",
                   "millrace bench --model a.rai:rate=20,priority=1 --model b.rai",
                   "millrace bench --url http://127.0.0.1:8080 --model glyphs --qps 500"},
                  "0 success, 1 failure, 2 wrong command line, 130 ended by Ctrl-C, with the "
                  "figures until then");
  auto arguments = std::make_shared<BenchArguments>();
  add_model(*command, arguments->model)->required(false);
  taking(command->add_option(
             "--model", arguments->models,
             "instead of one model: each of several that run at the same time, as "
             "FILE:rate=20,priority=1 with any of the keys rate, priority and in-flight; without a "
             "rate, jobs are always in flight, and a higher priority goes first"),
         "MODEL");
  taking(command->add_option("--url", arguments->url,
                             "measure a server of the Open Inference Protocol instead, as "
                             "http://127.0.0.1:8080, whose model --model names; also https, grpc "
                             "and grpcs"),
         "URL");
  taking(command->add_option("--tls-ca", arguments->tls_ca,
                             "with --url: certificates of the authorities that may say who the "
                             "server is, in PEM; otherwise those of the system"),
         "FILE");
  as_count(command->add_option("--retries", arguments->retries,
                               "with --url: how often a request is sent again that was refused, or "
                               "whose connection was lost"),
           0, 1000)
      ->capture_default_str();
  add_load_flags(*command, *arguments);
  as_choice(command->add_option("--view", arguments->view, "view of the tensors"), {"cpu", "hw"})
      ->capture_default_str();
  add_device_flag(*command, arguments->device);
  add_shape_flag(*command, arguments->shapes);
  // A value of its own word could as well be the model, so it is joined to the option.
  taking(command->add_flag(
             "--json{-}", arguments->json,
             "print one line of JSON instead of the text, or write it to a file besides the text"),
         "[=FILE]");
  taking(command->add_option(
             "--plot", arguments->plot,
             "with --scenario: an .svg file with the latencies by percentile and time"),
         "FILE");
  taking(command->add_option("--csv", arguments->csv,
                             "with --scenario: a file with the time of issue and the latency of "
                             "each query; with --sweep and --find-rate: with a line for each run"),
         "FILE");
  add_input_flag(*command, arguments->inputs)
      ->description("data instead of random elements: as for millrace run");
  add_picture_flags(*command, arguments->picture);
  add_limit_flags(*command, arguments->limits);
  add_compile_flags(*command, arguments->flags,
                    [command, arguments] { arguments->local = given_for_local_models(*command); });
  choose<BenchArguments>(*command, std::move(arguments), check_bench, run_bench, line);
}

}  // namespace millrace::cli
