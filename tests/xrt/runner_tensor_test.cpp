// Tensors that a runner allocated are buffer objects, too.
#include "tests/vart/runner_fixture.h"
#include "xrt/xrt_bo.h"

namespace millrace::vartml {
namespace {

using RunnerTensorTest = RunnerTest;

TEST_F(RunnerTensorTest, TheBufferOfATensorIsABufferObject) {
  const auto runner = make_runner();
  Tensors tensors = inputs(*runner);
  NpuTensor& tensor = tensors[0][0];
  auto* object = static_cast<xrt::bo*>(tensor.get_buffer());
  EXPECT_EQ(object->map(), tensor.get_virtual_address());
  EXPECT_EQ(object->address(), tensor.get_physical_address());
  EXPECT_EQ(object->size(), tensor.get_info().size_in_bytes);
  object->sync(XCL_BO_SYNC_BO_TO_DEVICE);
  const xrt::bo copy = *object;
  EXPECT_EQ(copy.address(), object->address());
}

}  // namespace
}  // namespace millrace::vartml
