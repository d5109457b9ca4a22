#include "cli/command_line/commands/definitions.h"

#include <memory>

#include "cli/command_line/commands/choose.h"
#include "cli/command_line/serve_options.h"
#include "cli/commands.h"

namespace millrace::cli {

// The options are checked here, and read again by the program that the command becomes.
void add_serve_command(CLI::App& program, CommandLine& line) {
  CLI::App* command = program.add_subcommand("serve", "Serve models over HTTP and gRPC");
  show_by_example(*command,
                  {"millrace serve mobilenet.onnx",
                   "millrace serve mobilenet.onnx --normalize imagenet --labels names.txt",
                   "millrace serve a.rai b.rai --address 0.0.0.0 --http-port 80"});
  const auto flags = std::make_shared<ServeFlags>();
  add_serve_options(*command, *flags);
  command->callback([flags, &line] {
    line.usage_error = serve_options(*flags).status().message();
    line.action = [words = line.words]() -> Result<int> {
      MILLRACE_RETURN_IF_ERROR(run_serve(words));
      return 0;
    };
  });
}

}  // namespace millrace::cli
