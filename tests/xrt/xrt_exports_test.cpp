// libxrt_coreutil.so exports its API and nothing else.
#include <gmock/gmock.h>

#include <sstream>
#include <string>

#include "tests/support/subprocess.h"

namespace xrt {
namespace {

TEST(XrtExports, AreOnlyThoseOfTheApi) {
  const millrace::test::ProgramResult nm =
      millrace::test::run_program({MILLRACE_NM, "-DC", "--defined-only", MILLRACE_XRT}, "/");
  ASSERT_EQ(nm.exit_code, 0) << nm.err;
  std::istringstream lines(nm.out);
  size_t count = 0;
  for (std::string address, kind, name; lines >> address >> kind && std::getline(lines, name);) {
    ++count;
    EXPECT_THAT(name, ::testing::MatchesRegex(" xrt::.*"));
    EXPECT_THAT(name, ::testing::Not(::testing::HasSubstr("_impl::")));
  }
  EXPECT_GT(count, 20u);
}

}  // namespace
}  // namespace xrt
