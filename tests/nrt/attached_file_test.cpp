// Tensors in files of other programs, which these can truncate at any time: a program maps them
// with the native API, or as a tensor of VART, and attaches the memory.
#include <sys/mman.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "memory/buffer.h"
#include "tests/nrt/nrt_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

class AttachedFile : public NrtModelTest {
 protected:
  AttachedFile() {
    EXPECT_EQ(::ftruncate(file_.get(), 4096), 0);
    // The tensor keeps the memory.
    const memory::Buffer buffer = memory::Buffer::import_fd(file_.get(), 4096).value();
    EXPECT_EQ(nrt_tensor_attach_buffer(input_.get(), buffer.data(), kTinyInputBytes), NRT_SUCCESS);
  }
  void truncate() { ASSERT_EQ(::ftruncate(file_.get(), 10), 0); }

  const UniqueFd file_{::memfd_create("shrinks", MFD_CLOEXEC)};
  LogCapture log_;
};

TEST_F(AttachedFile, IsUsedInPlace) {
  const std::vector<float> numbers = some_input(3);
  ASSERT_EQ(::pwrite(file_.get(), numbers.data(), kTinyInputBytes, 0),
            static_cast<ssize_t>(kTinyInputBytes));
  ASSERT_EQ(execute(), NRT_SUCCESS);
  EXPECT_EQ(read_output(), tiny_reference(numbers));
}

// Touching what is lost would end the process with SIGBUS.
TEST_F(AttachedFile, ThatIsTruncatedFailsExecutions) {
  ASSERT_EQ(execute(), NRT_SUCCESS);
  truncate();
  EXPECT_EQ(execute(), NRT_FAILURE);
  EXPECT_EQ(log_.count("truncated: it has 10 of 192 bytes"), 1u);
  NRT_STATUS ret = NRT_SUCCESS;
  nrta_seq_t sequence = 0;
  ASSERT_EQ(schedule(&ret, &sequence), NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(ret, NRT_FAILURE);
}

TEST_F(AttachedFile, ThatIsTruncatedFailsCopies) {
  truncate();
  std::vector<float> host = some_input(1);
  EXPECT_EQ(nrt_tensor_read(input_.get(), host.data(), 0, kTinyInputBytes), NRT_FAILURE);
  EXPECT_EQ(nrt_tensor_write(input_.get(), host.data(), 0, kTinyInputBytes), NRT_FAILURE);
  EXPECT_EQ(nrt_tensor_memset(input_.get(), 0, 1, kTinyInputBytes), NRT_FAILURE);
  EXPECT_EQ(nrt_tensor_copy(input_.get(), 0, spare_.get(), 0, kTinyInputBytes), NRT_FAILURE);
  EXPECT_EQ(nrt_tensor_copy(spare_.get(), 0, input_.get(), 0, kTinyInputBytes), NRT_FAILURE);
  EXPECT_EQ(nrt_tensor_read(input_.get(), host.data(), 0, 10), NRT_SUCCESS) << "what is left";
}

TEST_F(AttachedFile, ThatIsTruncatedFailsTransfers) {
  truncate();
  NRT_STATUS ret = NRT_SUCCESS;
  nrta_seq_t sequence = 0;
  ASSERT_EQ(nrta_tensor_read(host_.data(), input_.get(), 0, kTinyInputBytes, 0, 0, &ret, &sequence),
            NRT_SUCCESS);
  await(sequence);
  EXPECT_EQ(ret, NRT_FAILURE);
}

TEST_F(AttachedFile, ThatIsTruncatedFailsAnExecutionThatCopiesItsInput) {
  // The input is the first part of the output's memory, so that it is copied first.
  const memory::Buffer buffer = memory::Buffer::import_fd(file_.get(), 4096).value();
  ASSERT_EQ(nrt_tensor_attach_buffer(output_.get(), buffer.data(), kTinyOutputBytes), NRT_SUCCESS);
  ASSERT_EQ(execute(), NRT_SUCCESS);
  truncate();
  EXPECT_EQ(execute(), NRT_FAILURE);
}

}  // namespace
}  // namespace millrace::test
