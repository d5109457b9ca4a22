// Memory does not use up the descriptors of the process, even where RLIMIT_NOFILE is small.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "base/unique_fd.h"
#include "memory/bank_use.h"
#include "memory/buffer.h"
#include "tests/support/address_checks.h"
#include "tests/support/descriptor_limit.h"
#include "tests/support/open_descriptors.h"
#include "tests/support/unique_name.h"

namespace millrace::memory {
namespace {

using test::open_descriptors;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Descriptors : public ::testing::Test {
 protected:
  static constexpr rlim_t kSoftLimit = 64;

  std::vector<Buffer> allocate(size_t count) {
    std::vector<Buffer> buffers;
    for (size_t i = 0; i < count; ++i) {
      Result<Buffer> made = Buffer::allocate_in(*bank_, 5000);
      EXPECT_TRUE(made.ok()) << made.status().message();
      if (made.ok()) buffers.push_back(*std::move(made));
    }
    return buffers;
  }
  static std::vector<UniqueFd> take_every_descriptor() {
    std::vector<UniqueFd> taken;
    while (UniqueFd fd{::open("/dev/null", O_RDONLY | O_CLOEXEC)}) taken.push_back(std::move(fd));
    return taken;
  }
  static bool exports(const Buffer& buffer) {
    const Result<int> exported = buffer.export_fd();
    return exported.ok() && ::close(*exported) == 0;
  }

  const std::shared_ptr<Bank> bank_ =
      std::make_shared<Bank>(test::unique_name("descriptors"), kUnlimited);
  const test::DescriptorLimit limit_{kSoftLimit};
};

TEST_F(Descriptors, MemoryHoldsHalfOfThemAtMost) {
  const size_t others = open_descriptors();
  std::vector<Buffer> buffers = allocate(200);
  EXPECT_LE(open_descriptors(), others + kSoftLimit / 2);
  EXPECT_TRUE(exports(buffers.front()));
  const Status refused = buffers.back().export_fd().status();
  EXPECT_EQ(refused.code(), StatusCode::kUnsupported);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("RLIMIT_NOFILE"), HasSubstr("64")));
  buffers.erase(buffers.begin());
  EXPECT_TRUE(exports(allocate(1)[0])) << "one was given back";
}

TEST_F(Descriptors, MemoryWithoutOneIsLikeAnyOther) {
  const std::vector<Buffer> buffers = allocate(200);
  EXPECT_EQ(bank_->used(), 200u * 5000);
  EXPECT_EQ(bank_use_of_all_processes()[bank_->name()], 200u * 8192);
  for (const Buffer& buffer : buffers) {
    EXPECT_EQ(buffer.kind(), BufferKind::kShared);
    EXPECT_EQ(buffer.data()[4999], std::byte{0});
    std::memset(buffer.data(), 7, buffer.size());
    EXPECT_TRUE(buffer.sync_for_device().ok());
    EXPECT_TRUE(buffer.slice(4096, 64).ok());
  }
}

TEST_F(Descriptors, MemoryIsThereWhenTheProgramHasTakenThemAll) {
  if (test::kChecksAddresses)
    GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors to look at objects";
  const std::vector<UniqueFd> taken = take_every_descriptor();
  const std::vector<Buffer> buffers = allocate(3);
  ASSERT_EQ(buffers.size(), 3u);
  EXPECT_EQ(bank_->used(), 3u * 5000);
  std::memset(buffers[2].data(), 7, buffers[2].size());
  EXPECT_THAT(buffers[2].export_fd().status().message(), HasSubstr("RLIMIT_NOFILE"));
}

TEST_F(Descriptors, ImportsCountAndAreNotRefused) {
  std::vector<Buffer> imports;
  for (int i = 0; i < 20; ++i) {
    const UniqueFd file(::memfd_create("foreign", MFD_CLOEXEC));
    ASSERT_EQ(::ftruncate(file.get(), 4096), 0);
    imports.push_back(Buffer::import_fd(file.get(), 4096).value());
  }
  const size_t before = open_descriptors();
  const std::vector<Buffer> buffers = allocate(100);
  EXPECT_LE(open_descriptors(), before + kSoftLimit / 2 - 20);
  EXPECT_TRUE(exports(imports.back()));
}

// They are a help while descriptors are plenty, and no reason to refuse anything.
TEST_F(Descriptors, KeptMappingsGiveTheirsBackWhenThereAreNoneLeft) {
  if (test::kChecksAddresses)
    GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors to look at objects";
  const auto foreign_file = [] {
    UniqueFd file(::memfd_create("foreign", MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(file.get(), 4096), 0);
    return file;
  };
  const UniqueFd file = foreign_file(), other = foreign_file();
  ASSERT_TRUE(Buffer::import_fd(foreign_file().get(), 4096).ok());
  const std::vector<UniqueFd> taken = take_every_descriptor();
  const Result<Buffer> imported = Buffer::import_fd(file.get(), 4096);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  const std::vector<UniqueFd> rest = take_every_descriptor();
  EXPECT_FALSE(Buffer::import_fd(other.get(), 4096).ok()) << "what is in use is not given back";
  EXPECT_FALSE(exports(*imported));
}

}  // namespace
}  // namespace millrace::memory
