// A runner that a program derives with the functions of release 6.2 does what programs of the next
// release ask of it, too.
#include <gtest/gtest.h>

#include <any>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "vart/vart_runner_factory.hpp"

namespace vart {
namespace {

using Batch = std::vector<std::vector<NpuTensor>>;

// Completes every job at once.
class InstantRunner : public Runner {
 public:
  InstantRunner() : Runner("model.rai") {}

  const std::vector<NpuTensorInfo>& get_tensors_info(TensorDirection, TensorType) const override {
    return infos_;
  }
  const NpuTensorInfo& get_tensor_info_by_name(const std::string&, TensorType) const override {
    return infos_.front();
  }
  const QuantParameters& get_quant_parameters(const std::string&) const override {
    return quantisation_;
  }
  size_t get_num_input_tensors() const override { return 1; }
  size_t get_num_output_tensors() const override { return 1; }
  size_t get_batch_size() const override { return 4; }
  StatusCode execute(const Batch&, Batch&) noexcept override { return StatusCode::SUCCESS; }
  JobHandle execute_async(const Batch&, Batch&) noexcept override {
    return {StatusCode::SUCCESS, 7};
  }
  JobHandle execute_async(const Batch&, Batch&, ExecuteAsyncCallback callback) noexcept override {
    callback({StatusCode::SUCCESS, 8});
    return {StatusCode::SUCCESS, 8};
  }
  StatusCode wait(const JobHandle&, std::chrono::milliseconds) noexcept override {
    return StatusCode::SUCCESS;
  }
  NpuTensor allocate_npu_tensor(const NpuTensorInfo& info) const override {
    ++allocations;
    return {info, memory_.data(), MemoryType::USER_POINTER_CMA};
  }
  NpuTensor allocate_sub_tensor(const NpuTensor& parent, const NpuTensorInfo&,
                                size_t) const override {
    return parent;
  }

  mutable int allocations = 0;

 private:
  std::vector<NpuTensorInfo> infos_ = std::vector<NpuTensorInfo>(1);
  QuantParameters quantisation_;
  mutable std::vector<char> memory_ = std::vector<char>(4);
};

class DerivedRunner : public ::testing::Test {
 protected:
  InstantRunner derived_;
  Runner& runner_ = derived_;
  Batch inputs_;
  Batch outputs_;
};

TEST_F(DerivedRunner, BothSidesHaveItsBatchSize) {
  EXPECT_EQ(runner_.get_batch_size(TensorDirection::INPUT), 4U);
  EXPECT_EQ(runner_.get_batch_size(TensorDirection::OUTPUT), 4U);
}

TEST_F(DerivedRunner, HasNoProperties) {
  EXPECT_THROW(runner_.get_property("model_name"), std::invalid_argument);
}

TEST_F(DerivedRunner, CallbacksGetTheUserData) {
  std::pair<uint32_t, int> called{0, 0};
  const auto callback = [](const JobHandle& job, void* data) {
    auto& note = *static_cast<std::pair<uint32_t, int>*>(data);
    note = {job.job_id, note.second + 1};
  };
  EXPECT_EQ(runner_.execute_async(inputs_, outputs_, callback, &called).job_id, 8U);
  EXPECT_EQ(called, (std::pair<uint32_t, int>{8, 1}));
}

TEST_F(DerivedRunner, WithoutACallbackAJobIsStartedAllTheSame) {
  EXPECT_EQ(runner_.execute_async(inputs_, outputs_, nullptr, nullptr).job_id, 7U);
}

TEST_F(DerivedRunner, AllocatesWithABankAsWithoutOne) {
  NpuTensorInfo info;
  info.name = "x";
  info.data_type = DataType::INT8;
  info.memory_layout = MemoryLayout::NC;
  info.size = 4;
  info.size_in_bytes = 4;
  info.shape = {1, 4};
  info.strides = {4, 1};
  EXPECT_NE(runner_.allocate_npu_tensor(info, 3).get_virtual_address(), nullptr);
  EXPECT_EQ(derived_.allocations, 1);
}

}  // namespace
}  // namespace vart
