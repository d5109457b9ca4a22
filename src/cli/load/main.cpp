// The program behind `millrace bench --url` for servers over gRPC and TLS, so that the tool links
// neither. Its argument is the text of remote_arguments.h; exit codes are those of the tool.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <utility>

#include "cli/bench/remote/remote_arguments.h"
#include "cli/bench/remote/remote_command.h"
#include "cli/load/protocol_of.h"
#include "cli/printable_message.h"

namespace millrace::cli {
namespace {

constexpr int kFailed = 1;

Result<int> load(const char* text) {
  MILLRACE_ASSIGN_OR_RETURN(const BenchArguments arguments, arguments_of_text(text));
  MILLRACE_ASSIGN_OR_RETURN(auto protocol, protocol_of(arguments.url, arguments.tls_ca));
  return run_remote_bench_over(std::move(protocol), arguments);
}

int run(const char* text) {
  ::signal(SIGPIPE, SIG_IGN);
  const Result<int> code = load(text);
  if (code.ok()) return *code;
  fmt::print(stderr, "millrace bench: {}\n", printable_message(code.status().message()));
  return kFailed;
}

}  // namespace
}  // namespace millrace::cli

int main(int argc, char** argv) {
  try {
    return millrace::cli::run(argc == 2 ? argv[1] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "millrace bench: %s\n", error.what());
    return 1;
  }
}
