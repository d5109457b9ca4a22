#include "cli/command_line/shared_options.h"

#include <utility>

#include "cli/command_line/option_kinds.h"
#include "cli/command_line/picture_options.h"
#include "compiler/compiler.h"

namespace millrace::cli {
namespace {

constexpr const char* kCompileGroup = "Compiling, for .onnx files";
constexpr const char* kCalibrationGroup = "With --precision int8 or auto";

}  // namespace

CLI::Option* add_model(CLI::App& command, std::string& model) {
  CLI::Option* option =
      command.add_option("model", model, "a .rai file, an archive directory, or an .onnx file");
  return taking(option, "FILE")->required();
}

CLI::Option* add_names(CLI::App& command, const char* name, std::vector<std::string>& names,
                       const char* description) {
  return taking(command.add_option(name, names, description)->delimiter(','), "NAMES");
}

void add_input_shape_flag(CLI::App& command, std::vector<std::string>& shapes,
                          std::vector<CLI::Option*>* options) {
  CLI::Option* const option =
      taking(command.add_option("--input-shape", shapes,
                                "fixes open dimensions of an input, as NAME=1,3,224,224; ? keeps a "
                                "dimension open"),
             "NAME=SHAPE");
  if (options != nullptr) options->push_back(option);
}

void add_compile_flags(CLI::App& command, CompileFlags& flags, std::function<void()> once_parsed) {
  std::vector<CLI::Option*> options = {
      as_count(command.add_option("--batch", flags.batch, "greatest number of frames in one job"),
               1, compiler::kMostFrames)
          ->capture_default_str(),
      as_choice(command.add_option("--precision", flags.precision,
                                   "precision in which the program computes"),
                {"fp32", "bf16", "fp16", "int8", "auto"})
          ->capture_default_str(),
      taking(command.add_option("--hw-layout", flags.hw_layouts,
                                "layout of the HW view of an input or output, as NAME=NHWC or "
                                "NAME=GENERIC:0,2,3,1"),
             "NAME=LAYOUT"),
      as_choice(command.add_option("--hw-quantisation", flags.hw_quantisation,
                                   "HW views of quantised inputs and outputs: vendor (INT8, zero "
                                   "point 0, a power of two as scale) or model (as the model "
                                   "quantises them)"),
                {"vendor", "model"})
          ->capture_default_str(),
      add_names(command, "--cpu-ops", flags.cpu_operators,
                "names of operators and nodes to run on the CPU instead of the NPU, as "
                "Softmax,Gemm,/head/Add_1"),
      add_names(command, "--full-precision", flags.full_precision,
                "names of operators and nodes to compute in FP32 in a BF16 or FP16 program")};
  add_input_shape_flag(command, flags.input_shapes, &options);
  for (CLI::Option* option : options) option->group(kCompileGroup);
  command.parse_complete_callback(
      [options = std::move(options), once_parsed = std::move(once_parsed), &flags] {
        for (const CLI::Option* option : options)
          if (option->count() > 0) flags.given.push_back(option->get_name());
        if (once_parsed) once_parsed();
      });
}

CLI::Option* add_shape_flag(CLI::App& command, std::vector<std::string>& shapes) {
  return taking(
      command.add_option("--shape", shapes,
                         "dimensions of an input that the model leaves open, as NAME=1,3,480,640"),
      "NAME=SHAPE");
}

void add_limit_flags(CLI::App& command, LimitFlags& limits) {
  taking(command.add_option("--memory-limit", limits.memory,
                            "greatest amount of memory that the model may use, as 2GiB"),
         "SIZE");
  taking(command.add_option("--time-limit", limits.time,
                            "greatest time for the whole run, loading included, as 30s"),
         "TIME");
  command.add_flag("--sandbox", limits.sandbox,
                   "load and run in a child process that can only read, compute and report");
}

void add_calibration_flags(CLI::App& command, CalibrationFlags& flags) {
  const auto add = [&](const char* name, auto& value, const char* description) {
    return command.add_option(name, value, description)->group(kCalibrationGroup);
  };
  const auto add_flag = [&](const char* name, bool& value, const char* description) {
    command.add_flag(name, value, description)->group(kCalibrationGroup);
  };
  taking(add("--calibrate", flags.data,
             "a folder or file with typical inputs: pictures, .npy, .bin; NAME=SOURCE if the model "
             "has several inputs"),
         "SOURCE");
  as_count(add("--calibrate-samples", flags.samples,
               "greatest number of samples, evenly spaced over the data"),
           1, 100'000)
      ->capture_default_str();
  as_choice(add("--calibrate-method", flags.method,
                "how quantisation ranges are chosen from the values of the samples"),
            {"minmax", "percentile", "mse", "entropy"})
      ->capture_default_str();
  add_names(command, "--keep", flags.keep,
            "names of operators and nodes to keep in floating point (auto: in FP32), as "
            "Softmax,/head/Conv_1")
      ->group(kCalibrationGroup);
  taking(add("--accuracy-target", flags.accuracy_target,
             "greatest error of the outputs, as 1%: the layers that lose most are kept in a higher "
             "precision"),
         "SHARE");
  taking(add("--report", flags.report,
             "an .html file to write: the precision chosen for each layer, and its loss"),
         "FILE");
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

void add_device_flag(CLI::App& command, std::string& device) {
  taking(command.add_option("--device", device, "where the model runs"), "DEVICE")
      ->capture_default_str();
}

void add_json_flag(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "machine-readable output");
}

CLI::Option* add_input_flag(CLI::App& command, std::vector<std::string>& inputs) {
  return taking(
      command.add_option("-i,--input", inputs,
                         "a picture, a .npy file, raw bytes, or a folder of these; NAME=SOURCE if "
                         "the model has several inputs; repeated, further frames"),
      "SOURCE");
}

}  // namespace millrace::cli
