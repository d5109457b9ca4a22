#include "memory/buffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "base/hooks.h"

namespace millrace::memory {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

bool all_zero(const Buffer& buffer) {
  for (size_t i = 0; i < buffer.size(); ++i)
    if (buffer.data()[i] != std::byte{0}) return false;
  return true;
}

TEST(Buffer, EmptyHandleOwnsNothing) {
  const Buffer buffer;
  EXPECT_FALSE(buffer);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_EQ(buffer.device_address(), 0u);
  EXPECT_FALSE(buffer.writable());
  EXPECT_EQ(buffer.slice(0, 1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(buffer.export_fd().status().code(), StatusCode::kUnsupported);
  EXPECT_EQ(buffer.sync_for_device().code(), StatusCode::kInvalidArgument);
}

TEST(Buffer, HeapIsAlignedAndZeroed) {
  for (const size_t bytes : {size_t{1}, size_t{63}, size_t{64}, size_t{100001}}) {
    const Buffer buffer = *Buffer::allocate(bytes, BufferKind::kHeap);
    EXPECT_EQ(buffer.kind(), BufferKind::kHeap);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_TRUE(all_zero(buffer));
    EXPECT_TRUE(buffer.writable());
    EXPECT_EQ(buffer.export_fd().status().code(), StatusCode::kUnsupported);
  }
}

TEST(Buffer, SharedIsPageAlignedAndZeroed) {
  const Buffer buffer = *Buffer::allocate(5000);
  EXPECT_EQ(buffer.kind(), BufferKind::kShared);
  EXPECT_EQ(buffer.size(), 5000u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 4096, 0u);
  EXPECT_TRUE(all_zero(buffer));
}

TEST(Buffer, RefusesSizesThatCannotBe) {
  for (const BufferKind kind : {BufferKind::kHeap, BufferKind::kShared}) {
    EXPECT_EQ(Buffer::allocate(0, kind).status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(Buffer::allocate(std::numeric_limits<size_t>::max(), kind).status().code(),
              StatusCode::kOutOfMemory);
  }
  // More than an address space, yet a size that a sparse file may have.
  for (const BufferKind kind : {BufferKind::kHeap, BufferKind::kShared}) {
    const Status status = Buffer::allocate(size_t{1} << 60, kind).status();
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_THAT(status.message(), HasSubstr("1152921504606846976 bytes"));
  }
  EXPECT_EQ(Buffer::allocate(8, BufferKind::kWrapped).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Buffer, WrappedMemoryStaysTheCallers) {
  std::vector<int> values = {1, 2, 3};
  {
    const Buffer buffer = *Buffer::wrap(values.data(), sizeof(int) * 3);
    EXPECT_EQ(static_cast<void*>(buffer.data()), values.data());
    EXPECT_EQ(buffer.kind(), BufferKind::kWrapped);
    EXPECT_EQ(buffer.export_fd().status().code(), StatusCode::kUnsupported);
  }
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
  EXPECT_EQ(Buffer::wrap(nullptr, 8).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Buffer::wrap(values.data(), 0).status().code(), StatusCode::kInvalidArgument);
}

TEST(Buffer, SliceSharesTheMemoryAndKeepsItAlive) {
  Buffer slice;
  {
    const Buffer whole = *Buffer::allocate(4096 * 3);
    slice = *whole.slice(4096, 100);
    EXPECT_EQ(slice.data(), whole.data() + 4096);
    EXPECT_EQ(slice.device_address(), whole.device_address() + 4096);
    EXPECT_FALSE(whole.is_slice());
    whole.data()[4096] = std::byte{42};
  }
  EXPECT_TRUE(slice.is_slice());
  EXPECT_EQ(slice.size(), 100u);
  EXPECT_EQ(slice.data()[0], std::byte{42});
  EXPECT_TRUE(slice.sync_for_host().ok());
}

TEST(Buffer, SlicesGoOneLevelDeepAndStayInside) {
  const Buffer whole = *Buffer::allocate(100, BufferKind::kHeap);
  EXPECT_TRUE(whole.slice(0, 100).ok());
  EXPECT_TRUE(whole.slice(99, 1).ok());
  const Buffer slice = *whole.slice(10, 20);
  EXPECT_THAT(slice.slice(0, 1).status().message(), HasSubstr("cannot be sliced again"));
  const size_t huge = std::numeric_limits<size_t>::max();
  for (const auto& [offset, bytes] : std::vector<std::pair<size_t, size_t>>{
           {0, 0}, {0, 101}, {100, 1}, {101, 1}, {huge, 2}, {1, huge}})
    EXPECT_EQ(whole.slice(offset, bytes).status().code(), StatusCode::kInvalidArgument);
}

TEST(Buffer, DeviceAddressesOfLiveBuffersAreDistinctPages) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < 50; ++i) {
    buffers.push_back(*Buffer::allocate(1000 * (i + 1), BufferKind::kHeap));
    EXPECT_NE(buffers.back().device_address(), 0u);
    EXPECT_EQ(buffers.back().device_address() % 4096, 0u);
  }
  const auto address_less = [](const Buffer& a, const Buffer& b) {
    return a.device_address() < b.device_address();
  };
  std::sort(buffers.begin(), buffers.end(), address_less);
  for (size_t i = 1; i < buffers.size(); ++i)
    EXPECT_LE(buffers[i - 1].device_address() + buffers[i - 1].size(), buffers[i].device_address());
}

TEST(Buffer, OwnerKeepsTheMemoryAlive) {
  Buffer buffer = *Buffer::allocate(64, BufferKind::kHeap);
  std::byte* data = buffer.data();
  const std::shared_ptr<const void> owner = buffer.owner();
  buffer = Buffer();
  data[63] = std::byte{1};  // AddressSanitizer would object
  EXPECT_NE(owner, nullptr);
}

// The events of one buffer.
struct Events {
  std::mutex mutex;
  std::vector<HookEvent> seen;
};

void record(void* observer, const HookEvent& event) noexcept {
  auto& events = *static_cast<Events*>(observer);
  const std::lock_guard lock(events.mutex);
  events.seen.push_back(event);
}

TEST(Buffer, ObserversSeeItsLife) {
  Events events;
  ASSERT_TRUE(add_hook(record, &events));
  uint64_t address = 0;
  {
    const Buffer buffer = *Buffer::allocate(100);
    address = buffer.device_address();
    const Buffer slice = *buffer.slice(50, 10);
    EXPECT_TRUE(slice.sync_for_device().ok());
    EXPECT_TRUE(buffer.sync_for_host().ok());
    const int fd = *buffer.export_fd();
    EXPECT_TRUE(Buffer::import_fd(fd, 100).ok());
    ::close(fd);
  }
  remove_hook(record, &events);
  std::vector<HookPoint> points;
  for (const HookEvent& event : events.seen) points.push_back(event.point);
  ASSERT_THAT(points, ElementsAre(HookPoint::kBufferMade, HookPoint::kBufferSynced,
                                  HookPoint::kBufferSynced, HookPoint::kBufferMapped,
                                  HookPoint::kBufferFreed, HookPoint::kBufferFreed));
  EXPECT_EQ(events.seen[0].subject, address);
  EXPECT_EQ(events.seen[0].detail, 100u);
  EXPECT_EQ(events.seen[1].subject, address + 50);
  EXPECT_EQ(events.seen[1].detail, 0u);
  EXPECT_EQ(events.seen[2].detail, 1u);
  EXPECT_NE(events.seen[3].subject, address);
  EXPECT_EQ(events.seen[4].subject, events.seen[3].subject);
  EXPECT_EQ(events.seen[5].subject, address);
}

TEST(Buffer, CopiesAndSlicesFromSeveralThreads) {
  const Buffer whole = *Buffer::allocate(4096 * 8);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i)
    threads.emplace_back([&whole, i] {
      for (int round = 0; round < 200; ++round) {
        const Buffer copy = whole;
        const Buffer slice = *copy.slice(i * 4096, 4096);
        std::memset(slice.data(), static_cast<int>(i + 1), slice.size());
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(whole.data()[i * 4096 + 4095], std::byte(i + 1));
}

}  // namespace
}  // namespace millrace::memory
