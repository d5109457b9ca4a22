#include "cli/command_line/commands/definitions.h"

#include <limits>
#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/picture_options.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_evaluate_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand(
      "evaluate", "Measure how often a classifier is right on labelled data");
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

}  // namespace millrace::cli
