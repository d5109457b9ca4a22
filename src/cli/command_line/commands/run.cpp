#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/picture_options.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {
namespace {

// Adds the options that make files of the photo.
void add_drawing_flags(CLI::App& command, RunArguments& arguments) {
  auto* const draw = taking(
      command.add_option("--draw", arguments.draw,
                         "a .jpg or .png file to write: the photo with the boxes, key points and "
                         "masks that a network found, which are printed, too"),
      "FILE");
  as_number(
      command.add_option("--least-score", arguments.least_score,
                         "with --draw: boxes, or a foreground, with a lower score are left out"),
      0, 1)
      ->needs(draw)
      ->capture_default_str();
  taking(command.add_option(
             "--save-input", arguments.save_inputs,
             "a file to write what the model reads to: the bytes of the view or, as .npy, an "
             "array; NAME=FILE if the model has several inputs"),
         "FILE");
}

}  // namespace

void add_run_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand("run", "Run a model on files");
  show_by_example(*command,
                  {"millrace run model.rai --input photo.jpg --normalize imagenet \\",
                   "    --resize crop --top 5 --labels names.txt",
                   "millrace run detector.rai -i photo.jpg --normalize unit --draw boxes.jpg",
                   "millrace run model.rai -i photos --normalize unit --json",
                   "millrace run model.rai -i left=a.npy -i right=b.npy --output-dir out"});
  auto arguments = std::make_shared<RunArguments>();
  add_model(*command, arguments->model);
  add_input_flag(*command, arguments->inputs)->required();
  as_count(
      command->add_option("--top", arguments->top, "print the K highest values of every output"));
  taking(
      command->add_option("--labels", arguments->labels,
                          "with --top or --draw: a text file whose line i, from 0, names class i"),
      "FILE");
  add_drawing_flags(*command, *arguments);
  taking(command->add_option("--output-dir", arguments->output_dir,
                             "write every output there, as NAME.bin or NAME.npy"),
         "DIR");
  as_choice(command->add_option("--output-format", arguments->output_format,
                                "form of these files: bytes of the view, or NumPy arrays"),
            {"bin", "npy"})
      ->capture_default_str();
  add_json_flag(*command, arguments->json);
  as_choice(command->add_option("--view", arguments->view, "view of raw inputs and of outputs"),
            {"cpu", "hw"})
      ->capture_default_str();
  add_device_flag(*command, arguments->device);
  add_shape_flag(*command, arguments->shapes);
  add_picture_flags(*command, arguments->picture);
  add_limit_flags(*command, arguments->limits);
  add_compile_flags(*command, arguments->flags);
  choose<RunArguments, run_model>(*command, std::move(arguments), check_run, line);
}

}  // namespace millrace::cli
