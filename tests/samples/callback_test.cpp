// The sample vart_callback: all rows of a file, in order, through callbacks.
#include "tests/samples/sample_fixture.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

class Callback : public SampleTest {
 protected:
  std::string bytes_of(const std::string& name) const {
    std::ifstream file(work_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_F(Callback, EveryRowOfTheFileHasItsResultInOrder) {
  setenv("MILLRACE_DEVICE", "cpu", 1);
  std::string rows, row_results;
  for (char row = 0; row < 5; ++row) {
    const std::string bytes(kRowBytes, row);
    EXPECT_EQ(run(MILLRACE_CALLBACK, {model(), write("row.bin", bytes)}).exit_code, 0);
    row_results += bytes_of("callback_out_0.bin");
    rows += bytes;
  }
  // A batch of two, so that the last one is a partial one.
  const ProgramResult result =
      run(MILLRACE_CALLBACK, {model({.batch_size = 2}), write("rows.bin", rows)});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Rows completed: 5"));
  EXPECT_EQ(row_results.size(), 5 * kOutputBytes);
  EXPECT_EQ(bytes_of("callback_out_0.bin"), row_results);
  EXPECT_THAT(files(), UnorderedElementsAre("callback_out_0.bin"));
}

TEST_F(Callback, FailuresEndItWithTheReason) {
  expect_failure(run(MILLRACE_CALLBACK, {model()}), "Usage: vart_callback");
  expect_failure(run(MILLRACE_CALLBACK, {model(), ifm(1, 3)}), "ifm.bin");
  setenv("MILLRACE_FAULTS", "fail=2", 1);
  const ProgramResult failed = run(MILLRACE_CALLBACK, {model(), ifm(6)});
  unsetenv("MILLRACE_FAULTS");
  expect_failure(failed, "RUNTIME_ERROR");
}

}  // namespace
}  // namespace millrace::test
