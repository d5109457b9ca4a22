// Memory set aside for the kernel libraries, oneDNN and libgomp, which end the process when one of
// their own allocations fails: constructors throw where nothing may, generated code is written
// through null pointers, and libgomp calls exit().
//
// This library, libmillrace-reserve.so, is a dependency of the CPU device. Before the kernel
// libraries run any code it replaces the functions for memory that they call (see imports.h) by its
// own. Those ask the system first, exactly as before, and give out memory of the reserve only for
// what the system refuses. With versions of oneDNN that need it (library.h), the C++ library's
// calls of malloc() and free() are replaced, too: only threads that initialise oneDNN or make a
// primitive get memory of the reserve from them.
//
// The reserve is part of the library's zero-initialised data: loading the library fails when there
// is no room for it, and it occupies no page before it is used. Who makes primitives or runs them
// asks first whether enough is left, and fails with kOutOfMemory where it is not.
//
// Thread-safe. Nothing here throws or allocates.
#pragma once

#include <cstddef>

namespace millrace::device::cpu::reserve {

// Memory that one call that makes a primitive may need: descriptors and generated code.
inline constexpr size_t kForMaking = size_t{24} << 20;
// Memory that the calls that run primitives on all lanes at one time need: oneDNN allocates a few
// hundred bytes for each and frees them before it returns.
inline constexpr size_t kForRunning = size_t{1} << 20;

// Replaces the functions if this library was loaded before the kernel libraries; else that has
// happened already. Not to be called while a thread runs code of theirs. Returns how many calls
// were replaced: 0 where their tables cannot be written to; then everything works, but a failed
// allocation of theirs ends the process.
int replace_calls() noexcept;
// Says that the calling thread, which has loaded the kernel libraries, is done with that. Until
// then functions of the C++ library that the thread calls get memory of the reserve, too, when the
// system refuses it.
void end_initialisation() noexcept;

// While it lives, the same holds for the thread that made it, which makes a primitive. Scopes do
// not nest.
class MakingPrimitive {
 public:
  MakingPrimitive() noexcept;
  ~MakingPrimitive();
  MakingPrimitive(const MakingPrimitive&) = delete;
  MakingPrimitive& operator=(const MakingPrimitive&) = delete;
};

// Bytes of the reserve that are not in use.
size_t bytes_free() noexcept;

// Memory of the reserve: null when there is not enough.
void* allocate(size_t bytes, size_t alignment) noexcept;
// Whether `memory` points to memory of the reserve.
bool owns(const void* memory) noexcept;
size_t size_of(const void* memory) noexcept;
void release(void* memory) noexcept;

}  // namespace millrace::device::cpu::reserve
