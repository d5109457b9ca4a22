// Tests what is easily got wrong in the packages that Makefiles ask for; see entries_test.cpp.
#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "tests/support/subprocess.h"

namespace millrace::vartml {
namespace {

test::ProgramResult pkg_config(const std::string& flag, const std::string& packages) {
  return test::run_program(
      {"/usr/bin/env", "PKG_CONFIG_PATH=" MILLRACE_PKG_CONFIG_DIR, "pkg-config", flag, packages},
      "/");
}

// Stock Makefiles take the compiler's flags from vart-ml and xrt, never from vart-x.
TEST(EasilyWrongPackages, Entry19_TheFlagsOfVartMlReachTheHeadersOfVartX) {
  const test::ProgramResult result = pkg_config("--cflags", "vart-ml");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  bool found = false;
  std::istringstream flags(result.out);
  for (std::string flag; flags >> flag;)
    if (flag.rfind("-I", 0) == 0)
      found |= std::filesystem::exists(flag.substr(2) + "/vart/vart_videoframe.hpp");
  EXPECT_TRUE(found) << result.out;
}

TEST(EasilyWrongPackages, Entry19_ThereIsAPackageOfTheBoardsRuntime) {
  EXPECT_EQ(pkg_config("--exists", "xrt >= 2.6").exit_code, 0);
}

// Makefiles of release 6.2 and of the one after it ask this before they build anything.
TEST(EasilyWrongPackages, Entry19_TheVersionsPassTheGatesOfBothGenerations) {
  for (const char* version : {"0.1", "0.4.0", "0.5.0"})
    for (const char* package : {"vart-ml", "vart-x"})
      EXPECT_EQ(pkg_config(std::string("--atleast-version=") + version, package).exit_code, 0)
          << package << " " << version;
  EXPECT_EQ(pkg_config("--exists", "vart-ml >= 0.1 vart-x >= 0.1").exit_code, 0);
}

}  // namespace
}  // namespace millrace::vartml
