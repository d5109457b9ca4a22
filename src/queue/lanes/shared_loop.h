// SharedLoop: a parallel loop. The calling thread and idle lanes take pieces of its iterations, for
// work around a job that is worth more than one core, such as the rows of a picture. It starts no
// thread.
//
// The caller takes pieces until none is left, so a loop ends however busy the lanes are; then it
// waits only for lanes that are in the middle of a piece. For a lane, taking part in a loop is like
// a request: it is queued in the order of submission over all units, so requests that were accepted
// before the loop began come first.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "queue/lanes/lanes.h"

namespace millrace::queue {

class SharedLoop {
 public:
  // Runs the iterations [first, last).
  using Body = std::function<void(uint32_t first, uint32_t last)>;

  // Creates a loop in which `lanes` take part, all but one, in whose place the caller computes.
  // `lanes` must outlive the loop. Fails like Lanes::fill_up, and with kOutOfMemory.
  static Result<std::unique_ptr<SharedLoop>> create(Lanes& lanes);
  // Requirement: no thread is inside run().
  ~SharedLoop();
  SharedLoop(const SharedLoop&) = delete;
  SharedLoop& operator=(const SharedLoop&) = delete;

  // Calls `body`, concurrently, for pieces that together cover each iteration in [0, count) once,
  // and returns when all calls have returned. If a call throws, no further piece is begun, and the
  // exception is rethrown to the caller.
  //
  // Thread-safe: while one thread is inside, the loops of other threads run on their own thread
  // only, as does a loop in a forked child. Not a cancellation point.
  void run(uint32_t count, const Body& body);

 private:
  class Pieces;
  class Helper;

  explicit SharedLoop(Lanes& lanes);
  void add_helper();

  const std::shared_ptr<Lanes::Impl> lanes_;
  std::mutex turn_;  // held by the thread inside run() whose loop the helpers take part in
  const std::shared_ptr<Pieces> pieces_;
  std::vector<std::shared_ptr<Helper>> helpers_;
};

}  // namespace millrace::queue
