// HW views in GENERIC layout with an order of their own (compile --hw-layout NAME=GENERIC:0,3,1,2),
// on the software NPU.
#include <gmock/gmock.h>

#include <numeric>

#include "graph/archive/codec.h"
#include "lowering/assemble.h"
#include "tests/lowering/passes/graph_maker.h"
#include "tests/vart/runner_fixture.h"

namespace millrace::vartml {
namespace {

using tensor::Layout;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Orders = std::map<std::string, lowering::HwLayout>;

class PermutedViews : public RunnerTest {
 protected:
  PermutedViews() { use_device("cpu"); }

  std::shared_ptr<Runner> create(const Orders& orders) {
    const auto model = lowering::assemble(maker_.graph, {.hw_layouts = orders}, "permuted");
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    const std::string path = directory_.file("permuted.rai");
    EXPECT_TRUE(model::write_archive(graph::encode(*model), path, model::ArchiveForm::kFile).ok());
    return RunnerFactory::create_runner(RunnerType::VAIML, path);
  }
  Status refusal(const Orders& orders) const {
    return lowering::assemble(maker_.graph, {.hw_layouts = orders}, "permuted").status();
  }

  lowering::GraphMaker maker_;
};

TEST_F(PermutedViews, ElementsLieInTheOrderOfTheView) {
  maker_.output(maker_.unary(graph::UnaryKind::kAbs, maker_.input({1, 2, 3, 4})));
  const auto runner =
      create({{"input0", {Layout::kGeneric, {0, 3, 1, 2}}}, {"n0.out", {Layout::kNchw}}});
  const NpuTensorInfo& info = runner->get_tensor_info_by_name("input0", TensorType::HW);
  EXPECT_THAT(info.shape, ElementsAre(1, 4, 2, 3));
  EXPECT_THAT(info.memory_layout_order, ElementsAre(0, 3, 1, 2));
  Tensors in = inputs(*runner), out = outputs(*runner);
  float* hw = data<float>(in[0][0]);
  for (int b = 0; b < 2; ++b)
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 4; ++d) hw[(d * 2 + b) * 3 + c] = static_cast<float>((b * 3 + c) * 4 + d);
  ASSERT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  std::vector<float> expected(24);
  std::iota(expected.begin(), expected.end(), 0.0F);
  const float* const result = data<float>(out[0][0]);
  EXPECT_EQ(std::vector<float>(result, result + 24), expected);
}

// Equal extents leave the shape as it is.
TEST_F(PermutedViews, IntegersOfASquareArePermutedToo) {
  const auto indices = maker_.input({2, 2}, tensor::DataType::kInt64);
  maker_.output(maker_.add(graph::Gather{0}, {maker_.constant({4}, {10, 11, 12, 13}), indices}));
  const auto runner = create({{"input0", {Layout::kGeneric, {1, 0}}}});
  Tensors in = inputs(*runner), out = outputs(*runner);
  const std::vector<int64_t> transposed = {0, 2, 1, 3};
  std::copy(transposed.begin(), transposed.end(), data<int64_t>(in[0][0]));
  ASSERT_EQ(runner->execute(in, out), StatusCode::SUCCESS);
  const float* const result = data<float>(out[0][0]);
  EXPECT_THAT(std::vector<float>(result, result + 4), ElementsAre(10, 11, 12, 13));
}

TEST_F(PermutedViews, OrdersThatMakeNoSenseAreRefused) {
  maker_.output(maker_.unary(graph::UnaryKind::kAbs, maker_.input({1, 2, 3, 4})));
  for (const std::vector<uint32_t>& order :
       std::vector<std::vector<uint32_t>>{{0, 1, 2}, {0, 1, 2, 2}, {1, 2, 3, 4}}) {
    const Status refused = refusal({{"input0", {Layout::kGeneric, order}}});
    EXPECT_EQ(refused.code(), millrace::StatusCode::kInvalidArgument);
    EXPECT_THAT(refused.message(), AllOf(HasSubstr("input0"), HasSubstr("4 dimensions")));
  }
  EXPECT_THAT(refusal({{"input0", {Layout::kNhwc, {0, 2, 3, 1}}}}).message(),
              HasSubstr("NHWC takes no dimension order"));
}

}  // namespace
}  // namespace millrace::vartml
