// AllocationTrace: which library asks the heap for memory. A program that links
// millrace_allocation_trace replaces malloc and its relatives (operator new ends there too), for
// all of its libraries; outside of start() and stop() that costs a load and a branch.
//
// An allocation counts for the nearest caller outside the libraries that allocate for others: the
// run-time libraries of C and C++, and the reserve of the kernel libraries. Counts the allocations
// of all threads between start() and stop(), which one thread calls. Needs glibc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::cli {

struct LibraryAllocations {
  std::string library;  // file name; for the program itself that of the program
  uint64_t count = 0;
  uint64_t bytes = 0;
};

class AllocationTrace {
 public:
  static void start();
  // Libraries that allocated since start(), in the order they were loaded.
  static std::vector<LibraryAllocations> stop();
  // For the replaced functions: `caller` asks for so many bytes. Thread-safe.
  static void record(size_t bytes, const void* caller) noexcept;
};

}  // namespace millrace::cli
