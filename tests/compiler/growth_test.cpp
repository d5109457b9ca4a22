// The cost of compiling and loading grows linearly with a model, not with its square. The test
// compares the memory that is allocated for n, 2n and 4n. Models whose cost would be time, not
// memory, are so large that the test would not end if time grew with the square.
#include <gtest/gtest.h>

#include <string>

#include "tests/compiler/large_models.h"
#include "tests/support/counting_new.h"
#include "tests/support/temporary_directory.h"

namespace millrace::compiler::test {
namespace {

using millrace::test::TemporaryDirectory;

struct Work {
  double allocations = 0, bytes = 0;
};

class Growth : public testing::TestWithParam<LargeModel> {
 protected:
  Work work_of(size_t size) const {
    const std::string content = GetParam().content(size);
    const size_t allocations = millrace::test::allocation_count();
    const size_t bytes = millrace::test::allocated_bytes();
    const Status status = compile_and_decode(content, directory_.file("model.onnx"));
    EXPECT_TRUE(status.ok()) << status.to_string();
    return {static_cast<double>(millrace::test::allocation_count() - allocations),
            static_cast<double>(millrace::test::allocated_bytes() - bytes)};
  }

  const TemporaryDirectory directory_;
};

TEST_P(Growth, TwiceAsManyTakeTwiceAsMuch) {
  constexpr double kMost = 2.4;  // vectors double their room now and then
  constexpr size_t kSize = 1000;
  Work before = work_of(kSize);
  for (const size_t size : {2 * kSize, 4 * kSize}) {
    const Work work = work_of(size);
    EXPECT_LT(work.allocations / before.allocations, kMost) << size << " " << GetParam().grows;
    EXPECT_LT(work.bytes / before.bytes, kMost) << size << " " << GetParam().grows;
    before = work;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Growth, testing::ValuesIn(large_models()),
                         [](const auto& model) { return model.param.name; });

Status compile_large(const std::string& content) {
  const TemporaryDirectory directory;
  return compile_and_decode(content, directory.file("model.onnx"));
}

TEST(LargeModels, AHundredThousandAttributesOfANode) {
  const Status status = compile_large(attributes_of_one_node(100'000));
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST(LargeModels, SixtyThousandNodesThatBecomeNone) {
  const Status status = compile_large(identity_chain(60'000));
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST(LargeModels, MoreInputsOrOutputsThanALoaderTakesAreRefused) {
  for (const std::string& content : {many_inputs(5000), many_outputs(5000)}) {
    const Status status = compile_large(content);
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_NE(status.message().find("at most 4096"), std::string::npos) << status.message();
  }
}

TEST(LargeModels, SubgraphsNestAsDeepAsALoaderTakes) {
  EXPECT_TRUE(compile_large(nested_ifs(16)).ok()) << compile_large(nested_ifs(16)).to_string();
  const Status deeper = compile_large(nested_ifs(17));
  EXPECT_FALSE(deeper.ok());
  EXPECT_NE(deeper.code(), StatusCode::kCorruptData) << "the compiler refuses it, not the loader";
}

}  // namespace
}  // namespace millrace::compiler::test
