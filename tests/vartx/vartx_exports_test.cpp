// libvart-x.so exports its API and nothing else.
#include <gmock/gmock.h>

#include <sstream>
#include <string>

#include "tests/support/subprocess.h"

namespace millrace::vartx {
namespace {

TEST(VartXExports, AreOnlyThoseOfTheApi) {
  const test::ProgramResult nm =
      test::run_program({MILLRACE_NM, "-DC", "--defined-only", MILLRACE_VART_X}, "/");
  ASSERT_EQ(nm.exit_code, 0) << nm.err;
  std::istringstream lines(nm.out);
  size_t count = 0;
  for (std::string address, kind, name; lines >> address >> kind && std::getline(lines, name);) {
    ++count;
    EXPECT_THAT(name, ::testing::MatchesRegex(" vart::.*"));
    EXPECT_THAT(name, ::testing::Not(::testing::HasSubstr("ImplBase::")));
  }
  EXPECT_GT(count, 20u);
}

}  // namespace
}  // namespace millrace::vartx
