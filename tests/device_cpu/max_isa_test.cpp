// Instructions that MILLRACE_MAX_ISA forbids are not used. CMakeLists.txt has ctest run this
// program once within each instruction set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <string>
#include <vector>

#include "base/highway/vector_targets.h"
#include "base/max_isa.h"
#include "base/process/topology.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

class WithinMaxIsa : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<MaxIsa> isa = max_isa();
    ASSERT_TRUE(isa.ok()) << isa.status().message();
    ASSERT_LT(*isa, MaxIsa::kAvx512Vnni) << "this program is for MILLRACE_MAX_ISA=avx2 or avx512";
    has_avx512_ = *isa == MaxIsa::kAvx512;
  }

  // A convolution and a matrix product that newer instructions would be used for.
  std::vector<std::string> kernels_in(graph::Precision precision) const {
    ModelBuilder builder(precision);
    const graph::Dims ones = {1, 1};
    const graph::ValueId image = builder.node(
        graph::Conv{ones, ones, ones, ones, 1, {}},
        {builder.input({1, 32, 20, 20}), builder.constant(Tensor::numbers({32, 32, 3, 3}, 1))});
    const graph::ValueId row = builder.node(graph::Reshape{{1, 32 * 400}}, {image});
    builder.output(
        builder.node(graph::MatMul{}, {row, builder.constant(Tensor::numbers({32 * 400, 8}, 2))}));
    return implementations(*load(builder.build()));
  }

  bool has_avx512_ = false;
};

TEST_F(WithinMaxIsa, KernelsOfTheLibrary) {
  for (const auto precision : {graph::Precision::kFp32, graph::Precision::kBf16}) {
    const std::vector<std::string> kernels = kernels_in(precision);
    EXPECT_THAT(kernels, Each(AllOf(Not(HasSubstr("bf16")), Not(HasSubstr("amx")))));
    if (!has_avx512_) {
      EXPECT_THAT(kernels, Each(Not(HasSubstr("avx512"))));
    }
  }
}

TEST_F(WithinMaxIsa, FeaturesOfTheProcessor) {
  const CpuFeatures& features = topology().features;
  EXPECT_FALSE(features.avx512_vnni);
  EXPECT_FALSE(features.avx512_bf16);
  EXPECT_FALSE(features.amx_bf16);
  EXPECT_TRUE(has_avx512_ || !features.avx512);
}

TEST_F(WithinMaxIsa, VectorLoops) {
  const int64_t targets = vector_targets();
  EXPECT_NE(targets, 0);
  EXPECT_EQ(targets & HWY_AVX3_DL, 0);
  EXPECT_TRUE(has_avx512_ || (targets & HWY_AVX3) == 0);
}

}  // namespace
}  // namespace millrace::device::cpu
