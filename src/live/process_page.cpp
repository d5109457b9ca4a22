#include "live/process_page.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <ctime>

namespace millrace::live {
namespace {

// Words are 8 bytes of the view, which is copied as characters.
uint64_t word_of(const ProcessView& view, size_t index) noexcept {
  uint64_t word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(&view) + index * sizeof(word), sizeof(word));
  return word;
}

// Not of this process only, so without FUTEX_PRIVATE_FLAG.
void futex(const std::atomic<uint32_t>& word, int operation, uint32_t value,
           const timespec* timeout) noexcept {
  ::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

void write_view(ProcessPage& page, const ProcessView& view) noexcept {
  const uint32_t before = page.writes.load(std::memory_order_relaxed) & ~1u;
  page.writes.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (size_t i = 0; i < page.view.size(); ++i)
    std::atomic_ref(page.view[i]).store(word_of(view, i), std::memory_order_relaxed);
  page.writes.store(before + 2, std::memory_order_release);
}

bool read_view(const ProcessPage& page, ProcessView& view) noexcept {
  const uint32_t before = page.writes.load(std::memory_order_acquire);
  for (size_t i = 0; i < page.view.size(); ++i) {
    const uint64_t word =
        std::atomic_ref(const_cast<uint64_t&>(page.view[i])).load(std::memory_order_relaxed);
    std::memcpy(reinterpret_cast<char*>(&view) + i * sizeof(word), &word, sizeof(word));
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  return before % 2 == 0 && page.writes.load(std::memory_order_relaxed) == before;
}

void wait_while(const std::atomic<uint32_t>& word, uint32_t value, int ms) noexcept {
  const timespec timeout{.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1'000'000L};
  futex(word, FUTEX_WAIT, value, &timeout);
}

void wake_all(const std::atomic<uint32_t>& word) noexcept {
  futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace millrace::live
