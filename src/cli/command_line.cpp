// Defines the commands of `millrace` and their options with the parser library CLI11, one function
// per command. Each command gets an object of arguments, which the parser fills and which the
// action of the command line keeps alive until it runs.
//
// This is the only source that includes CLI11: its headers define the whole library in every
// source that includes them, which costs about ten seconds each.
#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/commands.h"
#include "compiler/compiler.h"

namespace millrace::cli {
namespace {

constexpr const char* kModel = "a .rai file, an archive directory, or an .onnx file";

// Adds the options of the compiler, which each command takes that accepts an .onnx file. The names
// of those that are given go into `flags.given`, since archives do not take them.
void add_compile_flags(CLI::App& command, CompileFlags& flags) {
  std::vector<CLI::Option*> options = {
      command.add_option("--batch", flags.batch, "greatest number of frames in one job")
          ->check(CLI::Range(1U, compiler::kMostFrames))
          ->capture_default_str(),
      command.add_option("--precision", flags.precision, "precision in which the program computes")
          ->check(CLI::IsMember({"fp32", "bf16", "fp16", "int8", "auto"}))
          ->capture_default_str(),
      command.add_option(
          "--hw-layout", flags.hw_layouts,
          "layout of the HW view of an input or output, as NAME=NHWC or NAME=GENERIC:0,2,3,1"),
      command
          .add_option("--hw-quantisation", flags.hw_quantisation,
                      "HW views of quantised inputs and outputs: vendor (INT8, zero point 0, a "
                      "power of two as scale) or model (as the model quantises them)")
          ->check(CLI::IsMember({"vendor", "model"}))
          ->capture_default_str(),
      command.add_option(
          "--input-shape", flags.input_shapes,
          "fixes open dimensions of an input, as NAME=1,3,224,224; ? keeps a dimension open"),
      command
          .add_option("--cpu-ops", flags.cpu_operators,
                      "names of operators and nodes to run on the CPU instead of the NPU, as "
                      "Softmax,Gemm,/head/Add_1")
          ->delimiter(','),
      command
          .add_option("--full-precision", flags.full_precision,
                      "names of operators and nodes to compute in FP32 in a BF16 or FP16 program")
          ->delimiter(',')};
  command.parse_complete_callback([options = std::move(options), &flags] {
    for (const CLI::Option* option : options)
      if (option->count() > 0) flags.given.push_back(option->get_name());
  });
}

void add_limit_flags(CLI::App& command, LimitFlags& limits) {
  command.add_option("--memory-limit", limits.memory,
                     "greatest amount of memory that the model may use, as 2GiB");
  command.add_option("--time-limit", limits.time,
                     "greatest time for the whole run, loading included, as 30s");
  command.add_flag("--sandbox", limits.sandbox,
                   "load and run in a child process that can only read, compute and report");
}

CLI::Option* add_shape_flag(CLI::App& command, std::vector<std::string>& shapes) {
  return command.add_option(
      "--shape", shapes, "dimensions of an input that the model leaves open, as NAME=1,3,480,640");
}

void add_picture_flags(CLI::App& command, PictureFlags& flags) {
  command
      .add_option("--mean", flags.mean,
                  "subtracted from picture values of 0 to 255: one value, or one per channel")
      ->delimiter(',');
  command
      .add_option("--scale", flags.scale,
                  "factor applied after --mean: one value, or one per channel")
      ->delimiter(',');
  command.add_option("--order", flags.order, "channel order that the model expects")
      ->check(CLI::IsMember({"rgb", "bgr"}))
      ->capture_default_str();
  command.add_option("--resize", flags.resize, "how pictures are fitted to the input's size")
      ->check(CLI::IsMember({"stretch", "crop", "letterbox"}))
      ->capture_default_str();
  command.add_option("--short-side", flags.short_side,
                     "with --resize crop: length of the shorter side before cropping");
}

// If `command` is chosen, sets the action of `line` to `run` on the arguments, which the parser
// fills.
template <typename Arguments>
void choose(CLI::App& command, std::shared_ptr<Arguments> arguments,
            Status (*run)(const Arguments&), CommandLine& line) {
  command.callback([arguments = std::move(arguments), run, &line] {
    line.action = [arguments, run]() -> Result<int> {
      MILLRACE_RETURN_IF_ERROR(run(*arguments));
      return 0;
    };
  });
}

// Sets the action of a command without arguments.
void choose(CLI::App& command, Status (*run)(), CommandLine& line) {
  command.callback([run, &line] {
    line.action = [run]() -> Result<int> {
      MILLRACE_RETURN_IF_ERROR(run());
      return 0;
    };
  });
}

void add_calibration_flags(CLI::App& command, CalibrationFlags& flags) {
  constexpr const char* kGroup = "With --precision int8 or auto";
  const auto add = [&](const char* name, auto& value, const char* description) {
    return command.add_option(name, value, description)->group(kGroup);
  };
  const auto add_flag = [&](const char* name, bool& value, const char* description) {
    command.add_flag(name, value, description)->group(kGroup);
  };
  add("--calibrate", flags.data,
      "folders and files with typical inputs: pictures, .npy, .bin; NAME=SOURCE if the model has "
      "several inputs");
  add("--calibrate-samples", flags.samples,
      "greatest number of samples, evenly spaced over the data")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  add("--calibrate-method", flags.method,
      "how quantisation ranges are chosen from the values of the samples")
      ->check(CLI::IsMember({"minmax", "percentile", "mse", "entropy"}))
      ->capture_default_str();
  add("--keep", flags.keep,
      "names of operators and nodes to keep in floating point (auto: in FP32), as "
      "Softmax,/head/Conv_1")
      ->delimiter(',');
  add("--accuracy-target", flags.accuracy_target,
      "greatest error of the outputs, as 1%: the layers that lose most are kept in a higher "
      "precision");
  add("--report", flags.report,
      "an .html file to write: the precision chosen for each layer, and its loss");
  add_flag("--quantise-outputs", flags.quantise_outputs,
           "quantise the outputs as well, and the operators that make them");
  add_flag("--power-of-two-scales", flags.power_of_two_scales,
           "inputs and outputs are INT8 with a power of two as scale, as on the board");
  add_flag("--no-equalisation", flags.no_equalisation,
           "do not equalise the ranges of channels between convolutions");
  add_flag("--no-bias-correction", flags.no_bias_correction,
           "do not correct biases for the rounding of weights");
  add_picture_flags(command, flags.picture);
}

void add_tuning_flags(CLI::App& command, CompileArguments& arguments) {
  auto* const tune = command.add_flag(
      "--tune", arguments.tune,
      "measure the candidate kernels of the archive on this processor, as millrace tune does");
  add_shape_flag(command, arguments.tune_shapes)->needs(tune)->group("With --tune");
}

void add_compile_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("compile", "Compile an ONNX model to an archive");
  auto arguments = std::make_shared<CompileArguments>();
  command->add_option("model", arguments->onnx, "the .onnx file")->required();
  command->add_option("-o,--output", arguments->output, "the archive to write")->required();
  command->add_option("--format", arguments->format, "form of the archive: a file or a directory")
      ->check(CLI::IsMember({"rai", "dir"}))
      ->capture_default_str();
  command->add_option("--config", arguments->config,
                      "JSON configuration of the board's compiler; flags take precedence");
  command->add_option("--profile", arguments->profiles,
                      "input shapes with which APIs for static shapes load a dynamic model, as "
                      "NAME:x=1,3,224,224;y=1,10; the first profile is the default");
  command->add_option("--dump-passes", arguments->dump_passes,
                      "a folder to write the graph to after the import and after each pass");
  command->add_option("--emit-qdq", arguments->emit_qdq,
                      "an .onnx file to write for other runtimes: the optimised model, quantised "
                      "as the program is");
  add_tuning_flags(*command, *arguments);
  add_calibration_flags(*command, arguments->calibration);
  add_compile_flags(*command, arguments->flags);
  command->add_flag("--reference", arguments->flags.reference,
                    "compute quantised operators one by one, as the ONNX standard defines each");
  choose(*command, std::move(arguments), run_compile, line);
}

void add_inspect_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("inspect", "Show what is in a model");
  auto arguments = std::make_shared<InspectArguments>();
  command->add_option("model", arguments->model, kModel)->required();
  command->add_flag("--json", arguments->json, "machine-readable output");
  add_compile_flags(*command, arguments->flags);
  choose(*command, std::move(arguments), run_inspect, line);
}

void add_run_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("run", "Run a model on files");
  auto arguments = std::make_shared<RunArguments>();
  command->add_option("model", arguments->model, kModel)->required();
  command
      ->add_option("-i,--input", arguments->inputs,
                   "NAME=FILE (.npy, .jpg, .png, otherwise raw bytes); FILE if there is one input")
      ->required();
  auto* const top =
      command->add_option("--top", arguments->top, "print the K highest values of every output");
  command
      ->add_option("--labels", arguments->labels,
                   "with --top: a text file whose line i, from 0, names class i")
      ->needs(top);
  command->add_option("--output-dir", arguments->output_dir,
                      "write every output to NAME.bin there");
  command->add_option("--view", arguments->view, "view of raw inputs and of outputs")
      ->check(CLI::IsMember({"cpu", "hw"}))
      ->capture_default_str();
  command->add_option("--device", arguments->device, "where the model runs")->capture_default_str();
  add_shape_flag(*command, arguments->shapes);
  add_picture_flags(*command, arguments->picture);
  add_limit_flags(*command, arguments->limits);
  add_compile_flags(*command, arguments->flags);
  choose(*command, std::move(arguments), run_model, line);
}

// Adds the options that define the load to measure, and its duration.
void add_load_flags(CLI::App& command, BenchArguments& arguments) {
  command
      .add_option("--scenario", arguments.scenario,
                  "how jobs are issued, in the terms of MLPerf; without it, latency and throughput "
                  "are measured in brief")
      ->check(CLI::IsMember({"single-stream", "multi-stream", "offline", "server"}));
  command.add_option("-n,--iterations", arguments.iterations, "number of measured jobs")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  command
      .add_option("--duration", arguments.duration_seconds,
                  "with --scenario: seconds for which jobs are issued, instead of --iterations")
      ->check(CLI::Range(0.001, 86'400.0));
  command.add_option("--warmup", arguments.warmup, "number of jobs before the measured ones")
      ->capture_default_str();
  command
      .add_option("--in-flight", arguments.in_flight,
                  "jobs in flight: kept submitted (offline), in one query (multi-stream), or at "
                  "most (server). 0: 2 per lane for offline, 8 for multi-stream, 4 per lane and at "
                  "least 8 for server, 2 without --scenario; single-stream always has 1")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command
      .add_option("--qps", arguments.queries_per_second,
                  "with --scenario server: mean arrival rate in jobs per second (Poisson arrivals)")
      ->check(CLI::Range(0.001, 1e9));
  command.add_option("--seed", arguments.seed,
                     "with --scenario server: seed of the random arrival times; 1 if not given");
  command
      .add_option("--lanes,--threads", arguments.lanes,
                  "lanes of the device; 0: MILLRACE_LANES, or the core budget")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

void add_bench_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("bench", "Measure latency and throughput of a model");
  auto arguments = std::make_shared<BenchArguments>();
  command->add_option("model", arguments->model, kModel)->required();
  add_load_flags(*command, *arguments);
  command->add_option("--view", arguments->view, "view of the tensors")
      ->check(CLI::IsMember({"cpu", "hw"}))
      ->capture_default_str();
  command->add_option("--device", arguments->device, "where the model runs")->capture_default_str();
  add_shape_flag(*command, arguments->shapes);
  command
      ->add_option_function<std::string>(
          "--json",
          [arguments](const std::string& file) {
            arguments->json = true;
            arguments->json_file = file;
          },
          "print one line of JSON instead of the text, or write it to a file besides the text")
      ->expected(0, 1)
      ->check([](const std::string& file) {
        const bool is_model = file.ends_with(".rai") || file.ends_with(".onnx");
        return is_model ? file + " is a model: put --json after it" : std::string();
      })
      ->type_name("[FILE]");
  command->add_option("--plot", arguments->plot,
                      "with --scenario: an .svg file with the latencies by percentile and time");
  add_limit_flags(*command, arguments->limits);
  add_compile_flags(*command, arguments->flags);
  choose(*command, std::move(arguments), run_bench, line);
}

void add_explain_command(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("explain", "Show which kernel runs each operator, where, and why");
  auto arguments = std::make_shared<ExplainArguments>();
  command->add_option("model", arguments->model, kModel)->required();
  command->add_option("--device", arguments->device, "where the model runs")->capture_default_str();
  add_shape_flag(*command, arguments->shapes);
  auto* const profile = command->add_flag(
      "--profile", arguments->profile, "run the model on random inputs and show the time shares");
  command->add_option("--runs", arguments->runs, "with --profile: measured runs")
      ->needs(profile)
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "machine-readable output");
  add_compile_flags(*command, arguments->flags);
  choose(*command, std::move(arguments), run_explain, line);
}

void add_tune_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "tune", "Measure the candidate kernels of a model on this processor, and record their times");
  command->footer("Programs choose kernels by the record that MILLRACE_TUNING names.");
  auto arguments = std::make_shared<TuneArguments>();
  command->add_option("model", arguments->model, kModel)->required();
  command->add_option("-o,--record", arguments->record,
                      "the file to add the times to, which may have those of other models; "
                      "MODEL.tuning if not given");
  add_shape_flag(*command, arguments->shapes);
  command
      ->add_option("--runs", arguments->runs,
                   "number of measured runs of the model with the record, and of those without")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  add_compile_flags(*command, arguments->flags);
  choose(*command, std::move(arguments), run_tune, line);
}

void add_shard_command(CLI::App& app, CommandLine& line) {
  // A generous bound: attention is divided by heads, and models have fewer.
  constexpr uint32_t kMostRanks = 1024;
  CLI::App* command =
      app.add_subcommand("shard", "Divide a transformer among ranks that run it together");
  command->footer("Each rank compiles and runs its own file: docs/shard.md.");
  auto arguments = std::make_shared<ShardArguments>();
  command->add_option("model", arguments->onnx, "the .onnx file")->required();
  command
      ->add_option("--tensor-parallel", arguments->ranks,
                   "number of ranks; each has a part of the weights of every layer")
      ->required()
      ->check(CLI::Range(2U, kMostRanks));
  command->add_option("-o,--output-dir", arguments->output_dir, "the folder to write the files to")
      ->capture_default_str();
  command->add_option("--input-shape", arguments->input_shapes,
                      "fixes open dimensions of an input, as NAME=1,128");
  choose(*command, std::move(arguments), run_shard, line);
}

void add_compare_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "compare", "Compare the inner values of two compilations, or of one and a reference");
  command->footer("Exit codes: 0 all within the threshold, 1 some beyond, 2 cannot compare.");
  auto arguments = std::make_shared<CompareArguments>();
  command->add_option("model", arguments->model, kModel)->required();
  command->add_option("other", arguments->other, "another compilation of the model");
  command->add_option("--reference", arguments->reference,
                      "instead of another compilation: a folder with VALUE.npy for each value to "
                      "compare");
  command
      ->add_option("-i,--input", arguments->inputs,
                   "NAME=FILE (.npy, otherwise raw bytes); FILE if there is one input")
      ->required();
  add_shape_flag(*command, arguments->shapes);
  command
      ->add_option("--threshold", arguments->threshold,
                   "greatest error, relative to the greatest magnitude of the other side's value")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--device", arguments->device, "where the models run")->capture_default_str();
  command->add_flag("--json", arguments->json, "machine-readable output");
  add_compile_flags(*command, arguments->flags);
  command->callback([arguments, &line] {
    line.failure_code = kCompareCannotCompare;
    line.action = [arguments] { return run_compare(*arguments); };
  });
}

void add_evaluate_command(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("evaluate", "Measure how often a classifier is right on labelled data");
  auto arguments = std::make_shared<EvaluateArguments>();
  command->add_option("model", arguments->model, kModel)->required();
  command
      ->add_option("--data", arguments->data,
                   "folders and files: pictures, .npy and .bin; NAME=SOURCE if the model has "
                   "several inputs")
      ->required();
  auto* const labels = command->add_option(
      "--labels", arguments->labels,
      "rows of file and class, or a .npy file of classes in order, or the list of classes that "
      "folders are named after");
  command->add_option("--classes", arguments->classes, "the list of classes that --labels names")
      ->needs(labels);
  command->add_option("--against", arguments->against,
                      "other compilations, to be compared with the model");
  command->add_option("--output", arguments->output, "the output that has the scores");
  command->add_option("--top", arguments->top, "K of the top-K accuracy, reported besides top-1")
      ->check(CLI::Range(1U, 1'000'000U))
      ->capture_default_str();
  command
      ->add_option("--limit", arguments->limit,
                   "greatest number of samples, evenly spaced over the data; 0: all of them")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--device", arguments->device, "where the models run")->capture_default_str();
  add_shape_flag(*command, arguments->shapes);
  add_picture_flags(*command, arguments->picture);
  command->add_flag("--json", arguments->json, "machine-readable output");
  add_compile_flags(*command, arguments->flags);
  choose(*command, std::move(arguments), run_evaluate, line);
}

void add_golden_inputs(CLI::App& command, GoldenArguments& arguments) {
  CLI::Option_group* inputs = command.add_option_group("inputs");
  inputs->add_option("-i,--input", arguments.inputs,
                     "NAME=FILE (.npy, otherwise raw bytes); FILE if there is one input");
  inputs->add_option("--inputs-from", arguments.inputs_from,
                     "directory with NAME.bin or NAME.npy for every input");
  inputs->require_option(1);
}

void add_golden_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "golden", "Compare output files from a board with the outputs of the software NPU");
  command->footer("Exit codes: 0 equal within the tolerance, 1 different, 2 cannot compare.");
  auto arguments = std::make_shared<GoldenArguments>();
  command->add_option("model", arguments->model, kModel)->required();
  command
      ->add_option("directory", arguments->directory,
                   "the folder to which the sample programs wrote their outputs")
      ->required();
  add_golden_inputs(*command, *arguments);
  add_shape_flag(*command, arguments->shapes);
  command->add_option("--view", arguments->view, "view of outputs whose file names do not say it")
      ->check(CLI::IsMember({"cpu", "hw"}));
  command->add_option("--input-view", arguments->input_view, "view of raw inputs")
      ->check(CLI::IsMember({"cpu", "hw"}));
  command
      ->add_option("--tolerance", arguments->tolerance_steps,
                   "greatest difference of elements, in steps: the scale of a quantised output, "
                   "otherwise the resolution of its type")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--device", arguments->device, "where the model runs")->capture_default_str();
  command->add_flag("--json", arguments->json, "machine-readable output");
  add_compile_flags(*command, arguments->flags);
  command->callback([arguments, &line] {
    line.failure_code = kGoldenCannotCompare;
    line.action = [arguments] { return run_golden(*arguments); };
  });
}

void add_conformance_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("conformance", "Run the ONNX backend tests");
  command->footer(
      "Exit codes: 0 no case failed (it may be unsupported), 1 some failed, 2 cannot run them.");
  auto arguments = std::make_shared<ConformanceArguments>();
  command
      ->add_option("--onnx-tests", arguments->onnx_tests,
                   "the folder that holds the folders node, simple and so on")
      ->required();
  command->add_option("--junit", arguments->junit, "write a JUnit file");
  command->add_option("--table", arguments->table, "write the results by operator, in Markdown");
  command->add_option("--filter", arguments->filter,
                      "only cases that match the pattern, as 'node/test_abs*' or '*_expanded'");
  command->add_option("--exclude", arguments->exclude,
                      "a text file of cases to leave out: one line each with name and reason");
  command
      ->add_option("--jobs", arguments->jobs,
                   "number of cases to run at a time; 0: as many as there are cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command->add_option("--time-limit", arguments->time_limit, "time limit of each case, as 30s")
      ->capture_default_str();
  command->callback([arguments, &line] {
    line.failure_code = kConformanceCannotRun;
    line.action = [arguments] { return run_conformance(*arguments); };
  });
}

void add_doctor_command(CLI::App& app, CommandLine& line) {
  choose(*app.add_subcommand("doctor", "Show what this machine offers and whether devices open"),
         run_doctor, line);
}

void add_env_command(CLI::App& app, CommandLine& line) {
  choose(
      *app.add_subcommand(
          "env", "Print shell settings for building against this build: eval \"$(millrace env)\""),
      run_env, line);
}

// Returns the message of a usage error. If the first word is no command, CLI11 says only that a
// command is missing; the message then names the word and the commands.
std::string problem_of(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (!app.get_subcommands().empty() || word.empty() || word.starts_with('-')) return error.what();
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return fmt::format("there is no command \"{}\"; the commands are {}", word,
                     fmt::join(names, ", "));
}

}  // namespace

CommandLine parse_command_line(int argc, char** argv) {
  CLI::App app(
      "Compile, inspect and run neural networks on the software NPU. The archives are for "
      "programs of the VART-ML API (libvart-ml.so), of the NRT API (libnrt.so.1, instead of "
      "NEFFs) and of Millrace's own.",
      "millrace");
  app.set_version_flag("--version", MILLRACE_VERSION);
  app.require_subcommand(1);
  CommandLine line;
  add_compile_command(app, line);
  add_inspect_command(app, line);
  add_run_command(app, line);
  add_bench_command(app, line);
  add_shard_command(app, line);
  add_compare_command(app, line);
  add_evaluate_command(app, line);
  add_explain_command(app, line);
  add_tune_command(app, line);
  add_golden_command(app, line);
  add_conformance_command(app, line);
  add_doctor_command(app, line);
  add_env_command(app, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0)
      app.exit(error);  // prints the help or the version
    else
      line.usage_error =
          fmt::format("{} (see millrace --help)", problem_of(app, error, argc, argv));
    line.action = nullptr;
  }
  return line;
}

}  // namespace millrace::cli
