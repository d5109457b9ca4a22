// How a job's end looks through every face of completion.
#pragma once

#include <functional>
#include <utility>

#include "tests/conformance/support/behaviour.h"
#include "tests/conformance/support/callback_log.h"
#include "tests/conformance/support/coroutine.h"
#include "tests/conformance/support/event_fd.h"
#include "tests/queue/sleeping_thread.h"

namespace millrace::conformance {

// Submits a job that will end in a certain way, and makes it end; without `end` it does so by
// itself.
struct Ending {
  std::function<Job(JobArgs)> submit;
  std::function<void(Job&)> end{};
};

// Collects the result of a job, beginning before `end` is called, if there is one.
using Collect = std::function<Status(Job&, const std::function<void()>& end)>;

// The faces that collect a result: wait, wait for some, poll, eventfd, co_await.
inline std::vector<Collect> collecting_faces() {
  const auto asleep_in = [](auto wait) {
    return [wait](Job& job, const std::function<void()>& end) {
      Status status;
      {
        queue::SleepingThread waiter([&] { status = wait(job); });
        // A job that ends by itself may have ended before a thread waits.
        if (end) {
          waiter.await_sleep();
          end();
        }
      }
      return status;
    };
  };
  return {
      asleep_in([](Job& job) { return job.wait(kPatience); }),
      asleep_in([](Job& job) {
        Job* const jobs[] = {&job};
        EXPECT_STATUS(wait_any(jobs, kPatience).status(), kOk);
        return job.wait(std::chrono::nanoseconds(0));
      }),
      asleep_in([](Job& job) {
        Job* const jobs[] = {&job};
        EXPECT_STATUS(wait_all(jobs, kPatience), kOk);
        return job.wait(std::chrono::nanoseconds(0));
      }),
      [](Job& job, const std::function<void()>& end) {
        if (end) end();
        EXPECT_TRUE(eventually([&] { return job.is_completed(); }));
        return job.wait(std::chrono::nanoseconds(0));
      },
      [](Job& job, const std::function<void()>& end) {
        EventFd fd;
        EXPECT_STATUS(job.notify_fd(fd.get()), kOk);
        if (end) end();
        EXPECT_TRUE(fd.await());
        EXPECT_EQ(fd.take(), 1u);
        return job.wait(std::chrono::nanoseconds(0));
      },
      [](Job& job, const std::function<void()>& end) {
        Outcome outcome;
        collect(job, outcome);
        if (end) end();
        return outcome.await();
      },
  };
}

// Expects that a job which ends in this way ends with this code through every face, and that code
// and message are those that its callback gets.
inline void expect_through_every_face(StatusCode expected, const JobArgs& args,
                                      const Ending& ending) {
  for (const Collect& collect_result : collecting_faces()) {
    CallbackLog log;
    JobArgs with_callback = args;
    with_callback.callback = log.callback();
    Job job = ending.submit(with_callback);
    const JobId id = job.id();
    const auto end = [&] { ending.end(job); };
    const Status status = collect_result(job, ending.end ? end : std::function<void()>());
    EXPECT_EQ(to_string(status.code()), to_string(expected)) << status.to_string();
    EXPECT_TRUE(log.await(1));
    for (const CallbackLog::Entry& entry : log.entries()) {
      EXPECT_EQ(entry.id, id);
      EXPECT_EQ(entry.status.code(), status.code());
      EXPECT_EQ(entry.status.message(), status.message());
    }
  }
}

}  // namespace millrace::conformance
