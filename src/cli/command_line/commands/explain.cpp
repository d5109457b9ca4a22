#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_explain_command(CLI::App& program, CommandLine& line) {
  CLI::App* command =
      program.add_subcommand("explain", "Show which kernel runs each operator, where, and why");
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

}  // namespace millrace::cli
