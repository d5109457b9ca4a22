// What stands in libdnnl's tables for two functions of OpenMP (openmp.h), for its own tests.
#pragma once

namespace millrace::device::cpu::openmp {

// GOMP_parallel: runs `function` once for each of `threads` threads, 0 for as many as the scope of
// the calling thread says; as chunks of its team where it leads one.
void parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);

// GOMP_barrier: in a region of several threads on a thread of the device it returns at once, and
// the region is one that take_refused_barrier() tells of.
void barrier();

}  // namespace millrace::device::cpu::openmp
