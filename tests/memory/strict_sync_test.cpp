// Strict sync: host and device have copies of their own, and a missing sync shows and is reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/hooks.h"
#include "base/unique_fd.h"
#include "memory/bank.h"
#include "memory/buffer.h"
#include "tests/support/log_capture.h"

namespace millrace::memory {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr size_t kBytes = 1000;

class StrictSync : public testing::Test {
 protected:
  StrictSync() {
    ::setenv("MILLRACE_STRICT_SYNC", "1", 1);
    buffer_ = allocate();
  }
  ~StrictSync() override { ::unsetenv("MILLRACE_STRICT_SYNC"); }

  static Buffer allocate() { return Buffer::allocate_in(*bank_, kBytes).value(); }
  DeviceSide& side() { return *buffer_.device_side(); }
  std::byte* host() { return buffer_.data(); }
  std::byte* device() { return side().device_of(host()); }

  static void fill(std::byte* data, int value, size_t bytes = kBytes) {
    std::memset(data, value, bytes);
  }
  static bool is_filled(const std::byte* data, int value, size_t bytes = kBytes) {
    for (size_t i = 0; i < bytes; ++i)
      if (data[i] != std::byte(value)) return false;
    return true;
  }
  // The accesses of a job on the device, seen from outside.
  void job_writes(int value, const char* label = "output") {
    side().before_write(host(), kBytes);
    fill(device(), value);
    side().written(host(), kBytes, label);
  }
  void job_reads(const char* label = "input") { side().before_read(host(), kBytes, label); }

  inline static const std::shared_ptr<Bank> bank_ = std::make_shared<Bank>("strict", kUnlimited);
  test::LogCapture log_{LogLevel::kWarning};
  Buffer buffer_;
};

TEST_F(StrictSync, IsOnlyForWhoAsks) {
  EXPECT_NE(buffer_.device_side(), nullptr);
  EXPECT_EQ(Buffer::allocate(kBytes)->device_side(), nullptr) << "in no bank";
  EXPECT_EQ(Buffer().device_side(), nullptr);
  for (const char* off : {"", "0"}) {
    ::setenv("MILLRACE_STRICT_SYNC", off, 1);
    EXPECT_EQ(allocate().device_side(), nullptr);
  }
  ::unsetenv("MILLRACE_STRICT_SYNC");
  EXPECT_EQ(allocate().device_side(), nullptr);
  EXPECT_NE(buffer_.device_side(), nullptr) << "decided when the memory was made";
}

TEST_F(StrictSync, TheDeviceSeesHostWritesAfterASyncOnly) {
  fill(host(), 7);
  EXPECT_TRUE(is_filled(device(), 0));
  ASSERT_TRUE(buffer_.sync_for_device().ok());
  EXPECT_TRUE(is_filled(device(), 7));
}

TEST_F(StrictSync, TheHostSeesResultsAfterASyncOnly) {
  job_writes(9);
  EXPECT_TRUE(is_filled(host(), 0));
  ASSERT_TRUE(buffer_.sync_for_host().ok());
  EXPECT_TRUE(is_filled(host(), 9));
}

TEST_F(StrictSync, ASyncOfWhatIsInSyncChangesNothing) {
  job_writes(9);
  ASSERT_TRUE(buffer_.sync_for_device().ok());
  EXPECT_TRUE(is_filled(device(), 9)) << "the host has written nothing";
  ASSERT_TRUE(buffer_.sync_for_host().ok());
  fill(host(), 5);
  ASSERT_TRUE(buffer_.sync_for_host().ok());
  EXPECT_TRUE(is_filled(host(), 5)) << "no job has written since";
}

TEST_F(StrictSync, SlicesAndImportsShareTheDevicesCopy) {
  const Buffer slice = buffer_.slice(100, 50).value();
  const UniqueFd fd(buffer_.export_fd().value());
  const Buffer imported = Buffer::import_fd(fd.get(), kBytes).value();
  EXPECT_EQ(slice.device_side()->device_of(slice.data()), device() + 100);
  ASSERT_EQ(imported.device_side(), buffer_.device_side());

  fill(host(), 3);
  ASSERT_TRUE(slice.sync_for_device().ok());
  EXPECT_TRUE(is_filled(device() + 100, 3, 50));
  EXPECT_EQ(device()[99], std::byte{0}) << "outside of the slice";
  EXPECT_EQ(device()[150], std::byte{0});
  ASSERT_TRUE(imported.sync_for_device().ok());
  EXPECT_TRUE(is_filled(device(), 3));

  job_writes(4);
  ASSERT_TRUE(slice.sync_for_host().ok());
  EXPECT_TRUE(is_filled(host() + 100, 4, 50));
  EXPECT_TRUE(is_filled(host(), 3, 100));
  EXPECT_TRUE(is_filled(host() + 150, 3, kBytes - 150));
  ASSERT_TRUE(buffer_.sync_for_host().ok());
  EXPECT_TRUE(is_filled(host(), 4));
}

TEST_F(StrictSync, AMissedHostWriteIsReportedOncePerLabel) {
  job_reads();
  EXPECT_THAT(log_.lines(), IsEmpty()) << "nothing was written";
  host()[500] = std::byte{1};
  job_reads("input \"data\"");
  job_reads("input \"data\"");
  EXPECT_THAT(log_.lines(),
              ElementsAre(AllOf(HasSubstr("input \"data\""), HasSubstr("sync_buffer"))));
  job_reads("input \"other\"");
  EXPECT_THAT(log_.lines(), testing::SizeIs(2));
}

TEST_F(StrictSync, AHostWriteThatMakesNoDifferenceIsNotReported) {
  job_writes(6);
  fill(host(), 6);
  job_reads();
  host()[0] = std::byte{1};
  ASSERT_TRUE(buffer_.sync_for_device().ok());
  job_reads();
  buffer_ = Buffer();
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(StrictSync, AResultThatTheHostNeverGotIsReported) {
  job_writes(1, "output \"a\"");
  EXPECT_THAT(log_.lines(), IsEmpty()) << "the sync may still come";
  job_writes(2, "output \"b\"");
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("output \"a\"")));
  buffer_ = Buffer();
  EXPECT_THAT(log_.lines(), ElementsAre(HasSubstr("output \"a\""), HasSubstr("output \"b\"")));
}

TEST_F(StrictSync, AResultThatAnotherJobReadsIsNotReported) {
  job_writes(1);
  job_reads();
  EXPECT_TRUE(is_filled(device(), 1));
  job_writes(2);
  ASSERT_TRUE(buffer_.sync_for_host().ok());
  buffer_ = Buffer();
  EXPECT_THAT(log_.lines(), IsEmpty());
}

TEST_F(StrictSync, ObserversSeeEveryMissingSync) {
  std::vector<HookEvent> events;
  const auto record = [](void* observer, const HookEvent& event) noexcept {
    if (event.point == HookPoint::kSyncMissing)
      static_cast<std::vector<HookEvent>*>(observer)->push_back(event);
  };
  ASSERT_TRUE(add_hook(record, &events));
  host()[0] = std::byte{1};
  job_reads();
  job_reads();
  job_writes(2);
  const uint64_t address = buffer_.device_address();
  buffer_ = Buffer();
  remove_hook(record, &events);
  ASSERT_EQ(events.size(), 3u);
  for (const HookEvent& event : events) EXPECT_EQ(event.subject, address);
  EXPECT_EQ(events[0].detail, 0u);
  EXPECT_EQ(events[2].detail, 1u);
}

}  // namespace
}  // namespace millrace::memory
