#include "cli/conformance/exclusions.h"

#include <gmock/gmock.h>

#include "io/file.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

class ExclusionList : public testing::Test {
 protected:
  Result<cli::Exclusions> read(const std::string& text) const {
    const std::string path = directory_.file("list.txt");
    EXPECT_TRUE(io::write_file(path, std::as_bytes(std::span(text))).ok());
    return cli::read_exclusions(path);
  }

  TemporaryDirectory directory_;
};

TEST_F(ExclusionList, HasNamesAndReasons) {
  const auto list = read("# why\n\nnode/a   string type: of \"x\"  \r\n\tnode/b\ttraining\n");
  ASSERT_TRUE(list.ok()) << list.status().to_string();
  EXPECT_THAT(*list, UnorderedElementsAre(Pair("node/a", "string type: of \"x\""),
                                          Pair("node/b", "training")));
}

TEST_F(ExclusionList, EveryNameNeedsAReason) {
  for (const char* text : {"node/a reason\nnode/b\n", "node/a reason\nnode/b   \n"}) {
    const Status status = read(text).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("line 2: \"node/b\" has no reason"));
  }
}

TEST_F(ExclusionList, ANameComesOnce) {
  EXPECT_THAT(read("node/a one\nnode/a two\n").status().message(),
              HasSubstr("line 2: \"node/a\" occurs twice"));
}

TEST_F(ExclusionList, MustBeThere) {
  EXPECT_EQ(cli::read_exclusions(directory_.file("none")).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace millrace::test
