// libvart-ml.so exports its API and nothing else.
#include <gmock/gmock.h>

#include "tests/support/exports.h"

namespace millrace::vartml {
namespace {

using ::testing::Each;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

TEST(Exports, AreOnlyThoseOfTheApi) {
  const std::vector<std::string> names = test::exported_names(MILLRACE_NM, MILLRACE_VART_ML);
  EXPECT_THAT(names, SizeIs(::testing::Gt(20u)));
  EXPECT_THAT(names, Each(MatchesRegex("(typeinfo for |typeinfo name for |vtable for )?vart::.*")));
}

}  // namespace
}  // namespace millrace::vartml
