// The command line that vart_multi_tenancy and vart_multimodel_seq have in common.
#pragma once

#include <optional>
#include <string>

namespace samples {

struct MultiModelArguments {
  std::string config;  // a JSON file, see model_config.hpp
  int runs = 1;
  bool benchmark = false;
  bool dry_run = false;
  int log_level = 2;  // 0 errors, 1 and warnings, 2 and information
};

// Returns nothing after --help, which it prints. Throws std::runtime_error, or an exception of the
// option parser, for a command line that makes no sense.
std::optional<MultiModelArguments> parse_multi_model_arguments(int argc, char** argv);

// Progress messages, as far as --log-level asks for them: information on standard
// output, warnings on standard error.
void log_info(const MultiModelArguments& arguments, const std::string& message);
void log_warning(const MultiModelArguments& arguments, const std::string& message);

}  // namespace samples
