#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_tune_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand(
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

}  // namespace millrace::cli
