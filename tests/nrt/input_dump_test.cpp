// The inputs of failed executions (NEURON_RT_DBG_DUMP_INPUTS_ON_ERR).
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

namespace fs = std::filesystem;

using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// The working directory, in which the dumps appear, is a temporary one.
class InADirectory {
 protected:
  InADirectory() { fs::current_path(directory_.path()); }
  ~InADirectory() { fs::current_path(before_); }

  // The dumps that there are, in any order.
  std::vector<fs::path> dumps() const {
    return {fs::directory_iterator(directory_.path()), fs::directory_iterator()};
  }
  static std::vector<std::string> files_in(const fs::path& dump) {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(dump))
      names.push_back(file.path().filename().string());
    return names;
  }
  static std::string content(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

 private:
  const fs::path before_ = fs::current_path();
  const TemporaryDirectory directory_;
};

std::string raw_bytes(const std::vector<float>& numbers) {
  std::string bytes(numbers.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

// The directory is entered before nrt_init and left after nrt_close.
class InputDump : protected InADirectory, public NrtModelTest {
 protected:
  explicit InputDump(const char* status = "1006", ScopedEnvironment::Variables more = {})
      : NrtModelTest("faulty-cpu", with_status(std::move(more), status)) {}

  // Lets the next execution fail with NRT_EXEC_OOB.
  void fail_next() {
    executions().fail_nth(1, invalid_argument("index 9 is outside a dimension of 3"));
  }

 private:
  static ScopedEnvironment::Variables with_status(ScopedEnvironment::Variables variables,
                                                  const char* status) {
    variables.emplace_back("NEURON_RT_DBG_DUMP_INPUTS_ON_ERR", status);
    return variables;
  }
};

TEST_F(InputDump, HasTheInputsAndTheNameOfTheModel) {
  const std::vector<float> input = some_input(3);
  write_input(input);
  fail_next();
  const LogCapture log;
  EXPECT_EQ(execute(), NRT_EXEC_OOB);
  ASSERT_THAT(dumps(), SizeIs(1));
  const fs::path dump = dumps()[0];
  EXPECT_THAT(dump.filename().string(), MatchesRegex("input_dump_[0-9]+_h_nn_1"));
  EXPECT_THAT(files_in(dump), UnorderedElementsAre("data.bin", "model_name.txt"));
  EXPECT_EQ(content(dump / "data.bin"), raw_bytes(input));
  EXPECT_EQ(content(dump / "model_name.txt"), "tiny");
  EXPECT_EQ(log.count("WARNING the inputs of an execution of model \"tiny\" that failed with "
                      "NRT_EXEC_OOB are in " +
                      dump.string()),
            1u);
}

TEST_F(InputDump, IsMadeForEachFailureWithTheStatusOnly) {
  for (int round = 0; round < 2; ++round) {
    fail_next();
    EXPECT_EQ(execute(), NRT_EXEC_OOB);
  }
  EXPECT_EQ(execute(), NRT_SUCCESS);
  executions().fail_nth(1, {StatusCode::kInternal, "another failure"});
  EXPECT_EQ(execute(), NRT_EXEC_COMPLETED_WITH_ERR);
  EXPECT_THAT(dumps(), SizeIs(2));
}

TEST_F(InputDump, DoesNotChangeTheStatusWhereItCannotBeWritten) {
  const fs::path gone = fs::current_path() / "gone";
  fs::create_directory(gone);
  fs::current_path(gone);
  fs::remove(gone);
  fail_next();
  const LogCapture log;
  EXPECT_EQ(execute(), NRT_EXEC_OOB);
  EXPECT_EQ(log.count("WARNING NEURON_RT_DBG_DUMP_INPUTS_ON_ERR: no inputs: cannot create"), 1u);
}

class InputDumpOfADegradedUnit : public InputDump {
 protected:
  InputDumpOfADegradedUnit() : InputDump("NRT_EXEC_UNIT_UNRECOVERABLE") {}
};

TEST_F(InputDumpOfADegradedUnit, IsNotMadeForExecutionsThatNeverRan) {
  executions().fail_nth(1);
  EXPECT_EQ(execute(), NRT_HW_ERROR);
  EXPECT_EQ(execute(), NRT_EXEC_UNIT_UNRECOVERABLE);
  EXPECT_THAT(dumps(), IsEmpty());
}

class NoInputDump : public InputDump {
 protected:
  NoInputDump() : InputDump("0") {}
};

TEST_F(NoInputDump, IsWhatZeroAsksFor) {
  fail_next();
  EXPECT_EQ(execute(), NRT_EXEC_OOB);
  EXPECT_THAT(dumps(), IsEmpty());
}

class InputDumpOfANaN : public InputDump {
 protected:
  InputDumpOfANaN() : InputDump("NRT_EXEC_COMPLETED_WITH_NUM_ERR", {{"NEURON_FAIL_ON_NAN", "1"}}) {}
};

// The execution writes its output over its input.
TEST_F(InputDumpOfANaN, HasTheInputAsItWasBeforeTheExecution) {
  const ScopedTensor both(kTinyOutputBytes);
  const ScopedSet input(kTinyInput, both.get()), output(kTinyOutput, both.get());
  std::vector<float> numbers = some_input(1);
  numbers[5] = std::numeric_limits<float>::quiet_NaN();
  ASSERT_EQ(nrt_tensor_write(both.get(), numbers.data(), 0, kTinyInputBytes), NRT_SUCCESS);
  EXPECT_EQ(nrt_execute(model_, input.get(), output.get()), NRT_EXEC_COMPLETED_WITH_NUM_ERR);
  ASSERT_THAT(dumps(), SizeIs(1));
  EXPECT_EQ(content(dumps()[0] / "data.bin"), raw_bytes(numbers));
}

}  // namespace
}  // namespace millrace::test
