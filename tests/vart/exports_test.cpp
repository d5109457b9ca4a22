// libvart-ml.so exports its API and nothing else.
#include <gmock/gmock.h>

#include <sstream>
#include <string>

#include "tests/support/subprocess.h"

namespace millrace::vartml {
namespace {

TEST(Exports, AreOnlyThoseOfTheApi) {
  const test::ProgramResult nm =
      test::run_program({MILLRACE_NM, "-DC", "--defined-only", MILLRACE_VART_ML}, "/");
  ASSERT_EQ(nm.exit_code, 0) << nm.err;
  std::istringstream lines(nm.out);
  size_t count = 0;
  for (std::string address, kind, name; lines >> address >> kind && std::getline(lines, name);) {
    ++count;
    EXPECT_THAT(name, ::testing::MatchesRegex(" (typeinfo for |typeinfo name for |vtable for )?"
                                              "vart::.*"));
  }
  EXPECT_GT(count, 20u);
}

}  // namespace
}  // namespace millrace::vartml
