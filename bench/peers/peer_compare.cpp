// Compares Millrace with ONNX Runtime on the same models, inputs and numbers of threads, and prints
// a Markdown table.
//
//   peer_compare [--precision fp32] [--threads 1,2] [--throughput] [--server 50,87] MODEL.onnx...
//
// The exit status is 1 if a ratio is below --least (1.0), 2 if a model cannot be compared, and 77
// ("skipped") if ONNX Runtime is not installed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/peers/comparison.h"
#include "cli/progress.h"

namespace millrace::bench {
namespace {

constexpr int kBelow = 1, kCannotCompare = 2, kSkipped = 77;

struct Arguments {
  std::vector<std::string> models;
  std::string label;
  double least = 1.0;
  bool heading = true;
  ComparisonPlan plan;
};

void add_options(CLI::App& app, Arguments& arguments) {
  ComparisonPlan& plan = arguments.plan;
  app.add_option("models", arguments.models, ".onnx files")->required();
  app.add_option("--precision", plan.flags.precision, "precision in which Millrace computes")
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str();
  app.add_option("--label", arguments.label,
                 "precision to print in the table, for example INT8 for QDQ models");
  app.add_option("--input-shape", plan.flags.input_shapes,
                 "shape of an input with open dimensions, for example NAME=1,8");
  app.add_option("--threads", plan.threads, "number of threads of each side")
      ->delimiter(',')
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  CLI::Option* const throughput =
      app.add_flag("--throughput", plan.throughput,
                   "for more than one thread, also compare the time per frame with several jobs in "
                   "flight, with ONNX Runtime's threads in the better of two arrangements");
  app.add_option(
         "--server", plan.server_percent,
         "also compare the 99th percentile of the latency of requests that arrive at random "
         "(Poisson) at these percentages of Millrace's throughput, for example 50,70,87")
      ->delimiter(',')
      ->needs(throughput)
      ->check(CLI::Range(1, 99));
  app.add_option("--server-seconds", plan.server_seconds, "duration of a block of arrivals")
      ->check(CLI::Range(0.1, 600.0))
      ->capture_default_str();
  app.add_option("--rounds", plan.rounds)->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--seconds", plan.seconds, "duration of a block of runs")
      ->check(CLI::Range(0.001, 600.0))
      ->capture_default_str();
  app.add_option("--least", arguments.least, "smallest ratio that counts as success")
      ->capture_default_str();
  app.add_flag("!--no-heading", arguments.heading, "print only the rows of the table");
}

void print_heading(const Arguments& arguments, const OrtLibrary& library) {
  fmt::print(
      "ONNX Runtime {}: all optimisations, sequential execution, default spinning, outputs bound; "
      "rounds: {}, of {} s each in turn, {} s of requests that arrive at random\n\n"
      "| model | precision | | ONNX Runtime ms | Millrace ms | ratio | difference |\n"
      "|---|---|---|---|---|---|---|\n",
      library.version(), arguments.plan.rounds, arguments.plan.seconds,
      arguments.plan.server_seconds);
}

void print_row(const std::string& model, const std::string& precision, const ComparisonRow& row,
               bool met) {
  const std::string ratio = fmt::format("**{:.2f}**{}", row.ratio, met ? "" : " (below)");
  fmt::print("| {} | {} | {} | {:.4g} | {:.4g} | {} | {:.1e} |\n", model, precision, row.what,
             row.theirs_ms, row.ours_ms, ratio, row.difference);
  std::fflush(stdout);
}

int fail(const Status& status, int code) {
  fmt::print(stderr, "peer_compare: {}\n", status.message());
  return code;
}

int run(const Arguments& arguments) {
  const Result<OrtLibrary> library = OrtLibrary::open();
  if (!library.ok()) return fail(library.status(), kSkipped);
  if (arguments.heading) print_heading(arguments, *library);
  int code = 0;
  for (const std::string& model : arguments.models) {
    const auto rows = compare(*library, model, arguments.plan);
    if (!rows.ok()) code = fail(rows.status().with_context(model), kCannotCompare);
    if (!rows.ok()) continue;
    for (const ComparisonRow& row : *rows) {
      const bool met = row.ratio >= arguments.least;
      print_row(std::filesystem::path(model).stem().string(), arguments.label, row, met);
      if (!met) code = std::max(code, kBelow);
    }
  }
  return code;
}

}  // namespace
}  // namespace millrace::bench

int main(int argc, char** argv) {
  millrace::cli::Progress::allow();
  millrace::bench::Arguments arguments;
  CLI::App app("Compares the speed of Millrace and ONNX Runtime");
  millrace::bench::add_options(app, arguments);
  CLI11_PARSE(app, argc, argv);
  if (arguments.label.empty()) arguments.label = arguments.plan.flags.precision;
  return millrace::bench::run(arguments);
}
