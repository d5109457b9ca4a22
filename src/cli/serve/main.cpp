// The program behind `millrace serve`. Exit codes: 0 after a signal, when every request that was
// accepted has been answered; 1 failure, or when some had to be cancelled; 2 wrong command line;
// 128 + the number of the signal, when one ends the program at once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/printable.h"
#include "cli/command_line/serve_options.h"
#include "cli/printable_message.h"
#include "cli/serve/ending_signals.h"
#include "serve/server.h"

namespace millrace::cli {
namespace {

constexpr int kNotServed = 1;
constexpr int kWrongOptions = 2;

int fail_to_serve(const std::string& message, int exit_code = kNotServed) {
  fmt::print(stderr, "millrace serve: {}\n", printable_message(message));
  return exit_code;
}

// Names the models, with their versions if a model has others than the first.
void say_ready(const serve::Server& server) {
  for (const auto& failed : server.failed_models())
    fail_to_serve(fmt::format("{} is not served: {}", failed.file.path, failed.reason.message()));
  std::vector<std::string> names;
  for (const auto& model : server.models())
    names.push_back(printable(model->version() == "1" ? model->name()
                                                      : model->name() + "/" + model->version()));
  const std::string grpc =
      server.grpc_port() == 0 ? "" : fmt::format(" and, for gRPC, port {}", server.grpc_port());
  fmt::print("ready: {} on {}{}\n", fmt::join(names, ", "), server.url(), grpc);
  std::fflush(stdout);
}

int serve_models(int argc, char** argv) {
  const auto parsed = parse_serve_options(argc, argv);
  if (!parsed.ok()) return fail_to_serve(parsed.status().message(), kWrongOptions);
  if (!*parsed) return 0;
  const serve::Options& options = **parsed;
  ::signal(SIGPIPE, SIG_IGN);
  const bool has_files = !options.access_log.empty() || !options.token_file.empty() ||
                         !options.tls.certificate.empty();
  auto signals = EndingSignals::start(has_files);
  if (!signals.ok()) return fail_to_serve(signals.status().message());
  auto server = serve::Server::start(options);
  if (!server.ok()) return fail_to_serve(server.status().message());
  signals->serve([own = server->get()] {
    own->reopen_log();
    own->reread_files();
  });
  say_ready(**server);
  signals->wait();
  // Nobody may read this any more, which must not stop the drain.
  std::fputs(fmt::format("millrace serve: finishing accepted requests, for {:g} s at most\n",
                         options.drain_seconds)
                 .c_str(),
             stderr);
  if (!(*server)->drain())
    return fail_to_serve("some requests were cancelled, which took too long");
  return 0;
}

}  // namespace
}  // namespace millrace::cli

int main(int argc, char** argv) {
  try {
    return millrace::cli::serve_models(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "millrace serve: %s\n", error.what());
    return 1;
  }
}
