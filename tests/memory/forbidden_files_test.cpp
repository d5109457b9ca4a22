// Memory where the system forbids memfd_create, as seccomp filters of some containers do.
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iterator>
#include <thread>

#include "base/unique_fd.h"
#include "memory/bank_use.h"
#include "memory/buffer.h"
#include "tests/support/log_capture.h"
#include "tests/support/unique_name.h"

namespace millrace::memory {
namespace {

using ::testing::HasSubstr;

// Makes the system call fail with EPERM on this thread, for good; false where filters are refused.
bool forbid_on_this_thread(uint32_t call) {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(steps)), steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Runs `use` on a thread of its own that may not make the call.
void without(uint32_t call, const std::function<void()>& use) {
  bool forbidden = false;
  std::thread([&] {
    forbidden = forbid_on_this_thread(call);
    if (forbidden) use();
  }).join();
  if (!forbidden) GTEST_SKIP() << "this system refuses seccomp filters";
}

void expect_memory_without_file() {
  const Result<Buffer> made = Buffer::allocate(5000);
  ASSERT_TRUE(made.ok()) << made.status().message();
  std::memset(made->data(), 1, made->size());
  const Status exported = made->export_fd().status();
  EXPECT_EQ(exported.code(), StatusCode::kUnsupported);
  EXPECT_THAT(exported.message(), HasSubstr("forbids memfd_create"));
}

TEST(ForbiddenFiles, MemoryIsAnonymousWithoutMemfdCreateAndOneLineSaysSo) {
  const test::LogCapture log;
  without(SYS_memfd_create, [] {
    expect_memory_without_file();
    expect_memory_without_file();
  });
  EXPECT_LE(log.count("cannot be exported"), 1u) << "the process says it once";
}

TEST(ForbiddenFiles, MemoryIsAnonymousWithoutFtruncate) {
  without(SYS_ftruncate, expect_memory_without_file);
}

// The same happens where /proc is not mounted.
TEST(ForbiddenFiles, MemoryOfABankIsNotKeptWhereNamesCannotBeRead) {
  const std::string name = test::unique_name("nameless");
  without(SYS_readlink, [&name] {
    const auto bank = std::make_shared<Bank>(name, kUnlimited);
    const UniqueFd fd(Buffer::allocate_in(*bank, 4096).value().export_fd().value());
    EXPECT_TRUE(Buffer::import_fd(fd.get(), 4096).ok());
  });
  EXPECT_EQ(bank_use_of_all_processes()[name], 0u);
}

}  // namespace
}  // namespace millrace::memory
