// NEURON_RT_INSPECT_*: a system profile of a program that does not call nrt_inspect_* itself.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/nrt/trace_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

using testing::IsEmpty;

class InspectEnvironment : public TraceTest {
 protected:
  InspectEnvironment() { nrt_close(); }

  // A program from nrt_init to nrt_close, with these variables besides the one that names the
  // directory.
  NRT_STATUS run_program(ScopedEnvironment::Variables variables) {
    variables.emplace_back("NEURON_RT_INSPECT_OUTPUT_DIR", output_);
    const ScopedEnvironment environment(std::move(variables));
    const NRT_STATUS status = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
    if (status == NRT_SUCCESS) nrt_unload(load());
    nrt_close();
    return status;
  }
  // The files in the directory after the program.
  std::vector<std::string> profiles() const {
    std::vector<std::string> files;
    if (!std::filesystem::is_directory(output_)) return files;
    for (const auto& file : std::filesystem::directory_iterator(output_))
      files.push_back(file.path().string());
    return files;
  }

  const std::string output_ = directory_.file("output");
};

TEST_F(InspectEnvironment, RecordsFromInitToClose) {
  for (const char* yes : {"1", "true", "TRUE"}) {
    ASSERT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", yes}}), NRT_SUCCESS);
    ASSERT_EQ(profiles().size(), 1u) << yes;
    const std::string file = profiles()[0];
    EXPECT_THAT(file, testing::HasSubstr("/system_profile_" + std::to_string(getpid()) + "_"));
    EXPECT_EQ(of_type(parse_file(file), "nrt_load").size(), 2u);
    std::filesystem::remove(file);
  }
}

TEST_F(InspectEnvironment, HasAFileForEachLifeOfTheRuntime) {
  for (int life = 0; life < 2; ++life)
    ASSERT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "1"}}), NRT_SUCCESS);
  EXPECT_EQ(profiles().size(), 2u);
}

TEST_F(InspectEnvironment, IsOffUnlessAskedFor) {
  ASSERT_EQ(run_program({}), NRT_SUCCESS);
  ASSERT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "False"}}), NRT_SUCCESS);
  ASSERT_EQ(
      run_program({{"NEURON_RT_INSPECT_ENABLE", "1"}, {"NEURON_RT_INSPECT_SYSTEM_PROFILE", "0"}}),
      NRT_SUCCESS);
  EXPECT_THAT(profiles(), IsEmpty());
}

TEST_F(InspectEnvironment, WarnsWhereItCannotWrite) {
  std::ofstream(output_) << "a file where the directory should be";
  const LogCapture log(LogLevel::kWarning);
  EXPECT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "1"}}), NRT_SUCCESS);
  ASSERT_EQ(log.count("NEURON_RT_INSPECT_ENABLE"), 1u);
  EXPECT_EQ(log.count(output_), 1u);
  EXPECT_EQ(log.lines()[0].substr(0, 7), "WARNING");
}

TEST_F(InspectEnvironment, WarnsOfProfilesThatThereAreNot) {
  for (const char* name : {"NEURON_RT_INSPECT_DEVICE_PROFILE", "NEURON_RT_INSPECT_ON_FAIL"}) {
    const LogCapture log(LogLevel::kWarning);
    EXPECT_EQ(run_program({{name, "1"}}), NRT_SUCCESS);
    EXPECT_EQ(log.count(name), 1u);
  }
}

TEST_F(InspectEnvironment, RefusesWhatIsNeitherYesNorNo) {
  EXPECT_EQ(run_program({{"NEURON_RT_INSPECT_ENABLE", "perhaps"}}), NRT_INVALID);
}

}  // namespace
}  // namespace millrace::test
