// AllocationTrace: which library asks the heap for memory. A program that links
// allocation_trace.cpp replaces malloc and its relatives (operator new ends there too), for all of
// its libraries.
//
// An allocation counts for the nearest caller outside the C and C++ run-time libraries. Counts the
// allocations of all threads between start() and stop(), which one thread calls. Needs glibc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace millrace::bench {

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
};

}  // namespace millrace::bench
