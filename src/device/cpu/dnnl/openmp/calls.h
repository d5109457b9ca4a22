// The functions that replace those of OpenMP in libdnnl's tables (openmp.h): for steps that call
// oneDNN from chunks of their own, and for tests.
#pragma once

namespace millrace::device::cpu::openmp {

// GOMP_parallel: runs `function` once for each of `threads` threads, 0 for as many as the scope of
// the calling thread says; as chunks of its team where it leads one.
void parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);

// GOMP_barrier: in a region of several threads on a thread of the device it returns at once, and
// the region is one that take_refused_barrier() tells of.
void barrier();

// omp_get_thread_num: the number of the thread in its region.
int thread_number();

}  // namespace millrace::device::cpu::openmp
