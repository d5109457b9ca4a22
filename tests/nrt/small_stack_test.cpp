// Calls every face on threads with the smallest possible stacks: larger work runs elsewhere.
#include <gtest/gtest.h>
#include <pthread.h>

#include <string>
#include <string_view>

#include "tests/nrt/face_uses.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

struct Call {
  Use use;
  const TinyArchive& archive;
  std::string wrong = "it was not called";
};

// Returns an error number if the thread cannot be made.
int call_on_thread(Call& call, size_t stack_bytes) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int error = pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_t thread{};
  const auto body = [](void* argument) -> void* {
    Call& own = *static_cast<Call*>(argument);
    own.wrong = own.use(own.archive);
    return nullptr;
  };
  if (error == 0) error = pthread_create(&thread, &attributes, body, &call);
  pthread_attr_destroy(&attributes);
  if (error == 0) pthread_join(thread, nullptr);
  return error;
}

class SmallStack : public testing::TestWithParam<FaceUse> {
 protected:
  SmallStack() { EXPECT_TRUE(write_tiny_model(archive_.path).ok()); }

  const ScopedEnvironment environment_{"NEURON_RT_LOG_LEVEL", "QUIET"};
  const TemporaryDirectory directory_;
  const TinyArchive archive_{directory_.file("tiny.rai"), tiny_archive()};
};

TEST_P(SmallStack, LoadsAndRuns) {
  if (std::string_view(MILLRACE_SANITIZE) != "")
    GTEST_SKIP() << "the sanitizers take several times as much stack for each call";
  for (const size_t kib : {24, 32, 48, 64, 128}) {
    Call call{GetParam().use, archive_};
    ASSERT_EQ(call_on_thread(call, kib << 10), 0);
    EXPECT_EQ(call.wrong, "") << kib << " KiB";
  }
}

INSTANTIATE_TEST_SUITE_P(Faces, SmallStack, testing::ValuesIn(face_uses()),
                         [](const auto& face) { return face.param.name; });

}  // namespace
}  // namespace millrace::test
