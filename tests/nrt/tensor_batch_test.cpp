// Many transfers in one call.
#include <array>

#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

class TensorBatches : public NrtTest {
 protected:
  TensorBatches() : NrtTest("null") {}

  std::string content(const ScopedTensor& tensor) {
    std::string text(nrt_tensor_get_size(tensor.get()), '?');
    EXPECT_EQ(nrt_tensor_read(tensor.get(), text.data(), 0, text.size()), NRT_SUCCESS);
    return text;
  }

  const ScopedTensor one_{4}, other_{4};
  std::string ab_ = "ab", cd_ = "cd", efgh_ = "efgh";
  std::array<nrt_tensor_batch_op_t, 2> two_ops_{{{0, 2, ab_.data()}, {2, 2, cd_.data()}}};
  std::array<nrt_tensor_batch_op_t, 1> one_op_{{{0, 4, efgh_.data()}}};
  std::array<nrt_tensor_batch_t, 2> batches_{
      {{one_.get(), two_ops_.data(), 2}, {other_.get(), one_op_.data(), 1}}};
};

TEST_F(TensorBatches, WriteAndReadManyRanges) {
  ASSERT_EQ(nrt_tensor_write_batch(batches_.data(), batches_.size()), NRT_SUCCESS);
  EXPECT_EQ(content(one_), "abcd");
  EXPECT_EQ(content(other_), "efgh");
  ab_ = cd_ = "--";
  efgh_ = "----";
  ASSERT_EQ(nrt_tensor_read_batch(batches_.data(), batches_.size()), NRT_SUCCESS);
  EXPECT_EQ(ab_ + cd_ + efgh_, "abcdefgh");
}

TEST_F(TensorBatches, ThirdArgumentIsIgnored) {
  ASSERT_EQ(nrt_tensor_write_batch(batches_.data(), batches_.size(), true), NRT_SUCCESS);
  ab_ = "--";
  ASSERT_EQ(nrt_tensor_read_batch(batches_.data(), batches_.size(), false), NRT_SUCCESS);
  EXPECT_EQ(ab_, "ab");
}

TEST_F(TensorBatches, AreCheckedBeforeAnyByteMoves) {
  one_op_[0].offset = 1;
  EXPECT_EQ(nrt_tensor_write_batch(batches_.data(), batches_.size()), NRT_INVALID);
  one_op_[0] = {0, 4, nullptr};
  EXPECT_EQ(nrt_tensor_write_batch(batches_.data(), batches_.size()), NRT_INVALID);
  batches_[1].ops = nullptr;
  EXPECT_EQ(nrt_tensor_write_batch(batches_.data(), batches_.size()), NRT_INVALID);
  batches_[1].tensor = nullptr;
  EXPECT_EQ(nrt_tensor_write_batch(batches_.data(), batches_.size()), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_tensor_write_batch(nullptr, 1), NRT_INVALID);
  EXPECT_EQ(content(one_), std::string(4, '\0'));
}

TEST_F(TensorBatches, MayBeEmpty) {
  EXPECT_EQ(nrt_tensor_read_batch(nullptr, 0), NRT_SUCCESS);
  batches_[0].num_ops = 0;
  batches_[0].ops = nullptr;
  EXPECT_EQ(nrt_tensor_write_batch(batches_.data(), 1), NRT_SUCCESS);
}

}  // namespace
}  // namespace millrace::test
