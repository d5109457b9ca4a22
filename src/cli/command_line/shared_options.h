// Options that several commands have. Each function adds them to a command, with the variables that
// the parser fills. One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "cli/model_source.h"
#include "cli/quantise/calibration_flags.h"
#include "cli/supervision/limits.h"

namespace millrace::cli {

// The model, which each command takes that accepts archives and .onnx files.
CLI::Option* add_model(CLI::App& command, std::string& model);
// An option that takes names, separated by commas or as repeated options.
CLI::Option* add_names(CLI::App& command, const char* name, std::vector<std::string>& names,
                       const char* description);
// The options of the compiler. The names of those that are given go into `flags.given`, since
// archives do not take them. A command has one function that is called once it is parsed, so this
// takes what else is to be done then.
void add_compile_flags(CLI::App& command, CompileFlags& flags,
                       std::function<void()> once_parsed = {});
void add_input_shape_flag(CLI::App& command, std::vector<std::string>& shapes,
                          std::vector<CLI::Option*>* options = nullptr);
CLI::Option* add_shape_flag(CLI::App& command, std::vector<std::string>& shapes);
void add_limit_flags(CLI::App& command, LimitFlags& limits);
void add_calibration_flags(CLI::App& command, CalibrationFlags& flags);
void add_device_flag(CLI::App& command, std::string& device);
void add_json_flag(CLI::App& command, bool& json);
// -i, --input: the files that are the inputs of the model.
CLI::Option* add_input_flag(CLI::App& command, std::vector<std::string>& inputs);

}  // namespace millrace::cli
