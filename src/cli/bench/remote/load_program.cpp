// `millrace bench --url`: for other protocols than plain HTTP, this program becomes millrace-load,
// a program beside it, so that the tool does not link their libraries.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <string>

#include "cli/bench/remote/connection.h"
#include "cli/bench/remote/remote_arguments.h"
#include "cli/bench/remote/remote_command.h"

namespace millrace::cli {
namespace {

Status become_load_program(const BenchArguments& arguments) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return io_error("read /proc/self/exe", error.value());
  std::string program = (own.parent_path() / "millrace-load").string();
  std::string text = text_of_arguments(arguments);
  std::array<char*, 3> words = {program.data(), text.data(), nullptr};
  execv(program.c_str(), words.data());
  if (errno == ENOENT)
    return {StatusCode::kNotFound,
            program + " is not there: this build of Millrace loads servers over plain HTTP only"};
  return io_error("run " + program, errno);
}

}  // namespace

Result<int> run_remote_bench(const BenchArguments& arguments) {
  MILLRACE_ASSIGN_OR_RETURN(const RemoteUrl url, parse_url(arguments.url));
  if (url.scheme != "http") return become_load_program(arguments);
  return run_remote_bench_over(nullptr, arguments);
}

}  // namespace millrace::cli
