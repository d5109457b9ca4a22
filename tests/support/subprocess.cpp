#include "tests/support/subprocess.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void redirect(const std::string& path, int descriptor) {
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
  ::dup2(file, descriptor);
}

[[noreturn]] void become(const std::vector<std::string>& command, const std::string& directory) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  if (::chdir(directory.c_str()) == 0) ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& command, const std::string& directory) {
  const TemporaryDirectory streams;
  const std::string out = streams.file("out");
  const std::string err = streams.file("err");
  const pid_t child = ::fork();
  if (child == 0) {
    redirect(out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
    become(command, directory);
  }
  int state = 0;
  ProgramResult result;
  if (child < 0 || ::waitpid(child, &state, 0) != child) return result;
  result.exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  result.out = content_of(out);
  result.err = content_of(err);
  return result;
}

}  // namespace millrace::test
