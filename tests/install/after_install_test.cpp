// The command that `make install` prints at the end makes the installation known to a shell.
#include "source_dir.h"
#include "tests/headers/compilers.h"
#include "tests/install/client_build.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kScript = MILLRACE_SOURCE_DIR "/scripts/after_install.sh";

TEST(AfterInstall, TheLineToTypeServesCompilersAndPrograms) {
  MILLRACE_NEED_INSTALLATION();
  if (!std::filesystem::exists(MILLRACE_GCC)) GTEST_SKIP() << "gcc is not installed";
  const ProgramResult said = run_clean({kScript, kPrefix}, "/");
  ASSERT_EQ(said.exit_code, 0) << said.err;
  const std::string line = said.out.substr(said.out.find("    eval"));
  ClientBuild client("nrt_client");
  client.build({"sh", "-ec",
                line + "make CC=" MILLRACE_GCC " && ./program " MILLRACE_STAGE
                       "/model.rai && nrt_load_run " MILLRACE_STAGE "/model.rai"});
}

// Replacements for the two programs that the script calls: `id` and `ldconfig`.
class AfterInstallForAll : public ::testing::Test {
 protected:
  ProgramResult say(const std::string& user, const std::vector<std::string>& more = {}) const {
    stand_in("id", "echo " + user);
    stand_in("ldconfig", "echo the cache is renewed");
    std::vector<std::string> environment = {"PATH=" + directory_.path().string() +
                                            ":/usr/bin:/bin"};
    environment.insert(environment.end(), more.begin(), more.end());
    return run_clean({kScript, "/usr/local/"}, "/", environment);
  }

 private:
  void stand_in(const std::string& name, const std::string& command) const {
    const std::string path = directory_.file(name);
    std::ofstream(path) << "#!/bin/sh\n" << command << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  TemporaryDirectory directory_;
};

TEST_F(AfterInstallForAll, RootRenewsTheCache) {
  EXPECT_THAT(say("0").out, HasSubstr("the cache is renewed\nInstalled"));
}

TEST_F(AfterInstallForAll, OthersAreAskedToDoItAsRoot) {
  const ProgramResult result = say("1000");
  EXPECT_THAT(result.out, Not(HasSubstr("the cache is renewed")));
  EXPECT_THAT(result.out, HasSubstr("As root"));
}

TEST_F(AfterInstallForAll, APackageIsInUseNowhereYet) {
  const ProgramResult result = say("0", {"DESTDIR=/nowhere"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace millrace::test
