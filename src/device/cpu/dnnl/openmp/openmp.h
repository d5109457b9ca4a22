// OpenMP as oneDNN sees it on threads of this device: the chunks of a team (queue/lanes/team.h)
// instead of a pool of threads of its own.
//
// oneDNN divides an operator into as many parts as OpenMP says there are threads when the primitive
// is made, and runs them in one parallel region. Here a region of n threads is n chunks, which the
// thread that runs the job and idle lanes take one after another. So a primitive has the same parts
// and gives the same bits whether one thread comes or many.
//
// That works for regions whose threads do not wait for each other. The others, in oneDNN's own
// matrix product and in its batch normalisation of plain layouts, are made for one thread and run
// with it (see may_be_divided() in dnnl/traits.h).
//
// If a thread of a region has raised the flag of invalid operations (invalid_flag.h), it is also
// raised on the thread that began the region, once the region has ended.
//
// The six functions of OpenMP that libdnnl calls are replaced in its tables, and only there, when
// this library is loaded. On threads that are in no OpenMpThreads scope, as those of a program that
// uses oneDNN itself, they call the OpenMP runtime as before.
#pragma once

#include <cstdint>

#include "queue/lanes/team.h"
#include "queue/requests/run_control.h"

namespace millrace::device::cpu {

// Whether oneDNN's primitives can be divided into chunks. Where its tables could not be written to,
// every primitive is made for one thread.
bool divides_primitives() noexcept;

// While it lives, oneDNN makes and runs primitives on this thread for `threads` threads, 1 at
// first. Scopes do not nest.
class OpenMpThreads {
 public:
  OpenMpThreads() noexcept;
  ~OpenMpThreads();
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;

  // From here on regions with more than one thread are chunks of `team`, which this thread leads as
  // `leader`. So many `helpers` can take part in the largest of them.
  void lead(queue::Team& team, queue::LaneId leader, uint32_t helpers) noexcept;
  // Requirement: 1 unless divides_primitives().
  void set(uint32_t threads) noexcept;

 private:
  int before_ = 1;
};

// While it lives in an OpenMpThreads scope, primitives are made and run for one thread.
class OneOpenMpThread {
 public:
  OneOpenMpThread() noexcept;
  ~OneOpenMpThread();
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  const uint32_t before_;
};

// Whether threads of a region of this thread's have wanted to wait for each other since the last
// call. They have not waited, so what they computed is wrong.
bool take_refused_barrier() noexcept;

}  // namespace millrace::device::cpu
