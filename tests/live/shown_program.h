// A program for tests of what processes show: a forked child that runs jobs on the null device, and
// then stays until the test ends it. Nothing in the test program may start a thread of Millrace
// before.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/unique_fd.h"
#include "device/registry.h"
#include "runtime/session.h"
#include "tests/runtime/session_fixture.h"

namespace millrace::test {

// A session of the tiny model on the null device, opened as a program opens it.
struct NullSession {
  explicit NullSession(runtime::SessionOptions options = {});

  void submit_and_wait(int jobs);

  std::shared_ptr<device::Device> device;
  std::shared_ptr<const device::Program> program;
  std::unique_ptr<runtime::Session> session;
  runtime::JobMemory memory;
};

class ShownProgram {
 public:
  using Variables = std::map<std::string, std::string>;

  // Starts the program, and returns when `work` has.
  ShownProgram(const Variables& variables, const std::function<void(NullSession&)>& work);
  // Kills it, if it still runs.
  ~ShownProgram();
  ShownProgram(const ShownProgram&) = delete;
  ShownProgram& operator=(const ShownProgram&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  // Lets it return from its main function, and returns its exit code; 128 + the signal that ended
  // it.
  int end();

 private:
  pid_t pid_ = 0;
  UniqueFd hold_;  // the program stays until this is closed
};

}  // namespace millrace::test
