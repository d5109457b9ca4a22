// Counts the bytes that operator new allocates. A program that links counting_new.cpp replaces the
// operators; they have a file of their own because g++ 12, when it inlines them, warns about malloc
// and free.
#pragma once

#include <cstddef>

namespace millrace::test {

size_t allocation_count() noexcept;
size_t allocated_bytes() noexcept;  // since the start, freed or not

// While it lives, one allocation of this thread fails: the one after the next `count`. At most one
// at a time.
class FailingAllocation {
 public:
  explicit FailingAllocation(size_t count) noexcept;
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  bool happened() const noexcept;
};

}  // namespace millrace::test
