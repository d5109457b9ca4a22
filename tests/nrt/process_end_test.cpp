// Uses every face while the process exits: in destructors of static objects and handlers of
// atexit() that are older than all objects of Millrace, and on another thread during exit().
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "tests/nrt/face_uses.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/run_in_child.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

enum Outcome { kWorked = 0, kRefused = 3, kFailed = 4, kNeverCalled = 5 };

// If oneDNN's objects cannot be kept, as in sanitizer builds, the face refuses and says why; the
// NRT face returns a code for that.
Outcome outcome_of(const std::string& wrong) {
  if (wrong.empty()) return kWorked;
  std::fprintf(stderr, "%s\n", wrong.c_str());
  const bool says_why = wrong.find("the process is ending") != std::string::npos ||
                        wrong.find("NRT_") != std::string::npos;
  return says_why ? kRefused : kFailed;
}

bool is_expected(int outcome) {
  const bool sanitized = std::string_view(MILLRACE_SANITIZE) != "";
  return outcome == kWorked || (sanitized && outcome == kRefused);
}

class ProcessEnd : public testing::TestWithParam<FaceUse> {
 protected:
  ProcessEnd() { EXPECT_TRUE(write_tiny_model(archive_.path).ok()); }

  const ScopedEnvironment environment_{"NEURON_RT_LOG_LEVEL", "QUIET"};
  const TemporaryDirectory directory_;
  const TinyArchive archive_{directory_.file("tiny.rai"), tiny_archive()};
};

// Uses a face in its destructor, and ends the process with the outcome.
struct UseAtEnd {
  Use use;
  const TinyArchive& archive;
  ~UseAtEnd() { _exit(outcome_of(use(archive))); }
};

TEST_P(ProcessEnd, AStaticObjectOlderThanTheDeviceUsesIt) {
  EXPECT_PRED1(is_expected, run_in_child([&] {
                 static const UseAtEnd at_end{GetParam().use, archive_};
                 return GetParam().use(archive_).empty() ? kNeverCalled : kFailed;
               }));
}

TEST_P(ProcessEnd, AStaticObjectIsTheFirstToUseTheDevice) {
  EXPECT_PRED1(is_expected, run_in_child([&] {
                 static const UseAtEnd at_end{GetParam().use, archive_};
                 return kNeverCalled;
               }));
}

TEST_P(ProcessEnd, AHandlerOlderThanTheDeviceUsesIt) {
  static const TinyArchive* archive = nullptr;
  archive = &archive_;
  EXPECT_PRED1(is_expected, run_in_child([&] {
                 std::atexit([] { _exit(outcome_of(GetParam().use(*archive))); });
                 return GetParam().use(archive_).empty() ? kNeverCalled : kFailed;
               }));
}

TEST_P(ProcessEnd, AThreadLoadsAndRunsUntilTheProcessHasEnded) {
  if (std::string_view(MILLRACE_SANITIZE) != "")
    GTEST_SKIP() << "oneDNN's objects cannot be kept in sanitizer builds";
  constexpr int kOwnCode = 7;
  for (int round = 0; round < 4; ++round)
    EXPECT_EQ(run_in_child([&] {
                // Other static objects are destroyed while the thread uses its own.
                static std::atomic<int> uses{0};
                const TinyArchive* const copy = new TinyArchive(archive_);
                std::thread([copy, use = GetParam().use] {
                  for (;; ++uses) use(*copy);
                }).detach();
                while (uses < 2) std::this_thread::yield();
                return kOwnCode;
              }),
              kOwnCode);
}

INSTANTIATE_TEST_SUITE_P(Faces, ProcessEnd, testing::ValuesIn(face_uses()),
                         [](const auto& face) { return face.param.name; });

}  // namespace
}  // namespace millrace::test
