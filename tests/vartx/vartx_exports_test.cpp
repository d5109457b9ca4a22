// libvart-x.so exports its API and nothing else.
#include <gmock/gmock.h>

#include "tests/support/exports.h"

namespace millrace::vartx {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

TEST(VartXExports, AreOnlyThoseOfTheApi) {
  const std::vector<std::string> names = test::exported_names(MILLRACE_NM, MILLRACE_VART_X);
  EXPECT_THAT(names, SizeIs(::testing::Gt(20u)));
  EXPECT_THAT(names, Each(MatchesRegex("(typeinfo for |typeinfo name for |vtable for )?vart::.*")));
  EXPECT_THAT(names, Each(Not(HasSubstr("ImplBase::"))));
}

}  // namespace
}  // namespace millrace::vartx
