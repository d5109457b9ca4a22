// AllocationTrace counts heap allocations by the library that makes them. A program that links
// millrace_allocation_trace replaces malloc and its relatives, in which operator new ends, too, for
// all of its libraries. Outside of start() and stop() that costs a load and a branch.
//
// An allocation counts for the nearest caller outside the libraries that allocate on behalf of
// others: the run-time libraries of C and C++, fmt, and the reserve of oneDNN's memory. The
// allocations of all threads between start() and stop() are counted; one thread calls these. Needs
// glibc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace millrace::cli {

struct LibraryAllocations {
  std::string library;  // file name, without its folder, of the library or of the program
  uint64_t count = 0;
  uint64_t bytes = 0;
};

class AllocationTrace {
 public:
  static void start();
  // Returns the libraries that have allocated since start(), in the order in which they were
  // loaded.
  static std::vector<LibraryAllocations> stop();
  // Called by the replaced functions: `caller` allocates so many bytes. Thread-safe.
  static void record(size_t bytes, const void* caller) noexcept;
};

}  // namespace millrace::cli
