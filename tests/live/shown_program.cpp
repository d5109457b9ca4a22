#include "tests/live/shown_program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <utility>

namespace millrace::test {
namespace {

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }
  UniqueFd read, write;
};

// Waits until the other end is closed, or a byte comes.
void await(const UniqueFd& end) {
  char byte = 0;
  while (::read(end.get(), &byte, 1) < 0) {
  }
}

}  // namespace

NullSession::NullSession(runtime::SessionOptions options)
    : device(device::open_device_of_program("null", {.lanes = 2}).value()),
      program(device->load(std::make_shared<graph::CompiledModel>(tiny_model())).value()),
      session(runtime::Session::create(device, program, std::move(options)).value()),
      memory(program->model()) {}

void NullSession::submit_and_wait(int jobs) {
  for (int i = 0; i < jobs; ++i) {
    const auto id = session->submit(memory.bindings());
    static_cast<void>(session->wait(id.value(), runtime::kForever));
  }
}

ShownProgram::ShownProgram(const Variables& variables,
                           const std::function<void(NullSession&)>& work) {
  Pipe ready, hold;
  pid_ = ::fork();
  if (pid_ == 0) {
    hold.write = UniqueFd();
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
    {
      NullSession session;
      work(session);
      // A byte, since children of the program may keep the end open.
      static_cast<void>(!::write(ready.write.get(), "", 1));
      await(hold.read);
    }
    std::exit(0);
  }
  ready.write = UniqueFd();
  hold_ = std::move(hold.write);
  await(ready.read);
}

ShownProgram::~ShownProgram() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void ShownProgram::signal(int number) const {
  ASSERT_EQ(::kill(pid_, number), 0);
}

int ShownProgram::end() {
  hold_ = UniqueFd();
  int status = 0;
  EXPECT_EQ(::waitpid(std::exchange(pid_, 0), &status, 0) > 0, true);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace millrace::test
