// The command line of vart_infer_async.
#pragma once

#include <optional>
#include <string>

struct Arguments {
  std::string model_path;
  std::string input_binary;  // empty with --dry-run
  int iterations = 10;
  bool dry_run = false;
  bool benchmark = false;
  std::string input_tensor_type = "HW";  // "HW" or "CPU"
  std::string output_tensor_type = "HW";
};

// Empty after --help, which it prints. Throws std::runtime_error, or an exception of the option
// parser, for a command line that makes no sense.
std::optional<Arguments> parse_arguments(int argc, char** argv);
