#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {
namespace {

void add_tuning_flags(CLI::App& command, CompileArguments& arguments) {
  auto* const tune = command.add_flag(
      "--tune", arguments.tune,
      "measure the candidate kernels of the archive on this processor, as millrace tune does");
  add_shape_flag(command, arguments.tune_shapes)->needs(tune)->group("With --tune");
}

}  // namespace

void add_compile_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand("compile", "Compile an ONNX model to an archive");
  show_by_example(*command, {"millrace compile model.onnx -o model.rai --precision bf16",
                             "millrace compile model.onnx -o model.rai --precision int8 \\",
                             "    --calibrate photos --normalize imagenet"});
  auto arguments = std::make_shared<CompileArguments>();
  taking(command->add_option("model", arguments->onnx.path, "the .onnx file"), "FILE")->required();
  taking(command->add_option("-o,--output", arguments->output, "the archive to write"), "FILE")
      ->required();
  as_choice(command->add_option("--format", arguments->format,
                                "form of the archive: a file or a directory"),
            {"rai", "dir"})
      ->capture_default_str();
  taking(command->add_option("--config", arguments->config,
                             "JSON configuration of the board's compiler; flags take precedence"),
         "FILE");
  taking(
      command->add_option("--profile", arguments->profiles,
                          "input shapes with which APIs for static shapes load a dynamic model, as "
                          "NAME:x=1,3,224,224;y=1,10; the first profile is the default"),
      "PROFILE");
  taking(command->add_option("--dump-passes", arguments->dump_passes,
                             "a folder to write the graph to after the import and after each pass"),
         "DIR");
  taking(command->add_option("--emit-qdq", arguments->emit_qdq,
                             "an .onnx file to write for other runtimes: the optimised model, "
                             "quantised as the program is"),
         "FILE");
  add_tuning_flags(*command, *arguments);
  add_calibration_flags(*command, arguments->calibration);
  add_compile_flags(*command, arguments->flags);
  command->add_flag("--reference", arguments->flags.reference,
                    "compute quantised operators one by one, as the ONNX standard defines each");
  choose<CompileArguments, run_compile>(*command, std::move(arguments), check_compile, line);
}

}  // namespace millrace::cli
