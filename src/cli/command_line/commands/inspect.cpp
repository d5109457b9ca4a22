#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/option_kinds.h"
#include "cli/command_line/shared_options.h"
#include "cli/commands.h"

namespace millrace::cli {

void add_inspect_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand("inspect", "Show what is in a model");
  show_by_example(*command, {"millrace inspect model.rai", "millrace inspect model.onnx --json",
                             "millrace inspect model.rai --graph model.svg"});
  auto arguments = std::make_shared<InspectArguments>();
  add_model(*command, arguments->model);
  taking(command->add_option("--graph", arguments->graph,
                             "a file for the graph: .svg, .png or .pdf, which Graphviz draws, or "
                             ".dot in its language"),
         "FILE");
  add_json_flag(*command, arguments->json);
  add_compile_flags(*command, arguments->flags);
  choose<InspectArguments, run_inspect>(*command, std::move(arguments), check_inspect, line);
}

}  // namespace millrace::cli
