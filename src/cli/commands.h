// The commands of `millrace`: the arguments that each takes from the command line, and the function
// that runs it. Members mean what the help text of their option says (command_line.cpp).
//
// A command prints its results to standard output and returns a Status; main() alone prints errors.
// Commands are run by the main thread, one per process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/data/picture_flags.h"
#include "cli/model_source.h"
#include "cli/quantise/calibration_flags.h"
#include "cli/supervision/limits.h"

namespace millrace::cli {

struct CompileArguments {
  OnnxSource onnx;
  std::string output;
  std::string format = "rai";
  std::string config;                    // configuration of the board's compiler; empty: none
  std::vector<std::string> profiles;     // NAME:x=1,3,224,224;y=...
  std::string dump_passes;               // a folder for the graph after each pass; empty: none
  std::string emit_qdq;                  // an .onnx file for the optimised graph; empty: none
  CalibrationFlags calibration;          // for --precision int8 and auto
  bool tune = false;                     // tunes the archive after it is written, as `tune` does
  std::vector<std::string> tune_shapes;  // shapes of open inputs for --tune: NAME=1,3,224,224
  CompileFlags flags;
};

struct InspectArguments {
  std::string model;
  std::string graph;  // a .dot file or a picture for the graph; empty: none
  bool json = false;
  CompileFlags flags;
};

struct RunArguments {
  std::string model;
  std::vector<std::string> inputs;
  CompileFlags flags;
  std::string device = "cpu";
  std::string view = "cpu";
  std::string output_dir;
  std::string output_format = "bin";  // or "npy"
  std::string labels;
  std::string draw;                      // a picture for the boxes of a detector; empty: none
  double least_score = 0.5;              // of a box, with `draw`
  std::vector<std::string> save_inputs;  // files for the inputs that pictures became
  bool json = false;
  uint32_t top = 0;
  std::vector<std::string> shapes;  // shapes of open inputs: NAME=1,3,224,224
  PictureFlags picture;
  LimitFlags limits;
};

struct BenchArguments {
  std::string model;                // empty: `models` instead
  std::vector<std::string> models;  // FILE:rate=20,priority=1,in-flight=4; empty: `model` instead
  std::string url;                  // of a server, whose model `models` names; empty: none
  std::vector<std::string> local;   // options that were given, and are not for `url`
  uint32_t retries = 0;             // with `url`: how often a request is sent again
  std::string tls_ca;  // with `url`: a file with authorities; empty: those of the system
  CompileFlags flags;
  std::string device = "cpu";
  std::string view = "cpu";
  std::vector<std::string> shapes;
  std::string scenario;  // empty: single-stream, then offline, in brief
  uint32_t lanes = 0;
  uint32_t in_flight = 0;  // 0: the default of the scenario
  uint32_t warmup = 10;
  uint32_t iterations = 0;        // 0: not given
  double duration_seconds = 0;    // 0: `iterations` jobs instead or, without those, three seconds
  double queries_per_second = 0;  // rate of the server scenario; 0: not given
  std::optional<uint64_t> seed;   // seed of the arrival times; 1 if not given
  std::string sweep;              // "in-flight=1,2,4" or "qps=50,100"; empty: one run
  std::string find_rate;          // a condition, as "p99<20ms", to find a rate for; empty: none
  // Where the JSON goes: empty: nowhere; "-": to standard output, instead of the text; otherwise to
  // this file, besides the text.
  std::string json;
  std::string plot, csv;            // empty: none
  std::vector<std::string> inputs;  // empty: random elements
  PictureFlags picture;
  LimitFlags limits;
};

struct ExplainArguments {
  std::string model;
  CompileFlags flags;
  std::string device = "cpu";
  bool profile = false;
  std::vector<std::string> shapes;
  uint32_t runs = 20;   // measured runs, with `profile`
  std::string against;  // another compilation, whose times to compare, with `profile`; empty: none
  bool json = false;
};

struct TuneArguments {
  std::string model;
  std::string record;  // the file for the times; empty: record_beside() the model
  std::vector<std::string> shapes;
  uint32_t runs = 15;  // measured runs of the model with the record, and of those without
  CompileFlags flags;
};

// The device whose kernels `tune` measures.
inline constexpr const char* kTunedDevice = "cpu";

struct ShardArguments {
  std::string onnx;
  uint32_t ranks = 0;
  std::string output_dir = ".";
  std::vector<std::string> input_shapes;  // NAME=1,3,224,224
};

struct EvaluateArguments {
  std::string model;
  std::vector<std::string> against;  // other models, compared with `model`
  std::vector<std::string> data;
  std::string labels, classes;  // empty: none
  std::string output;           // the one with the scores; empty: the only one that may have them
  uint32_t top = 5;
  size_t limit = 0;  // greatest number of samples; 0: all
  PictureFlags picture;
  std::vector<std::string> shapes;
  std::string device = "cpu";
  bool json = false;
  CompileFlags flags;
};

struct GoldenArguments {
  std::string model;
  std::string directory;             // with output files; empty: `outputs` instead
  std::vector<std::string> outputs;  // NAME=FILE; empty: `directory` instead
  std::vector<std::string> inputs;
  std::string inputs_from;
  std::string view, input_view;  // empty: as the names and sizes of the files say
  std::vector<std::string> shapes;
  // A tolerance that is not given has no effect. If none is given, elements must be equal.
  std::optional<double> tolerance_steps, relative_tolerance, absolute_tolerance, cosine;
  std::string junit;  // a file for a CI system; empty: none
  PictureFlags picture;
  std::string device = "cpu";
  bool json = false;
  CompileFlags flags;
};

struct CompareArguments {
  std::string model;
  std::string other;      // the second model; empty: `reference` instead
  std::string reference;  // a folder of NAME.npy; empty: `other` instead
  std::vector<std::string> inputs;
  std::vector<std::string> shapes;
  double threshold = 1e-3;
  PictureFlags picture;
  std::string device = "cpu";
  bool json = false;
  CompileFlags flags;
};

struct TraceArguments {
  std::string output = "trace.json";
  bool processes = false;            // of all processes that the program starts
  bool merge = false;                // puts files together, instead of running a program
  std::vector<std::string> command;  // a program and its arguments; with `merge` the files
};

struct CheckArguments {
  std::string json;                  // a file for the findings; empty: none
  uint32_t exit_code = 0;            // when something was found; 0: that of the program
  bool strict_sync = false;          // with MILLRACE_STRICT_SYNC
  std::vector<std::string> command;  // a program and its arguments
};

struct TopArguments {
  double interval = 1;  // seconds
  bool once = false, json = false;
  uint32_t pid = 0;  // 0: all processes
};

struct FaultsArguments {
  std::string text;         // a fault plan, as MILLRACE_FAULTS has it
  bool transfers = false;   // as MILLRACE_TRANSFER_FAULTS has it
  uint32_t jobs = 0;        // how many jobs to list the faults of
  std::string unit, model;  // of these jobs; empty: names that no rule has
};

struct ReplayArguments {
  std::string folder;
  bool in_time = false;  // at the recorded times; otherwise as fast as the device can
  std::string device = "cpu";
  std::optional<double> relative_tolerance, absolute_tolerance;
  double timeout_seconds = 60;  // of a job without progress
  bool json = false;
};

struct PaceArguments {
  std::vector<std::string> logs;   // of the device whose pace it is
  std::vector<std::string> times;  // as NAME=MEAN or NAME=MEAN,P99
  std::string device, bandwidth;   // empty: not stated
  uint32_t lanes = 0;              // 0: not stated
  std::string output;
};

struct SimulateArguments {
  std::string profile;                // the path of a profile of a pace
  std::string model;                  // empty: the only one of the profile
  std::string per_second, in_flight;  // lists of loads; one of them is not empty
  std::string arrivals = "poisson", when_full = "block";
  uint32_t lanes = 0;  // 0: those of the profile, or 1
  uint32_t units = 0;  // 0: as many as there are lanes
  uint32_t depth = 32, ranks = 1;
  uint32_t jobs = 10'000;
  uint64_t seed = 1;
  std::string plot;  // an SVG file; empty: none
  bool json = false;
};

struct ConformanceArguments {
  std::string onnx_tests;
  std::string junit, table, filter, exclude;  // empty: none
  std::string time_limit = "60s";             // limit for one case
  uint32_t jobs = 0;                          // 0: as many as there are cores
};

// The exit codes of every command. A command that has done its work returns 0, or kDifferent if
// what it compared or tested does not hold: `compare`, `golden`, `replay` and `conformance`.
inline constexpr int kFailed = 1;
inline constexpr int kWrongCommandLine = 2;
inline constexpr int kDifferent = 3;
inline constexpr int kInterrupted =
    130;  // `bench`, after SIGINT, with what was measured until then

// Each check says what is wrong with a command line that its grammar allows: options that do not go
// together, or texts that are not what an option takes. Nothing is opened for that.
Status check_compile(const CompileArguments& arguments);
Status check_inspect(const InspectArguments& arguments);
Status check_run(const RunArguments& arguments);
Status check_bench(const BenchArguments& arguments);
Status check_evaluate(const EvaluateArguments& arguments);
Status check_explain(const ExplainArguments& arguments);
Status check_tune(const TuneArguments& arguments);
Status check_shard(const ShardArguments& arguments);
Status check_compare(const CompareArguments& arguments);
Status check_golden(const GoldenArguments& arguments);
Status check_trace(const TraceArguments& arguments);
Status check_check(const CheckArguments& arguments);
Status check_top(const TopArguments& arguments);
Status check_conformance(const ConformanceArguments& arguments);
Status check_faults(const FaultsArguments& arguments);
Status check_pace(const PaceArguments& arguments);
Status check_simulate(const SimulateArguments& arguments);

Status run_compile(const CompileArguments& arguments);
Status run_inspect(const InspectArguments& arguments);
Status run_model(const RunArguments& arguments);
Result<int> run_bench(const BenchArguments& arguments);  // the exit code
Status run_evaluate(const EvaluateArguments& arguments);
Status run_explain(const ExplainArguments& arguments);
Status run_tune(const TuneArguments& arguments);
Status run_shard(const ShardArguments& arguments);
Status run_faults(const FaultsArguments& arguments);
Status run_pace(const PaceArguments& arguments);
Status run_simulate(const SimulateArguments& arguments);
Status run_top(const TopArguments& arguments);
Result<int> run_compare(const CompareArguments& arguments);          // the exit code
Result<int> run_golden(const GoldenArguments& arguments);            // the exit code
Result<int> run_replay(const ReplayArguments& arguments);            // the exit code
Result<int> run_trace(const TraceArguments& arguments);              // the exit code
Result<int> run_check(const CheckArguments& arguments);              // the exit code
Result<int> run_conformance(const ConformanceArguments& arguments);  // the exit code
// Becomes the program that serves models, with the arguments after the name of the command. Returns
// only on failure.
Status run_serve(const std::vector<std::string>& words);
Status run_doctor();
Status run_env();

}  // namespace millrace::cli
