// The command line of ml_vart.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

struct Arguments {
  std::string app_config;  // empty with --get-model-info
  std::string model_info;  // the model to describe; empty: run the application
  int runs = 1;
  std::optional<std::size_t> frames;  // at most so many; none: all that the files hold
  bool benchmark = false;
  bool dry_run = false;
  int log_level = 2;  // 1 errors, 2 and warnings, 3 and information, up to 6
};

// Empty, with the reason and the usage on standard error, for a command line that makes no sense;
// also empty after --help.
std::optional<Arguments> parse_arguments(int argc, char** argv);
