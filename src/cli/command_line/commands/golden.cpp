#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/picture_options.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {
namespace {

void add_golden_inputs(CLI::App& command, GoldenArguments& arguments) {
  CLI::Option_group* inputs = command.add_option_group("inputs");
  add_input_flag(*inputs, arguments.inputs);
  taking(inputs->add_option("--inputs-from", arguments.inputs_from,
                            "directory with NAME.bin or NAME.npy for every input"),
         "DIR");
  inputs->require_option(1);
}

void add_tolerances(CLI::App& command, GoldenArguments& arguments) {
  as_number(command.add_option(
                "--tolerance", arguments.tolerance_steps,
                "greatest difference of elements, in steps: the scale of a quantised output, "
                "otherwise the resolution of its type; 0 if no tolerance is given"),
            0);
  as_number(command.add_option("--rtol", arguments.relative_tolerance,
                               "elements may also differ by this share of the file's value, as "
                               "0.01, plus --atol"),
            0);
  as_number(command.add_option("--atol", arguments.absolute_tolerance,
                               "elements may also differ by this much, plus --rtol"),
            0);
  as_number(command.add_option("--cosine", arguments.cosine,
                               "least cosine of an output and its file; without another tolerance, "
                               "single elements may differ"),
            -1, 1);
}

void add_golden_outputs(CLI::App& command, GoldenArguments& arguments) {
  taking(command.add_option("directory", arguments.directory,
                            "the folder to which the sample programs, or millrace run, wrote "
                            "their outputs; with NAME.bin or NAME.npy for each output if another "
                            "program did"),
         "DIR");
  taking(command.add_option("--output", arguments.outputs,
                            "instead of a folder: the file of an output, .npy or raw; NAME=FILE if "
                            "the model has several, of which those named are compared"),
         "FILE");
}

}  // namespace

void add_golden_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand(
      "golden", "Compare output files from a board with the outputs of the software NPU");
  show_by_example(*command,
                  {"millrace golden model.rai board_outputs --input ifm.bin --tolerance 1",
                   "millrace golden model.rai --output scores=ref.npy --input a.npy \\",
                   "    --rtol 0.01 --atol 1e-5 --junit report.xml"},
                  "0 equal within the tolerances, 1 failure, 2 wrong command line, 3 different");
  auto arguments = std::make_shared<GoldenArguments>();
  add_model(*command, arguments->model);
  add_golden_outputs(*command, *arguments);
  add_golden_inputs(*command, *arguments);
  add_shape_flag(*command, arguments->shapes);
  as_choice(command->add_option("--view", arguments->view,
                                "view of outputs whose file names do not say it"),
            {"cpu", "hw"});
  as_choice(command->add_option("--input-view", arguments->input_view, "view of raw inputs"),
            {"cpu", "hw"});
  add_tolerances(*command, *arguments);
  taking(command->add_option("--junit", arguments->junit, "write a JUnit file"), "FILE");
  add_picture_flags(*command, arguments->picture);
  add_device_flag(*command, arguments->device);
  add_json_flag(*command, arguments->json);
  add_compile_flags(*command, arguments->flags);
  choose<GoldenArguments>(*command, std::move(arguments), check_golden, run_golden, line);
}

}  // namespace millrace::cli
