// Inference on real dma-bufs: of another exporter (the kernel's vgem), of /dev/udmabuf and of
// /dev/dma_heap, in this process and in a second one. Where a machine lacks these, the tests are
// skipped; `make test-dma-buf` runs them in a virtual machine that has them all.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string>

#include "base/unique_fd.h"
#include "memory/buffer.h"
#include "tests/support/dma_buf_calls.h"
#include "tests/vart/runner_fixture.h"
#include "tests/vart/vgem_buffer.h"

namespace millrace::vartml {
namespace {

using test::kVgemNode;
using test::VgemBuffer;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

bool is_dma_buf(int fd) {
  struct statfs info = {};
  return ::fstatfs(fd, &info) == 0 && info.f_type == DMA_BUF_MAGIC;
}

size_t mappings_of_banks() {
  std::ifstream maps("/proc/self/maps");
  size_t count = 0;
  for (std::string line; std::getline(maps, line);)
    count += line.find("/dmabuf:millrace:DDR0") != std::string::npos;
  return count;
}

void send_descriptors(int socket, const std::array<int, 2>& fds) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(fds))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(fds));
  std::memcpy(CMSG_DATA(header), fds.data(), sizeof(fds));
  ASSERT_EQ(::sendmsg(socket, &message, 0), 1);
}

std::array<int, 2> receive_descriptors(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  std::array<int, 2> fds{-1, -1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(fds))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1)
    std::memcpy(fds.data(), CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fds));
  return fds;
}

NpuTensor wrap(const NpuTensorInfo& info, int fd) {
  return NpuTensor(info, &fd, MemoryType::DMA_FD);
}

StatusCode infer(Runner& runner, int in_fd, int out_fd) {
  const auto info = [&](TensorDirection direction) {
    return runner.get_tensors_info(direction, TensorType::CPU)[0];
  };
  Tensors out{{wrap(info(TensorDirection::OUTPUT), out_fd)}};
  return runner.execute({{wrap(info(TensorDirection::INPUT), in_fd)}}, out);
}

class DmaBufTest : public RunnerTest {
 protected:
  DmaBufTest() {
    use_device("cpu");
    runner_ = make_runner();
    test::take_sync_calls();
  }
  ~DmaBufTest() override { unsetenv("MILLRACE_SHARED_MEMORY"); }

  static const NpuTensorInfo& info(const Runner& runner, TensorDirection direction) {
    return runner.get_tensors_info(direction, TensorType::CPU)[0];
  }
  size_t in_bytes() const { return info(*runner_, TensorDirection::INPUT).size_in_bytes; }
  size_t out_bytes() const { return info(*runner_, TensorDirection::OUTPUT).size_in_bytes; }
  std::vector<float> numbers() const { return test::tiny_numbers(in_bytes() / sizeof(float), 7); }
  std::vector<float> result_in(const float* data) const {
    return {data, data + out_bytes() / sizeof(float)};
  }

  std::shared_ptr<Runner> runner_;
};

class OfAnotherExporter : public DmaBufTest {
 protected:
  void SetUp() override {
    card_ = UniqueFd(::open(kVgemNode, O_RDWR | O_CLOEXEC));
    if (!card_) GTEST_SKIP() << "no " << kVgemNode << " (vgem): " << std::strerror(errno);
    if (!test::is_vgem(card_.get())) GTEST_SKIP() << kVgemNode << " is not vgem's";
    in_ = std::make_unique<VgemBuffer>(card_.get(), in_bytes());
    out_ = std::make_unique<VgemBuffer>(card_.get(), out_bytes());
    std::ranges::copy(numbers(), in_->data());
    ASSERT_TRUE(is_dma_buf(in_->fd()));
  }

  UniqueFd card_;
  std::unique_ptr<VgemBuffer> in_, out_;
};

TEST_F(OfAnotherExporter, AJobReadsAndWritesThem) {
  EXPECT_EQ(infer(*runner_, in_->fd(), out_->fd()), StatusCode::SUCCESS);
  EXPECT_EQ(result_in(out_->data()), test::tiny_reference(numbers()));
  EXPECT_THAT(
      test::take_sync_calls(),
      ElementsAre(DMA_BUF_SYNC_START | DMA_BUF_SYNC_READ, DMA_BUF_SYNC_START | DMA_BUF_SYNC_WRITE,
                  DMA_BUF_SYNC_END | DMA_BUF_SYNC_WRITE, DMA_BUF_SYNC_END | DMA_BUF_SYNC_READ));
  EXPECT_EQ(test::failed_sync_calls(), 0);
}

TEST_F(OfAnotherExporter, ASecondProcessRunsTheJob) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::string path = model(), socket = std::to_string(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/proc/self/exe", "dma_buf_test", "--infer", path.c_str(), socket.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  send_descriptors(ends[0], {in_->fd(), out_->fd()});
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ::close(ends[0]);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(result_in(out_->data()), test::tiny_reference(numbers()));
}

class OfTheRunner : public DmaBufTest, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    setenv("MILLRACE_SHARED_MEMORY", GetParam(), 1);
    try {
      runner_->allocate_npu_tensor(info(*runner_, TensorDirection::INPUT));
    } catch (const std::runtime_error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_P(OfTheRunner, AJobReadsAndWritesThem) {
  Tensors in = inputs(*runner_, 1, TensorType::CPU), out = outputs(*runner_, 1, TensorType::CPU);
  const std::vector<float> given = numbers();
  std::ranges::copy(given, data<float>(in[0][0]));
  const UniqueFd exported(in[0][0].export_buffer());
  EXPECT_TRUE(is_dma_buf(exported.get()));
  EXPECT_EQ(runner_->execute(in, out), StatusCode::SUCCESS);
  EXPECT_EQ(result_in(data<float>(out[0][0])), test::tiny_reference(given));
  EXPECT_THAT(test::take_sync_calls(), SizeIs(4));
  EXPECT_EQ(test::failed_sync_calls(), 0);
}

TEST_P(OfTheRunner, TheyCanBeWrappedAndAreNotKept) {
  UniqueFd in_fd, out_fd;
  {
    Tensors in = inputs(*runner_, 1, TensorType::CPU), out = outputs(*runner_, 1, TensorType::CPU);
    std::ranges::copy(numbers(), data<float>(in[0][0]));
    in_fd = UniqueFd(in[0][0].export_buffer());
    out_fd = UniqueFd(out[0][0].export_buffer());
    EXPECT_EQ(mappings_of_banks(), 2u);
  }
  EXPECT_EQ(mappings_of_banks(), 0u);
  EXPECT_EQ(infer(*runner_, in_fd.get(), out_fd.get()), StatusCode::SUCCESS);
  EXPECT_EQ(mappings_of_banks(), 0u) << "memory of a bank is free when its last user is gone";
  void* const mapped = ::mmap(nullptr, out_bytes(), PROT_READ, MAP_SHARED, out_fd.get(), 0);
  ASSERT_NE(mapped, MAP_FAILED);
  EXPECT_EQ(result_in(static_cast<const float*>(mapped)), test::tiny_reference(numbers()));
  ::munmap(mapped, out_bytes());
}

INSTANTIATE_TEST_SUITE_P(Sources, OfTheRunner, testing::Values("udmabuf", "dma_heap"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Udmabuf, OneThatIsTooLargeIsRefusedWithTheLimit) {
  std::ifstream limit("/sys/module/udmabuf/parameters/size_limit_mb");
  size_t megabytes = 0;
  if (!(limit >> megabytes)) GTEST_SKIP() << "no udmabuf";
  const Status refused =
      memory::Buffer::allocate((megabytes + 1) << 20, memory::MemorySource::kUdmabuf).status();
  EXPECT_EQ(refused.code(), millrace::StatusCode::kOutOfMemory);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("/dev/udmabuf"), HasSubstr("size_limit_mb")));
}

}  // namespace

// The second process runs one job on the buffers whose descriptors come over the socket.
int infer_for_another_process(const char* model, int socket) {
  const std::array<int, 2> fds = receive_descriptors(socket);
  const auto runner = RunnerFactory::create_runner(RunnerType::VAIML, model, {});
  return infer(*runner, fds[0], fds[1]) == StatusCode::SUCCESS ? 0 : 1;
}

}  // namespace millrace::vartml

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--infer") == 0)
    return millrace::vartml::infer_for_another_process(argv[2], std::stoi(argv[3]));
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
