// An eventfd at its largest value, or a full pipe, never blocks a completion.
#include <fcntl.h>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/event_fd.h"

namespace millrace::conformance {
namespace {

MILLRACE_BEHAVIOUR(full_event_fd) {
  EventFd fd;
  int pipe_ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK), 0);
  const std::vector<char> block(4096);
  while (::write(pipe_ends[1], block.data(), block.size()) > 0) {
  }
  const uint64_t largest = ~uint64_t{0} - 1;
  EXPECT_EQ(::write(fd.get(), &largest, sizeof largest), static_cast<ssize_t>(sizeof largest));
  // Blocking ends, as a caller may have made them.
  EXPECT_EQ(::fcntl(pipe_ends[1], F_SETFL, 0), 0);
  EXPECT_EQ(::fcntl(fd.get(), F_SETFL, 0), 0);
  Unit unit = make_unit();
  EXPECT_STATUS(unit.notify_each_fd(fd.get()), kOk);
  EXPECT_STATUS(unit.notify_free_fd(1, pipe_ends[1]), kOk);
  for (int i = 0; i < 10; ++i) EXPECT_STATUS(submit(unit).wait(kPatience), kOk);
  unit.close();
  EXPECT_EQ(fd.take(), largest);
  for (const int end : pipe_ends) ::close(end);
}

}  // namespace
}  // namespace millrace::conformance
