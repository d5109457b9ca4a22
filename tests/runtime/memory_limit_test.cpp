#include "runtime/loading/memory_limit.h"

#include <gmock/gmock.h>

#include <charconv>
#include <cstdlib>

#include "runtime/loading/loader.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::runtime {
namespace {

using ::testing::HasSubstr;

class MemoryLimit : public ::testing::Test {
 protected:
  MemoryLimit() { EXPECT_TRUE(test::write_tiny_model(path_, {.batch_size = 3}).ok()); }
  ~MemoryLimit() override { ::unsetenv("MILLRACE_MEMORY_LIMIT"); }

  Status load(uint64_t limit) const {
    const Result<LoadedProgram> loaded = load_program(path_, "null");
    if (!loaded.ok()) return loaded.status();
    return load_program(path_, *loaded->device, limit).status();
  }

  // The bytes that the model needs, as the refusal of a limit states them.
  static uint64_t need_in(const Status& status) {
    const std::string text(status.message());
    const size_t at = text.find("needs ") + 6;
    uint64_t bytes = 0;
    std::from_chars(text.data() + at, text.data() + text.size(), bytes);
    return bytes;
  }

  test::TemporaryDirectory directory_;
  const std::string path_ = directory_.file("tiny.rai");
};

TEST_F(MemoryLimit, RefusesAModelThatDeclaresMore) {
  const Status status = load(1);
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  EXPECT_THAT(status.message(), HasSubstr("tiny.rai"));
  EXPECT_THAT(status.message(), HasSubstr("the memory limit is 1:"));
}

TEST_F(MemoryLimit, TakesOneThatNeedsExactlyThat) {
  const uint64_t need = need_in(load(1));
  // The weights of the convolution, and three frames of "probs" in the HW view.
  EXPECT_GT(need, uint64_t{4} * 10 * 3 * 3 * 3 + 3 * 1024);
  EXPECT_TRUE(load(need).ok());
  EXPECT_EQ(load(need - 1).code(), StatusCode::kOutOfMemory);
  EXPECT_TRUE(load(0).ok());
}

TEST_F(MemoryLimit, TheVariableMakesItLess) {
  const uint64_t need = need_in(load(1));
  ::setenv("MILLRACE_MEMORY_LIMIT", "16", 1);
  EXPECT_EQ(load_program(path_, "null").status().code(), StatusCode::kOutOfMemory);
  ::setenv("MILLRACE_MEMORY_LIMIT", "1G", 1);
  EXPECT_TRUE(load(need).ok());
  EXPECT_EQ(load(need - 1).code(), StatusCode::kOutOfMemory);
}

TEST_F(MemoryLimit, AVariableThatMakesNoSenseIsNamed) {
  ::setenv("MILLRACE_MEMORY_LIMIT", "much", 1);
  const Status status = load_program(path_, "null").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("MILLRACE_MEMORY_LIMIT"));
}

// A file that nobody checked could state such sizes.
TEST_F(MemoryLimit, SumsBeyondAnyNumberAreTooMuch) {
  const Result<LoadedProgram> loaded = load_program(path_, "null");
  ASSERT_TRUE(loaded.ok());
  auto model = std::make_shared<graph::CompiledModel>(test::tiny_model());
  model->arena_bytes = UINT64_MAX - 1;
  const Status status = load_within(UINT64_MAX - 1, *loaded->device, model).status();
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
}

}  // namespace
}  // namespace millrace::runtime
