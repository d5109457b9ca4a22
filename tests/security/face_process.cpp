#include "tests/security/face_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tests/support/another_user.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {
namespace {

void redirect(const std::string& path, int number) {
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0666);
  ::dup2(file, number);
}

bool become_another_user() {
  return ::setgid(kAnotherUser) == 0 && ::setuid(kAnotherUser) == 0;
}

[[noreturn]] void become(const FaceProcess& process, const std::string& directory,
                         const std::string& model, const std::string& report) {
  for (const auto& [name, value] : process.variables) ::setenv(name.c_str(), value.c_str(), 1);
  for (const int number : process.closed) ::close(number);
  const bool ready =
      ::chdir(directory.c_str()) == 0 && (!process.as_another_user || become_another_user());
  if (ready)
    ::execl(process.program.c_str(), "face_program", model.c_str(), report.c_str(), nullptr);
  ::_exit(127);
}

}  // namespace

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

FaceResult run_face_program(const FaceProcess& process, const TemporaryDirectory& directory) {
  const std::string model = directory.file("model.rai"), report = directory.file("report"),
                    out = directory.file("out"), err = directory.file("err");
  if (!write_tiny_model(model).ok()) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    redirect(out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
    become(process, directory.path().string(), model, report);
  }
  int state = 0;
  FaceResult result;
  if (child < 0 || ::waitpid(child, &state, 0) != child) return result;
  result.exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  result.report = content_of(report);
  result.out = content_of(out);
  result.err = content_of(err);
  return result;
}

}  // namespace millrace::test
