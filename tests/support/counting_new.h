// Counts what operator new hands out. A program that links counting_new.cpp replaces the operators;
// they have a file of their own because g++ 12, when it inlines them, warns about malloc and free.
#pragma once

#include <cstddef>

namespace millrace::test {

size_t allocation_count() noexcept;

}  // namespace millrace::test
