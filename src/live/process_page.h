// ProcessPage: the memory file in which a process shows its units to `millrace top`. It is found as
// memory/published_file.h says.
//
// A reader asks by adding 1 to `asked` and waking the process, which then writes its view and says
// which question it has answered. So a process that nobody looks at does nothing, and none does
// anything for each job. The reader is of the same user, and may write to the page: the process
// reads nothing of it but `asked`. A reader trusts nothing of what it reads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "queue/units/run_times.h"

namespace millrace::live {

inline constexpr size_t kMostUnits = 256, kNameBytes = 64;

struct UnitView {
  uint64_t made;  // the number of the unit among those that the process ever had
  uint64_t submitted, refused, succeeded, cancelled, dropped, late, failed;
  int64_t mean_run_ns;  // 0 if no job was measured
  uint32_t in_flight, depth;
  uint32_t lanes;  // of its device
  uint16_t id;
  uint8_t degraded, closed;
  std::array<char, kNameBytes> name;  // ends with 0
  queue::RunTimes::Counts run_times;
};

struct ProcessView {
  int64_t time_ns;         // now_ns(), which processes of one machine share
  uint64_t buffer_bytes;   // memory/buffer_bytes.h
  uint32_t units, others;  // in `unit`, and those for which there is no room
  std::array<UnitView, kMostUnits> unit;
};
static_assert(std::is_trivially_copyable_v<ProcessView> && sizeof(ProcessView) % 8 == 0);

// The name of the file and the signature at its beginning.
//
// They are no members of the class, and not inline: g++ would make unique symbols of them
// (STB_GNU_UNIQUE). The dynamic linker has a table of these, and ends the process where it has no
// memory to enlarge it, as while a plugin is loaded.
constexpr std::string_view kPageName = "millrace-live";
constexpr std::array<char, 8> kPageSignature = {'m', 'r', 'l', 'i', 'v', 'e', '0', '1'};

// The contents of the file. Processes of other versions read it, so it is changed together with the
// signature.
struct ProcessPage {
  std::array<char, 8> signature;
  // The process that shows itself. A forked child has the file of its parent and is another one.
  std::atomic<int32_t> pid;
  std::atomic<uint32_t> asked, answered;
  // Odd while the view is written.
  std::atomic<uint32_t> writes;
  std::array<uint64_t, sizeof(ProcessView) / 8> view;  // read and written as atomic words
};
static_assert(std::atomic<uint32_t>::is_always_lock_free);

// Copy the view into the page and out of it. A copy of a view that is being written is not taken:
// false.
void write_view(ProcessPage& page, const ProcessView& view) noexcept;
bool read_view(const ProcessPage& page, ProcessView& view) noexcept;

// Wait until the word is no longer `value`, for `ms` milliseconds at most, and wake all who wait,
// in any process.
void wait_while(const std::atomic<uint32_t>& word, uint32_t value, int ms) noexcept;
void wake_all(const std::atomic<uint32_t>& word) noexcept;

}  // namespace millrace::live
