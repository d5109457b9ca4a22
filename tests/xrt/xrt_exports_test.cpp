// libxrt_coreutil.so exports its API and nothing else.
#include <gmock/gmock.h>

#include "tests/support/exports.h"

namespace xrt {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;

TEST(XrtExports, AreOnlyThoseOfTheApi) {
  const std::vector<std::string> names = millrace::test::exported_names(MILLRACE_NM, MILLRACE_XRT);
  EXPECT_THAT(names, SizeIs(::testing::Gt(20u)));
  EXPECT_THAT(names, Each(MatchesRegex("(typeinfo for |typeinfo name for |vtable for )?xrt::.*")));
  EXPECT_THAT(names, Each(Not(HasSubstr("_impl::"))));
}

}  // namespace
}  // namespace xrt
