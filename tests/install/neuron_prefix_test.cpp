// The installation for programs that look in /opt/aws/neuron does not replace the vendor's library.
#include <sstream>

#include "tests/install/client_build.h"

namespace millrace::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class NeuronPrefix : public ::testing::Test {
 protected:
  void SetUp() override { MILLRACE_NEED_INSTALLATION(); }

  ProgramResult install(const std::vector<std::string>& environment = {}) const {
    return run_clean({MILLRACE_CMAKE, "--install", MILLRACE_BUILD_DIR, "--component",
                      "neuron-prefix", "--prefix", prefix_},
                     "/", environment);
  }
  // The vendor's library: a file with its whole version in its name, and links to that.
  void put_another_library() const {
    fs::create_directories(libraries_);
    std::ofstream(libraries_ / "libnrt.so.2.31") << "another library";
    fs::create_symlink("libnrt.so.2.31", libraries_ / "libnrt.so.1");
    fs::create_symlink("libnrt.so.1", libraries_ / "libnrt.so");
  }
  // Runs the indented lines of what an installation printed, as a user would type them.
  void undo(const ProgramResult& installed) const {
    std::string commands;
    std::istringstream said(installed.err);
    for (std::string line; std::getline(said, line);)
      if (line.starts_with("    ")) commands += line + "\n";
    const ProgramResult undone = run_clean({"sh", "-ec", commands}, "/");
    EXPECT_EQ(undone.exit_code, 0) << undone.err;
  }
  std::string target(const std::string& link) const {
    std::error_code not_a_link;
    return fs::read_symlink(libraries_ / link, not_a_link).string();
  }

  TemporaryDirectory directory_;
  const std::string prefix_ = directory_.file("neuron");
  const fs::path libraries_ = prefix_ + "/lib";
};

TEST_F(NeuronPrefix, IsInstalledAgainOverItself) {
  ASSERT_EQ(install().exit_code, 0);
  const ProgramResult again = install();
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST_F(NeuronPrefix, LeavesAnotherLibraryAlone) {
  put_another_library();
  const ProgramResult refused = install();
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr(prefix_ + "/lib/libnrt.so.1 is there and not Millrace's"));
  EXPECT_EQ(target("libnrt.so.1"), "libnrt.so.2.31");
  EXPECT_FALSE(fs::exists(prefix_ + "/include"));
}

TEST_F(NeuronPrefix, LeavesALinkAloneThatLeadsNowhere) {
  put_another_library();
  fs::remove(libraries_ / "libnrt.so.2.31");
  EXPECT_NE(install().exit_code, 0);
  EXPECT_EQ(target("libnrt.so.1"), "libnrt.so.2.31");
}

TEST_F(NeuronPrefix, ReplacesAnotherLibraryByForceAndKeepsIt) {
  put_another_library();
  const ProgramResult forced = install({"FORCE=1"});
  EXPECT_EQ(forced.exit_code, 0) << forced.err;
  EXPECT_EQ(target("libnrt.so.1"), "");
  const ProgramResult again = install();
  EXPECT_EQ(again.exit_code, 0) << "the installed library is ours: " << again.err;
  undo(again);
  EXPECT_EQ(target("libnrt.so.1"), "libnrt.so.2.31");
  EXPECT_EQ(target("libnrt.so"), "libnrt.so.1");
}

TEST_F(NeuronPrefix, SaysHowToBeRidOfIt) {
  undo(install());
  EXPECT_TRUE(fs::is_empty(libraries_));
  EXPECT_TRUE(fs::is_empty(prefix_ + "/include"));
}

}  // namespace
}  // namespace millrace::test
