// `millrace doctor`: what it finds on this machine.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "memory/bank.h"
#include "memory/buffer.h"
#include "tests/cli/cli_fixture.h"

namespace millrace::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST_F(CliTest, DoctorFindsTheDevices) {
  const ProgramResult result = millrace({"doctor"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  for (const char* row :
       {"processor", "core budget", "fd sharing", "device null", "device cpu", "device faulty-cpu"})
    EXPECT_THAT(result.out, HasSubstr(row));
}

TEST_F(CliTest, DoctorSaysWhichSourcesOfSharedMemoryThereAre) {
  const ProgramResult result = millrace({"doctor"});
  EXPECT_THAT(result.out, ContainsRegex("fd sharing +yes, by memfd\n"));
  EXPECT_THAT(result.out, ContainsRegex("udmabuf +(usable|no: .*/dev/udmabuf: .+)\n"));
  EXPECT_THAT(result.out, ContainsRegex("dma_heap +(usable|no: .*/dev/dma_heap/system: .+)\n"));
  ::setenv("MILLRACE_SHARED_MEMORY", "nosuch", 1);
  EXPECT_THAT(millrace({"doctor"}).out,
              ContainsRegex("fd sharing +no: MILLRACE_SHARED_MEMORY is \"nosuch\""));
  ::unsetenv("MILLRACE_SHARED_MEMORY");
}

class DoctorVariables : public CliTest {
 protected:
  ~DoctorVariables() override {
    for (const char* name : {"MILLRACE_FAULTS", "MILLRACE_WATCHDOGG", "NEURON_RT_INSPECT_ENABLE",
                             "NEURON_RT_NUM_CORES"})
      ::unsetenv(name);
  }
};

TEST_F(DoctorVariables, ShowsThoseThatAreSet) {
  ::setenv("MILLRACE_FAULTS", "fail=3", 1);
  ::setenv("NEURON_RT_NUM_CORES", "2", 1);
  const ProgramResult result = millrace({"doctor"});
  EXPECT_THAT(result.out, ContainsRegex("variable +MILLRACE_FAULTS=fail=3\n"));
  EXPECT_THAT(result.out, ContainsRegex("variable +NEURON_RT_NUM_CORES=2\n"));
}

TEST_F(DoctorVariables, MarksThoseThatNothingReads) {
  ::setenv("MILLRACE_WATCHDOGG", "1s", 1);
  ::setenv("NEURON_RT_NUM_CORES", "1", 1);
  const ProgramResult result = millrace({"doctor"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              ContainsRegex("variable +MILLRACE_WATCHDOGG=1s +.unknown.*mean MILLRACE_WATCHDOG."));
  EXPECT_THAT(result.out, ContainsRegex("variable +NEURON_RT_NUM_CORES=1\n"));
  EXPECT_THAT(result.out, ContainsRegex("its log +set, but nothing reads it.*MILLRACE_WATCHDOGG"));
}

TEST_F(DoctorVariables, DoNotMakeItWriteFiles) {
  ::setenv("NEURON_RT_INSPECT_ENABLE", "True", 1);
  const ProgramResult result = millrace({"doctor"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("variable +NEURON_RT_INSPECT_ENABLE=True\n"));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
  ::setenv("NEURON_RT_INSPECT_ENABLE", "perhaps", 1);
  expect_failure(millrace({"doctor"}), "NEURON_RT_INSPECT_ENABLE is \"perhaps\"");
}

TEST_F(DoctorVariables, NamesFaultsThatMakeNoSense) {
  ::setenv("MILLRACE_FAULTS", "burn=3", 1);
  expect_failure(millrace({"doctor"}), "burn");
}

TEST_F(DoctorVariables, MakeTheRuntimeOfNrtProgramsStartOrNot) {
  ::setenv("NEURON_RT_NUM_CORES", "1", 1);
  const ProgramResult result = millrace({"doctor"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, ContainsRegex("libnrt.so.1 +2[.]34, Millrace .*/libnrt.so.1\n"));
  EXPECT_THAT(result.out,
              ContainsRegex("its log +nrt_init: .*logical cores 0 to 0 of .* 64 .COMPUTE."));
  ::setenv("NEURON_RT_NUM_CORES", "x", 1);
  const ProgramResult refused = millrace({"doctor"});
  expect_failure(refused, "NEURON_RT_NUM_CORES is \"x\"");
  EXPECT_THAT(refused.out, ContainsRegex("its log +nrt_init: NRT_INVALID: NEURON_RT_NUM_CORES is"));
  EXPECT_THAT(refused.out, HasSubstr("variable")) << "the rest is shown all the same";
}

TEST_F(CliTest, DoctorSaysWhoseTheColumnsAndBanksAre) {
  const std::string out = millrace({"doctor"}).out;
  const size_t vart = out.find("\nprograms of the VART-ML API\n");
  const size_t nrt = out.find("\nprograms of the NRT API\n");
  ASSERT_NE(vart, std::string::npos);
  ASSERT_NE(nrt, std::string::npos);
  for (const char* row : {"\ncolumns ", "\nbank DDR0"}) {
    EXPECT_GT(out.find(row), vart) << row;
    EXPECT_LT(out.find(row), nrt) << row;
  }
}

TEST_F(CliTest, HelpNamesTheFaces) {
  const ProgramResult result = millrace({"--help"});
  for (const char* library : {"libvart-ml.so", "libnrt.so.1"})
    EXPECT_THAT(result.out, HasSubstr(library));
}

class DoctorBanks : public CliTest {
 protected:
  ~DoctorBanks() override { ::unsetenv("MILLRACE_MEMORY_BANKS"); }

  static void use_banks(const std::string& text) {
    ::setenv("MILLRACE_MEMORY_BANKS", text.c_str(), 1);
  }
};

TEST_F(DoctorBanks, ShowsSizeAndUseByOtherProcesses) {
  const std::string mine = "mine" + std::to_string(::getpid());
  const std::string other = "other" + std::to_string(::getpid());
  use_banks(mine + "=1M," + other + "=2M");
  const memory::BankList banks = memory::banks_of_environment().value();
  const memory::Buffer buffer = memory::Buffer::allocate_in(*banks[0], 5000).value();
  const ProgramResult result = millrace({"doctor"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, ContainsRegex("bank " + mine + " +1048576 bytes, 8192 bytes in use"));
  EXPECT_THAT(result.out, ContainsRegex("bank " + other + " +2097152 bytes, 0 bytes in use"));

  ::unsetenv("MILLRACE_MEMORY_BANKS");
  const ProgramResult elsewhere = millrace({"doctor"});
  EXPECT_THAT(elsewhere.out, ContainsRegex("bank DDR3 +unlimited, "));
  EXPECT_THAT(elsewhere.out,
              ContainsRegex("bank " + mine + " +not set up here, 8192 bytes in use"));
}

TEST_F(DoctorBanks, SaysWhatIsWrongWithTheirDescription) {
  use_banks("DDR0=lots");
  expect_failure(millrace({"doctor"}), "lots");
}

class DoctorColumns : public CliTest {
 protected:
  ~DoctorColumns() override { ::unsetenv("MILLRACE_COLUMNS"); }
};

TEST_F(DoctorColumns, ShowsWhichCoreEachOfThemMeans) {
  const ProgramResult result = millrace({"doctor"});
  EXPECT_THAT(result.out, ContainsRegex("columns +36 in 9 groups\n"));
  EXPECT_THAT(result.out, ContainsRegex("columns 0 to 3 +group 0, core [0-9]+\n"));
  EXPECT_THAT(result.out, ContainsRegex("columns 32 to 35 +group 8, core [0-9]+\n"));
}

TEST_F(DoctorColumns, NamesANumberOfThemThatMakesNoSense) {
  ::setenv("MILLRACE_COLUMNS", "37", 1);
  const ProgramResult result = millrace({"doctor"});
  expect_failure(result, "MILLRACE_COLUMNS is \"37\"");
  EXPECT_THAT(result.out, ContainsRegex("columns +FAILED: "));
  EXPECT_THAT(result.out, HasSubstr("device cpu")) << "the rest is shown all the same";
}

}  // namespace
}  // namespace millrace::test
