// Packed weights that several programs of one model share.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "device/cpu/cpu_device.h"
#include "device/cpu/program/cpu_program.h"
#include "device/cpu/weights/packed_store.h"
#include "tests/device_cpu/model_builder.h"
#include "tests/device_cpu/run_model.h"

namespace millrace::device::cpu {
namespace {

// Where the program reads its weights.
std::set<const std::byte*> weights_of(const Program& program) {
  std::set<const std::byte*> weights;
  for (const auto& location : dynamic_cast<const CpuProgram&>(program).parts().buffers.locations)
    if (location.constant != nullptr) weights.insert(location.constant);
  return weights;
}

std::shared_ptr<const graph::CompiledModel> product(const Tensor& weights) {
  ModelBuilder builder(graph::Precision::kFp32);
  builder.output(
      builder.node(graph::MatMul{}, {builder.input({1, 300}), builder.constant(weights)}));
  return builder.build();
}

float first_result(const Program& program) {
  return run(program, {Tensor::numbers({1, 300}, 1)})[0].data.front();
}

class SharedWeights : public ::testing::Test {
 protected:
  std::shared_ptr<const Program> load(std::shared_ptr<const graph::CompiledModel> model) {
    return device_.load(std::move(model)).value();
  }
  CpuDevice device_{DeviceOptions()};
};

TEST_F(SharedWeights, ProgramsOfOneModelReadTheSameWeights) {
  const auto model = product(Tensor::numbers({300, 200}, 3));
  const auto first = load(model), second = load(model);
  EXPECT_EQ(weights_of(*first), weights_of(*second));
  EXPECT_EQ(first_result(*first), first_result(*second));
}

TEST_F(SharedWeights, ProgramsOfOtherModelsHaveTheirOwn) {
  const auto first = load(product(Tensor::numbers({300, 200}, 3)));
  const auto second = load(product(Tensor::numbers({300, 200}, 4)));
  EXPECT_NE(weights_of(*first), weights_of(*second));
  EXPECT_NE(first_result(*first), first_result(*second));
}

TEST_F(SharedWeights, TheyOutliveTheProgramThatPackedThem) {
  const auto model = product(Tensor::numbers({300, 200}, 3));
  auto first = load(model);
  const auto second = load(model);
  const float expected = first_result(*first);
  first.reset();
  EXPECT_EQ(first_result(*second), expected);
}

class Store : public ::testing::Test {
 protected:
  static std::shared_ptr<const std::byte> packed(std::byte value) {
    return std::make_shared<const std::byte>(value);
  }
  static PackedStore::Key key(const graph::Constant& constant, const char* layout) {
    return {constant.bytes.data(), layout};
  }
  PackedStore store_;
  graph::Constant constant_ = graph::Constant::of(std::vector<float>{1, 2, 3});
};

TEST_F(Store, FindsAConstantInTheLayoutInWhichItWasPacked) {
  const auto blocked = packed(std::byte{1}), plain = packed(std::byte{2});
  store_.keep(key(constant_, "blocked"), constant_, blocked);
  store_.keep(key(constant_, "plain"), constant_, plain);
  EXPECT_EQ(store_.find(key(constant_, "blocked")), blocked);
  EXPECT_EQ(store_.find(key(constant_, "plain")), plain);
  EXPECT_EQ(store_.find(key(constant_, "other")), nullptr);
}

TEST_F(Store, KeepsNothingAlive) {
  auto blocked = packed(std::byte{1});
  store_.keep(key(constant_, "blocked"), constant_, blocked);
  blocked.reset();
  EXPECT_EQ(store_.find(key(constant_, "blocked")), nullptr);
}

// Another constant may lie at the address of one that is gone.
TEST_F(Store, DoesNotFindWhatWasPackedOfAConstantThatIsGone) {
  const auto blocked = packed(std::byte{1});
  const PackedStore::Key key = this->key(constant_, "blocked");
  store_.keep(key, constant_, blocked);
  constant_ = {};
  EXPECT_EQ(store_.find(key), nullptr);
  store_.drop_expired();
  EXPECT_EQ(store_.find(key), nullptr);
}

}  // namespace
}  // namespace millrace::device::cpu
