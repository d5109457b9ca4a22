#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_shard_command(CLI::App& program, CommandLine& line) {
  // A generous bound: attention is divided by heads, and models have fewer.
  constexpr uint32_t kMostRanks = 1024;
  CLI::App* command =
      program.add_subcommand("shard", "Divide a transformer among ranks that run it together");
  show_by_example(*command, {"millrace shard bert.onnx --tensor-parallel 2 -o parts"}, kUsualExits,
                  "Each rank compiles and runs its own file: docs/shard.md.");
  auto arguments = std::make_shared<ShardArguments>();
  taking(command->add_option("model", arguments->onnx, "the .onnx file"), "FILE")->required();
  as_count(command->add_option("--tensor-parallel", arguments->ranks,
                               "number of ranks; each has a part of the weights of every layer"),
           2, kMostRanks)
      ->required();
  taking(command->add_option("-o,--output-dir", arguments->output_dir,
                             "the folder to write the files to"),
         "DIR")
      ->capture_default_str();
  add_input_shape_flag(*command, arguments->input_shapes);
  choose<ShardArguments, run_shard>(*command, std::move(arguments), check_shard, line);
}

}  // namespace millrace::cli
