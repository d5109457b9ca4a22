// Tests a setuid program of root that another user starts. The variables of that user name code of
// their own and files of root.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/security/face_process.h"
#include "tests/support/another_user.h"

namespace millrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RaisedRights : public ::testing::Test {
 protected:
  void SetUp() override {
    if (*MILLRACE_SANITIZE != '\0') GTEST_SKIP() << "sanitizers do not look into setuid programs";
    if (::geteuid() != 0) GTEST_SKIP() << "only root can make a setuid program of root";
    ::chmod(directory_.path().c_str(), 0755);
    struct statvfs mount {};
    if (::statvfs(directory_.path().c_str(), &mount) != 0 || (mount.f_flag & ST_NOSUID) != 0)
      GTEST_SKIP() << directory_.path() << " is mounted without setuid programs";
    fs::copy_file(MILLRACE_FACE_PROGRAM, program_);
    ASSERT_EQ(::chmod(program_.c_str(), 04755), 0);
    fs::create_directory(folder_);
    fs::copy_file(MILLRACE_STRANGER_PLUGIN, folder_ + "/libmillrace-cpu.so");
    ASSERT_TRUE(give_to_another_user(folder_));
  }

  TemporaryDirectory directory_;
  const std::string program_ = directory_.file("program");
  const std::string folder_ = directory_.file("folder");  // of the other user
  const std::string mark_ = directory_.file("mark");
};

TEST_F(RaisedRights, LetNoVariableNameCodeOrFiles) {
  const std::string precious = directory_.file("precious");
  std::ofstream(precious) << "precious";
  const FaceResult result =
      run_face_program({.program = program_,
                        .variables = {{"MILLRACE_PLUGIN_DIR", folder_},
                                      {"STRANGER_MARK", mark_},
                                      {"MILLRACE_DEVICE", "null"},
                                      {"MILLRACE_LOG", "warning"},
                                      {"MILLRACE_COLUMN_TABLE", precious},
                                      {"MILLRACE_PACKED_WEIGHTS", folder_},
                                      {"MILLRACE_TUNING", folder_ + "/times"},
                                      {"MILLRACE_TUNE", "1"},
                                      {"MILLRACE_TRACE", directory_.file("trace.json")},
                                      {"MILLRACE_FLIGHT_RECORDER", directory_.file("last.json")},
                                      {"MILLRACE_TOP", "1"},
                                      {"MILLRACE_CHECK", directory_.file("findings.json")},
                                      {"NEURON_RT_LOG_LOCATION_NRT", directory_.file("log")},
                                      {"NEURON_RT_INSPECT_ENABLE", "1"},
                                      {"NEURON_RT_INSPECT_OUTPUT_DIR", directory_.file("profile")},
                                      {"ONEDNN_JIT_DUMP", "1"}},
                        .as_another_user = true},
                       directory_);
  if (result.exit_code == 127) GTEST_SKIP() << "the folder of the test lets nobody start programs";
  EXPECT_EQ(result.exit_code, 0) << result.report << result.err;
  EXPECT_EQ(content_of(precious), "precious");
  for (const std::string& name :
       {mark_, directory_.file("log"), directory_.file("profile"), directory_.file("trace.json"),
        directory_.file("findings.json"), directory_.file("last.json")})
    EXPECT_FALSE(fs::exists(name)) << name;
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "nothing was kept there";
  for (const auto& entry : fs::directory_iterator(directory_.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with("dnnl_dump")) << entry.path();
  EXPECT_THAT(result.err, HasSubstr("set, but not read by a process with raised rights"));
  EXPECT_THAT(result.err, HasSubstr("MILLRACE_PLUGIN_DIR"));
  EXPECT_THAT(result.err, HasSubstr("MILLRACE_TOP"));
}

// Without raised rights, the same variables name a folder that only its owner could have chosen.
TEST_F(RaisedRights, AreNotNeededToRefuseCodeOfAnotherUser) {
  const FaceResult result = run_face_program(
      {.variables = {{"MILLRACE_PLUGIN_DIR", folder_}, {"STRANGER_MARK", mark_}}}, directory_);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.report, HasSubstr("belongs to user 65534"));
  EXPECT_THAT(content_of(mark_), IsEmpty());
}

}  // namespace
}  // namespace millrace::test
