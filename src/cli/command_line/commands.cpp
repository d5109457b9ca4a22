// One function per command. Each command gets an object of arguments, which the parser fills and
// which the action of the command line keeps alive until it runs.
#include "cli/command_line/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <utility>
#include <vector>

#include "cli/command_line/option_kinds.h"
#include "cli/command_line/picture_options.h"
#include "cli/command_line/serve_options.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {
namespace {

constexpr const char* kUsualExits = "0 success, 1 failure, 2 wrong command line";

template <typename Arguments>
using Check = Status (*)(const Arguments&);

// Ends the help of the command with examples of it, and with its exit codes.
void show_by_example(CLI::App& command, const std::vector<std::string>& examples,
                     const char* exit_codes = kUsualExits, const char* note = "") {
  std::string footer;
  if (*note != 0) footer += fmt::format("{}\n\n", note);
  footer += examples.size() == 1 ? "Example:\n" : "Examples:\n";
  for (const std::string& example : examples) footer += fmt::format("  {}\n", example);
  command.footer(footer + fmt::format("\nExit codes: {}.", exit_codes));
}

// If `command` is chosen, sets the action of `line` to `run` on the arguments, unless the check
// finds the command line wrong.
template <typename Arguments>
void choose(CLI::App& command, std::shared_ptr<Arguments> arguments, Check<Arguments> check,
            Result<int> (*run)(const Arguments&), CommandLine& line) {
  command.callback([arguments = std::move(arguments), check, run, &line] {
    const Status checked = check(*arguments);
    if (checked.ok())
      line.action = [arguments, run] { return run(*arguments); };
    else
      line.usage_error = checked.message();
  });
}

// Does the same for a command that returns no exit code but succeeds or fails.
template <typename Arguments, Status (*run)(const Arguments&)>
void choose(CLI::App& command, std::shared_ptr<Arguments> arguments, Check<Arguments> check,
            CommandLine& line) {
  choose<Arguments>(
      command, std::move(arguments), check,
      [](const Arguments& given) -> Result<int> {
        MILLRACE_RETURN_IF_ERROR(run(given));
        return 0;
      },
      line);
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

void add_tuning_flags(CLI::App& command, CompileArguments& arguments) {
  auto* const tune = command.add_flag(
      "--tune", arguments.tune,
      "measure the candidate kernels of the archive on this processor, as millrace tune does");
  add_shape_flag(command, arguments.tune_shapes)->needs(tune)->group("With --tune");
}

void add_compile_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("compile", "Compile an ONNX model to an archive");
  show_by_example(*command, {"millrace compile model.onnx -o model.rai --precision bf16",
                             "millrace compile model.onnx -o model.rai --precision int8 \\",
                             "    --calibrate photos --normalize imagenet"});
  auto arguments = std::make_shared<CompileArguments>();
  taking(command->add_option("model", arguments->onnx.path, "the .onnx file"), "FILE")->required();
  taking(command->add_option("-o,--output", arguments->output, "the archive to write"), "FILE")
      ->required();
  as_choice(command->add_option("--format", arguments->format,
                                "form of the archive: a file or a directory"),
            {"rai", "dir"})
      ->capture_default_str();
  taking(command->add_option("--config", arguments->config,
                             "JSON configuration of the board's compiler; flags take precedence"),
         "FILE");
  taking(
      command->add_option("--profile", arguments->profiles,
                          "input shapes with which APIs for static shapes load a dynamic model, as "
                          "NAME:x=1,3,224,224;y=1,10; the first profile is the default"),
      "PROFILE");
  taking(command->add_option("--dump-passes", arguments->dump_passes,
                             "a folder to write the graph to after the import and after each pass"),
         "DIR");
  taking(command->add_option("--emit-qdq", arguments->emit_qdq,
                             "an .onnx file to write for other runtimes: the optimised model, "
                             "quantised as the program is"),
         "FILE");
  add_tuning_flags(*command, *arguments);
  add_calibration_flags(*command, arguments->calibration);
  add_compile_flags(*command, arguments->flags);
  command->add_flag("--reference", arguments->flags.reference,
                    "compute quantised operators one by one, as the ONNX standard defines each");
  choose<CompileArguments, run_compile>(*command, std::move(arguments), check_compile, line);
}

void add_inspect_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("inspect", "Show what is in a model");
  show_by_example(*command, {"millrace inspect model.rai", "millrace inspect model.onnx --json",
                             "millrace inspect model.rai --graph model.svg"});
  auto arguments = std::make_shared<InspectArguments>();
  add_model(*command, arguments->model);
  taking(command->add_option("--graph", arguments->graph,
                             "a file for the graph: .svg, .png or .pdf, which Graphviz draws, or "
                             ".dot in its language"),
         "FILE");
  add_json_flag(*command, arguments->json);
  add_compile_flags(*command, arguments->flags);
  choose<InspectArguments, run_inspect>(*command, std::move(arguments), check_inspect, line);
}

// Adds the options that make files of the photo.
void add_drawing_flags(CLI::App& command, RunArguments& arguments) {
  auto* const draw = taking(
      command.add_option("--draw", arguments.draw,
                         "a .jpg or .png file to write: the photo with the boxes that a detector "
                         "found, which are printed, too"),
      "FILE");
  as_number(command.add_option("--least-score", arguments.least_score,
                               "with --draw: boxes with a lower score are left out"),
            0, 1)
      ->needs(draw)
      ->capture_default_str();
  taking(command.add_option(
             "--save-input", arguments.save_inputs,
             "a file to write what the model reads to: the bytes of the view or, as .npy, an "
             "array; NAME=FILE if the model has several inputs"),
         "FILE");
}

void add_run_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("run", "Run a model on files");
  show_by_example(*command,
                  {"millrace run model.rai --input photo.jpg --normalize imagenet \\",
                   "    --resize crop --top 5 --labels names.txt",
                   "millrace run detector.rai -i photo.jpg --normalize unit --draw boxes.jpg",
                   "millrace run model.rai -i photos --normalize unit --json",
                   "millrace run model.rai -i left=a.npy -i right=b.npy --output-dir out"});
  auto arguments = std::make_shared<RunArguments>();
  add_model(*command, arguments->model);
  add_input_flag(*command, arguments->inputs)->required();
  as_count(
      command->add_option("--top", arguments->top, "print the K highest values of every output"));
  taking(
      command->add_option("--labels", arguments->labels,
                          "with --top or --draw: a text file whose line i, from 0, names class i"),
      "FILE");
  add_drawing_flags(*command, *arguments);
  taking(command->add_option("--output-dir", arguments->output_dir,
                             "write every output there, as NAME.bin or NAME.npy"),
         "DIR");
  as_choice(command->add_option("--output-format", arguments->output_format,
                                "form of these files: bytes of the view, or NumPy arrays"),
            {"bin", "npy"})
      ->capture_default_str();
  add_json_flag(*command, arguments->json);
  as_choice(command->add_option("--view", arguments->view, "view of raw inputs and of outputs"),
            {"cpu", "hw"})
      ->capture_default_str();
  add_device_flag(*command, arguments->device);
  add_shape_flag(*command, arguments->shapes);
  add_picture_flags(*command, arguments->picture);
  add_limit_flags(*command, arguments->limits);
  add_compile_flags(*command, arguments->flags);
  choose<RunArguments, run_model>(*command, std::move(arguments), check_run, line);
}

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
                              "lanes of the device; 0: MILLRACE_LANES, or the core budget"),
           0, 1024)
      ->capture_default_str();
}

void add_bench_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("bench", "Measure latency and throughput of a model");
  show_by_example(*command,
                  {"millrace bench model.rai --scenario offline --duration 10s",
                   "millrace bench model.rai --scenario server --qps 120 --plot run.svg",
                   "millrace bench model.rai --find-rate 'p99<20ms' --csv runs.csv",
                   "millrace bench --model a.rai:rate=20,priority=1 --model b.rai"},
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
  add_compile_flags(*command, arguments->flags);
  choose<BenchArguments>(*command, std::move(arguments), check_bench, run_bench, line);
}

void add_explain_command(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("explain", "Show which kernel runs each operator, where, and why");
  show_by_example(*command, {"millrace explain model.rai --profile",
                             "millrace explain int8.rai --profile --against fp32.rai"});
  auto arguments = std::make_shared<ExplainArguments>();
  add_model(*command, arguments->model);
  add_device_flag(*command, arguments->device);
  add_shape_flag(*command, arguments->shapes);
  auto* const profile = command->add_flag(
      "--profile", arguments->profile, "run the model on random inputs and show the time shares");
  as_count(command->add_option("--runs", arguments->runs, "with --profile: measured runs"), 1,
           1'000'000)
      ->needs(profile)
      ->capture_default_str();
  taking(command->add_option("--against", arguments->against,
                             "with --profile: another compilation of the model, whose times are "
                             "shown beside these, node by node"),
         "FILE")
      ->needs(profile);
  add_json_flag(*command, arguments->json);
  add_compile_flags(*command, arguments->flags);
  choose<ExplainArguments, run_explain>(*command, std::move(arguments), check_explain, line);
}

void add_tune_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "tune", "Measure the candidate kernels of a model on this processor, and record their times");
  show_by_example(*command, {"millrace tune model.rai -o times"}, kUsualExits,
                  "Programs choose kernels by the record that MILLRACE_TUNING names.");
  auto arguments = std::make_shared<TuneArguments>();
  add_model(*command, arguments->model);
  taking(command->add_option(
             "-o,--record", arguments->record,
             "the file to add the times to, which may have those of other models; MODEL.tuning if "
             "not given"),
         "FILE");
  add_shape_flag(*command, arguments->shapes);
  as_count(command->add_option(
               "--runs", arguments->runs,
               "number of measured runs of the model with the record, and of those without"),
           1, 1'000'000)
      ->capture_default_str();
  add_compile_flags(*command, arguments->flags);
  choose<TuneArguments, run_tune>(*command, std::move(arguments), check_tune, line);
}

void add_shard_command(CLI::App& app, CommandLine& line) {
  // A generous bound: attention is divided by heads, and models have fewer.
  constexpr uint32_t kMostRanks = 1024;
  CLI::App* command =
      app.add_subcommand("shard", "Divide a transformer among ranks that run it together");
  show_by_example(*command, {"millrace shard bert.onnx --tensor-parallel 2 -o parts"}, kUsualExits,
                  "Each rank compiles and runs its own file: docs/shard.md.");
  auto arguments = std::make_shared<ShardArguments>();
  taking(command->add_option("model", arguments->onnx, "the .onnx file"), "FILE")->required();
  as_count(command->add_option("--tensor-parallel", arguments->ranks,
                               "number of ranks; each has a part of the weights of every layer"),
           2, kMostRanks)
      ->required();
  taking(command->add_option("-o,--output-dir", arguments->output_dir,
                             "the folder to write the files to"),
         "DIR")
      ->capture_default_str();
  add_input_shape_flag(*command, arguments->input_shapes);
  choose<ShardArguments, run_shard>(*command, std::move(arguments), check_shard, line);
}

void add_compare_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "compare", "Compare the inner values of two compilations, or of one and a reference");
  show_by_example(
      *command,
      {"millrace compare bf16.rai fp32.rai --input photo.npy",
       "millrace compare model.rai --reference values --input photo.npy"},
      "0 all within the threshold, 1 failure, 2 wrong command line, 3 some beyond the threshold");
  auto arguments = std::make_shared<CompareArguments>();
  add_model(*command, arguments->model);
  taking(command->add_option("other", arguments->other, "another compilation of the model"),
         "FILE");
  taking(command->add_option("--reference", arguments->reference,
                             "instead of another compilation: a folder with VALUE.npy for each "
                             "value to compare"),
         "DIR");
  add_input_flag(*command, arguments->inputs)->required();
  add_shape_flag(*command, arguments->shapes);
  as_number(command->add_option(
                "--threshold", arguments->threshold,
                "greatest error, relative to the greatest magnitude of the other side's value"),
            0)
      ->capture_default_str();
  add_picture_flags(*command, arguments->picture);
  add_device_flag(*command, arguments->device);
  add_json_flag(*command, arguments->json);
  add_compile_flags(*command, arguments->flags);
  choose<CompareArguments>(*command, std::move(arguments), check_compare, run_compare, line);
}

void add_evaluate_command(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("evaluate", "Measure how often a classifier is right on labelled data");
  show_by_example(*command, {"millrace evaluate model.rai --data photos --labels labels.csv \\",
                             "    --normalize imagenet --resize crop --against other.rai"});
  auto arguments = std::make_shared<EvaluateArguments>();
  add_model(*command, arguments->model);
  taking(command->add_option(
             "--data", arguments->data,
             "a folder or file: pictures, .npy and .bin; NAME=SOURCE if the model has several "
             "inputs"),
         "SOURCE")
      ->required();
  auto* const labels = taking(
      command->add_option(
          "--labels", arguments->labels,
          "rows of file and class, or a .npy file of classes in order, or the list of classes that "
          "folders are named after"),
      "FILE");
  taking(command->add_option("--classes", arguments->classes,
                             "the list of classes that --labels names"),
         "FILE")
      ->needs(labels);
  taking(command->add_option("--against", arguments->against,
                             "another compilation, to be compared with the model"),
         "FILE");
  taking(command->add_option("--output", arguments->output, "the output that has the scores"),
         "NAME");
  as_count(command->add_option("--top", arguments->top,
                               "K of the top-K accuracy, reported besides top-1"),
           1, 1'000'000)
      ->capture_default_str();
  as_count(command->add_option(
               "--limit", arguments->limit,
               "greatest number of samples, evenly spaced over the data; 0: all of them"),
           0, std::numeric_limits<uint64_t>::max());
  add_device_flag(*command, arguments->device);
  add_shape_flag(*command, arguments->shapes);
  add_picture_flags(*command, arguments->picture);
  add_json_flag(*command, arguments->json);
  add_compile_flags(*command, arguments->flags);
  choose<EvaluateArguments, run_evaluate>(*command, std::move(arguments), check_evaluate, line);
}

void add_golden_inputs(CLI::App& command, GoldenArguments& arguments) {
  CLI::Option_group* inputs = command.add_option_group("inputs");
  add_input_flag(*inputs, arguments.inputs);
  taking(inputs->add_option("--inputs-from", arguments.inputs_from,
                            "directory with NAME.bin or NAME.npy for every input"),
         "DIR");
  inputs->require_option(1);
}

void add_tolerances(CLI::App& command, GoldenArguments& arguments) {
  as_number(command.add_option(
                "--tolerance", arguments.tolerance_steps,
                "greatest difference of elements, in steps: the scale of a quantised output, "
                "otherwise the resolution of its type; 0 if no tolerance is given"),
            0);
  as_number(command.add_option("--rtol", arguments.relative_tolerance,
                               "elements may also differ by this share of the file's value, as "
                               "0.01, plus --atol"),
            0);
  as_number(command.add_option("--atol", arguments.absolute_tolerance,
                               "elements may also differ by this much, plus --rtol"),
            0);
  as_number(command.add_option("--cosine", arguments.cosine,
                               "least cosine of an output and its file; without another tolerance, "
                               "single elements may differ"),
            -1, 1);
}

void add_golden_outputs(CLI::App& command, GoldenArguments& arguments) {
  taking(command.add_option("directory", arguments.directory,
                            "the folder to which the sample programs, or millrace run, wrote "
                            "their outputs; with NAME.bin or NAME.npy for each output if another "
                            "program did"),
         "DIR");
  taking(command.add_option("--output", arguments.outputs,
                            "instead of a folder: the file of an output, .npy or raw; NAME=FILE if "
                            "the model has several, of which those named are compared"),
         "FILE");
}

void add_golden_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand(
      "golden", "Compare output files from a board with the outputs of the software NPU");
  show_by_example(*command,
                  {"millrace golden model.rai board_outputs --input ifm.bin --tolerance 1",
                   "millrace golden model.rai --output scores=ref.npy --input a.npy \\",
                   "    --rtol 0.01 --atol 1e-5 --junit report.xml"},
                  "0 equal within the tolerances, 1 failure, 2 wrong command line, 3 different");
  auto arguments = std::make_shared<GoldenArguments>();
  add_model(*command, arguments->model);
  add_golden_outputs(*command, *arguments);
  add_golden_inputs(*command, *arguments);
  add_shape_flag(*command, arguments->shapes);
  as_choice(command->add_option("--view", arguments->view,
                                "view of outputs whose file names do not say it"),
            {"cpu", "hw"});
  as_choice(command->add_option("--input-view", arguments->input_view, "view of raw inputs"),
            {"cpu", "hw"});
  add_tolerances(*command, *arguments);
  taking(command->add_option("--junit", arguments->junit, "write a JUnit file"), "FILE");
  add_picture_flags(*command, arguments->picture);
  add_device_flag(*command, arguments->device);
  add_json_flag(*command, arguments->json);
  add_compile_flags(*command, arguments->flags);
  choose<GoldenArguments>(*command, std::move(arguments), check_golden, run_golden, line);
}

void add_trace_command(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("trace", "Run a program, and write a timeline of its jobs");
  show_by_example(
      *command,
      {"millrace trace -- ./program model.rai",
       "millrace trace -o bench.html -- millrace bench model.rai"},
      "0 success, 1 failure, 2 wrong command line; otherwise that of the program, 128 + "
      "N if the signal N ended it",
      "The program may use any API of Millrace. A page needs a browser only; ui.perfetto.dev "
      "opens JSON: docs/timeline.md.");
  auto arguments = std::make_shared<TraceArguments>();
  taking(command->add_option("-o,--output", arguments->output,
                             "the file to write: NAME.json, or NAME.html for browsers"),
         "FILE")
      ->capture_default_str();
  taking(
      command->add_option("program", arguments->command, "the program and its arguments, after --"),
      "PROGRAM")
      ->required();
  choose<TraceArguments>(*command, std::move(arguments), check_trace, run_trace, line);
}

void add_check_command(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("check", "Run a program, and find its mistakes with jobs and memory");
  show_by_example(*command,
                  {"millrace check -- ./program model.rai",
                   "millrace check --exit-code 9 --json findings.json -- ./program model.rai"},
                  "0 success, 1 failure, 2 wrong command line; otherwise that of the program, 128 "
                  "+ N if the signal N ended it",
                  "The program may use any API of Millrace. docs/hazards.md shows each hazard in "
                  "a wrong and a right program.");
  auto arguments = std::make_shared<CheckArguments>();
  taking(
      command->add_option("--json", arguments->json, "write the findings, a line of JSON for each"),
      "FILE");
  as_count(command->add_option("--exit-code", arguments->exit_code,
                               "the exit code if anything was found"),
           1, 255);
  taking(
      command->add_option("program", arguments->command, "the program and its arguments, after --"),
      "PROGRAM")
      ->required();
  choose<CheckArguments>(*command, std::move(arguments), check_check, run_check, line);
}

void add_faults_command(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("faults", "Check and explain a plan of faults for MILLRACE_FAULTS");
  show_by_example(
      *command,
      {"millrace faults 'fail=3,slow=2ms'",
       "millrace faults 'slow:for=20ms,p=1%; seed=7' --jobs 500",
       "millrace faults 'fail:jobs=5-9,model=detector,status=NRT_EXEC_OOB'",
       "MILLRACE_FAULTS='fail=3,slow=2ms' ./program"},
      kUsualExits,
      "A plan has parts, which semicolons separate: rules, ACTION:KEY=VALUE,... with the keys of "
      "the action and those that select jobs, and settings, KEY=VALUE,...\n"
      "\n"
      "Actions of rules:\n"
      "  fail     fail instead of running;\n"
      "           status=CODE of Millrace, VART or NRT\n"
      "  degrade  fail as a broken device: DEVICE_FAILED\n"
      "  oom      fail with OUT_OF_MEMORY;\n"
      "           allocs=3: allocation 3 is refused instead\n"
      "  hang     block and cannot be stopped;\n"
      "           for=2s, otherwise for ever\n"
      "  slow     take longer; for=20ms\n"
      "  nan      run, then outputs are filled with NaN;\n"
      "           output=NAME, otherwise all\n"
      "  full     the call that submits a job finds a full queue\n"
      "\n"
      "Keys that select jobs:\n"
      "  jobs     jobs=7, jobs=5-9 or jobs=100-, counted from 1\n"
      "           in the order of acceptance\n"
      "  after    after=N: the jobs after the first N\n"
      "  every    every=N: every N-th of these\n"
      "  p        p=1%: each of these with that probability\n"
      "  model    model=NAME: jobs of that model\n"
      "  unit     unit=NAME: jobs of that unit,\n"
      "           which are counted on their own\n"
      "\n"
      "Settings:\n"
      "  fail=N, fail_every=N, status=CODE, hang=N,\n"
      "  hang_for=TIME, slow=TIME, fail_rate=P, hang_rate=P,\n"
      "  slow_rate=P, slow_for=TIME, seed=N\n"
      "\n"
      "The same plan strikes the same jobs in every run. docs/faults.md has more.");
  auto arguments = std::make_shared<FaultsArguments>();
  taking(command->add_option("plan", arguments->text, "the plan, in quotes"), "TEXT")->required();
  command->add_flag("--transfers", arguments->transfers,
                    "the plan is for MILLRACE_TRANSFER_FAULTS");
  as_count(command->add_option("--jobs", arguments->jobs,
                               "list what happens to each of the first N jobs or transfers"),
           1);
  taking(command->add_option("--unit", arguments->unit, "the unit of these jobs"), "NAME");
  taking(command->add_option("--model", arguments->model, "the model of these jobs"), "NAME");
  choose<FaultsArguments, run_faults>(*command, std::move(arguments), check_faults, line);
}

void add_pace_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("pace", "Make a profile of the times of another device");
  show_by_example(*command,
                  {"millrace pace --from system_profile_1.json -o board.json",
                   "millrace pace --time resnet50=2.1ms,3ms --lanes 4 -o board.json",
                   "MILLRACE_PACE=board.json ./program"},
                  kUsualExits,
                  "Logs are system traces of NRT and profiles of VART (ai_analyzer_profiling).\n"
                  "docs/pace.md has more.");
  auto arguments = std::make_shared<PaceArguments>();
  taking(command->add_option("-o,--output", arguments->output, "the profile to write"), "FILE")
      ->required();
  taking(command->add_option("--from", arguments->logs, "a log of the device (may be repeated)"),
         "FILE");
  taking(command->add_option("--time", arguments->times,
                             "time of a model: its mean, and its 99th percentile if it varies; "
                             "the name * is any other model (may be repeated)"),
         "NAME=MEAN,P99");
  taking(command->add_option("--device", arguments->device, "the device whose times these are"),
         "NAME");
  as_count(
      command->add_option("--lanes", arguments->lanes, "how many jobs that device runs at a time"),
      1, 1024);
  taking(command->add_option("--bandwidth", arguments->bandwidth,
                             "bytes per second of its transfers, as 8G"),
         "NUMBER");
  choose<PaceArguments, run_pace>(*command, std::move(arguments), check_pace, line);
}

void add_simulate_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("simulate", "Simulate loads on a device in virtual time");
  show_by_example(*command,
                  {"millrace simulate board.json --model resnet50 --qps 100,200,400",
                   "millrace simulate board.json --in-flight 1,2,4,8 --lanes 2",
                   "millrace simulate board.json --qps 300 --depth 4 --when-full refuse"});
  auto arguments = std::make_shared<SimulateArguments>();
  taking(command->add_option("profile", arguments->profile,
                             "times of a device, as millrace pace writes them"),
         "FILE")
      ->required();
  taking(command->add_option("--model", arguments->model,
                             "the model; needed if the profile has several"),
         "NAME");
  taking(command->add_option("--qps", arguments->per_second, "mean rates at which jobs arrive"),
         "LIST");
  taking(command->add_option("--in-flight", arguments->in_flight,
                             "numbers of jobs that are kept in flight"),
         "LIST");
  as_choice(command->add_option("--arrivals", arguments->arrivals,
                                "when jobs arrive: at random, or at equal distances"),
            {"poisson", "even"})
      ->capture_default_str();
  as_count(command->add_option("--lanes", arguments->lanes,
                               "how many jobs run at a time; otherwise as the profile says, or 1"),
           1, 1024);
  as_count(command->add_option("--units", arguments->units,
                               "queues, to which jobs go in turn; otherwise one for each lane"),
           1, 1024);
  as_count(command->add_option("--depth", arguments->depth,
                               "jobs that wait or run in each unit, at most"),
           1, 1'000'000)
      ->capture_default_str();
  as_choice(command->add_option("--when-full", arguments->when_full,
                                "what becomes of a job whose unit is full"),
            {"block", "refuse", "drop-oldest"})
      ->capture_default_str();
  as_count(command->add_option("--ranks", arguments->ranks, "devices that run each job together"),
           1, 1024)
      ->capture_default_str();
  as_count(command->add_option("-n,--jobs", arguments->jobs, "number of jobs of each load"), 1,
           10'000'000)
      ->capture_default_str();
  as_count(command->add_option("--seed", arguments->seed, "seed of arrivals and times"), 0)
      ->capture_default_str();
  taking(command->add_option("--plot", arguments->plot, "draw latency and use of the lanes as SVG"),
         "FILE");
  command->add_flag("--json", arguments->json, "print one line of JSON");
  choose<SimulateArguments, run_simulate>(*command, std::move(arguments), check_simulate, line);
}

void add_conformance_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("conformance", "Run the ONNX backend tests");
  show_by_example(*command, {"millrace conformance --onnx-tests /usr/share/libonnx-testdata/data"},
                  "0 no case failed (it may be unsupported), 1 failure, 2 wrong command line, 3 "
                  "some cases failed");
  auto arguments = std::make_shared<ConformanceArguments>();
  taking(command->add_option("--onnx-tests", arguments->onnx_tests,
                             "the folder that holds the folders node, simple and so on"),
         "DIR")
      ->required();
  taking(command->add_option("--junit", arguments->junit, "write a JUnit file"), "FILE");
  taking(command->add_option("--table", arguments->table,
                             "write the results by operator, in Markdown"),
         "FILE");
  taking(command->add_option("--filter", arguments->filter,
                             "only cases that match the pattern, as 'node/test_abs*' or "
                             "'*_expanded'"),
         "PATTERN");
  taking(command->add_option("--exclude", arguments->exclude,
                             "a text file of cases to leave out: one line each with name and "
                             "reason"),
         "FILE");
  as_count(command->add_option("--jobs", arguments->jobs,
                               "number of cases to run at a time; 0: as many as there are cores"),
           0, 1024)
      ->capture_default_str();
  taking(
      command->add_option("--time-limit", arguments->time_limit, "time limit of each case, as 30s"),
      "TIME")
      ->capture_default_str();
  choose<ConformanceArguments>(*command, std::move(arguments), check_conformance, run_conformance,
                               line);
}

// The options are checked here, and read again by the program that the command becomes.
void add_serve_command(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("serve", "Serve models over HTTP and gRPC");
  show_by_example(*command,
                  {"millrace serve mobilenet.onnx",
                   "millrace serve mobilenet.onnx --normalize imagenet --labels names.txt",
                   "millrace serve a.rai b.rai --address 0.0.0.0 --http-port 80"});
  const auto flags = std::make_shared<ServeFlags>();
  add_serve_options(*command, *flags);
  command->callback([flags, &line] {
    line.usage_error = serve_options(*flags).status().message();
    line.action = [words = line.words]() -> Result<int> {
      MILLRACE_RETURN_IF_ERROR(run_serve(words));
      return 0;
    };
  });
}

void add_doctor_command(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("doctor", "Show what this machine offers and whether devices open");
  show_by_example(*command, {"millrace doctor"});
  choose(*command, run_doctor, line);
}

void add_env_command(CLI::App& app, CommandLine& line) {
  CLI::App* command =
      app.add_subcommand("env", "Print shell settings for building against this build");
  show_by_example(*command, {"eval \"$(millrace env)\""});
  choose(*command, run_env, line);
}

}  // namespace

void add_commands(CLI::App& program, CommandLine& line) {
  add_compile_command(program, line);
  add_inspect_command(program, line);
  add_run_command(program, line);
  add_bench_command(program, line);
  add_shard_command(program, line);
  add_compare_command(program, line);
  add_evaluate_command(program, line);
  add_explain_command(program, line);
  add_tune_command(program, line);
  add_golden_command(program, line);
  add_faults_command(program, line);
  add_pace_command(program, line);
  add_simulate_command(program, line);
  add_trace_command(program, line);
  add_check_command(program, line);
  add_conformance_command(program, line);
  add_serve_command(program, line);
  add_doctor_command(program, line);
  add_env_command(program, line);
  take_one_argument_each(program);
}

}  // namespace millrace::cli
