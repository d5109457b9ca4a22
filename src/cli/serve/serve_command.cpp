// `millrace serve`: becomes millrace-serve, a program beside this one, so that the tool does not
// link the libraries of a server.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace millrace::cli {

Status run_serve(const std::vector<std::string>& words) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return io_error("read /proc/self/exe", error.value());
  std::string program = (own.parent_path() / "millrace-serve").string();
  std::vector<std::string> copies(std::ranges::find(words, "serve"), words.end());
  copies.front() = program;
  std::vector<char*> arguments;
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  if (errno == ENOENT)
    return {StatusCode::kNotFound,
            program + " is not there: this build of Millrace has no server (docs/serving.md)"};
  return io_error("run " + program, errno);
}

}  // namespace millrace::cli
