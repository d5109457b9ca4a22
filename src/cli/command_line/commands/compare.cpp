#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/picture_options.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_compare_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand(
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

}  // namespace millrace::cli
