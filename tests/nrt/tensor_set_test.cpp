// Tensor sets.
#include "tests/nrt/nrt_fixture.h"

namespace millrace::test {
namespace {

class TensorSets : public NrtTest {
 protected:
  TensorSets() : NrtTest("null") {}

  ScopedTensor tensor_{16}, other_{16};
  ScopedSet set_{"a", tensor_.get()};
};

TEST_F(TensorSets, ANameCanBeGivenAnew) {
  nrt_tensor_t* found = nullptr;
  ASSERT_EQ(nrt_get_tensor_from_tensor_set(set_.get(), "a", &found), NRT_SUCCESS);
  EXPECT_EQ(found, tensor_.get());
  ASSERT_EQ(nrt_add_tensor_to_tensor_set(set_.get(), "a", other_.get()), NRT_SUCCESS);
  ASSERT_EQ(nrt_get_tensor_from_tensor_set(set_.get(), "a", &found), NRT_SUCCESS);
  EXPECT_EQ(found, other_.get());
}

TEST_F(TensorSets, NamesAreCopied) {
  std::string name = "temporary";
  ASSERT_EQ(nrt_add_tensor_to_tensor_set(set_.get(), name.c_str(), other_.get()), NRT_SUCCESS);
  name = "overwritten";
  nrt_tensor_t* found = nullptr;
  EXPECT_EQ(nrt_get_tensor_from_tensor_set(set_.get(), "temporary", &found), NRT_SUCCESS);
  EXPECT_EQ(found, other_.get());
}

TEST_F(TensorSets, AMissingNameLeavesTheResultAsItWas) {
  nrt_tensor_t* found = other_.get();
  EXPECT_EQ(nrt_get_tensor_from_tensor_set(set_.get(), "b", &found), NRT_FAILURE);
  EXPECT_EQ(found, other_.get());
}

TEST_F(TensorSets, OutliveTheirTensors) {
  nrt_tensor_free(tensor_.address());
  nrt_tensor_t* found = nullptr;
  EXPECT_EQ(nrt_get_tensor_from_tensor_set(set_.get(), "a", &found), NRT_SUCCESS);
  nrt_tensor_set_t* const before = set_.get();
  nrt_destroy_tensor_set(set_.address());
  EXPECT_EQ(set_.get(), nullptr);
  nrt_destroy_tensor_set(set_.address());
  nrt_destroy_tensor_set(nullptr);
  EXPECT_EQ(nrt_get_tensor_from_tensor_set(before, "a", &found), NRT_INVALID_HANDLE);
}

TEST_F(TensorSets, ArgumentsThatMakeNoSense) {
  nrt_tensor_t* found = nullptr;
  EXPECT_EQ(nrt_allocate_tensor_set(nullptr), NRT_INVALID);
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(nullptr, "a", tensor_.get()), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(set_.get(), "b", nullptr), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(set_.get(), nullptr, tensor_.get()), NRT_INVALID);
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(set_.get(), std::string(256, 'n').c_str(), tensor_.get()),
            NRT_INVALID);
  EXPECT_EQ(nrt_add_tensor_to_tensor_set(set_.get(), std::string(255, 'n').c_str(), tensor_.get()),
            NRT_SUCCESS);
  EXPECT_EQ(nrt_get_tensor_from_tensor_set(nullptr, "a", &found), NRT_INVALID_HANDLE);
  EXPECT_EQ(nrt_get_tensor_from_tensor_set(set_.get(), nullptr, &found), NRT_INVALID);
  EXPECT_EQ(nrt_get_tensor_from_tensor_set(set_.get(), "a", nullptr), NRT_INVALID);
}

}  // namespace
}  // namespace millrace::test
