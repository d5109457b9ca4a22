// SharedLoop: a loop whose iterations the calling thread and idle lanes divide among themselves,
// for work around a job that is worth more than one core, such as the rows of a picture. It starts
// no thread.
//
// The caller goes on until no iteration is left, so a loop ends however busy the lanes are; it
// waits only for lanes that are in the middle of a piece. A lane takes part in a loop as it takes a
// request: in the order of submission over all units, so requests that were accepted before the
// loop began come first.
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

  // A loop that `lanes`, which outlive it, take part in: all but one, whose place is the caller's.
  // The failures of Lanes::fill_up; kOutOfMemory.
  static Result<std::unique_ptr<SharedLoop>> create(Lanes& lanes);
  // No thread is inside run().
  ~SharedLoop();
  SharedLoop(const SharedLoop&) = delete;
  SharedLoop& operator=(const SharedLoop&) = delete;

  // Calls `body` for pieces that cover 0 to `count` once each, several at the same time, and
  // returns when all calls have. What a call throws is thrown to the caller; pieces that nobody has
  // begun by then are left out.
  //
  // Thread-safe; while one thread is inside, another runs its loop alone, as does one in a forked
  // child. Not a cancellation point.
  void run(uint32_t count, const Body& body);

 private:
  class Pieces;
  class Helper;

  explicit SharedLoop(Lanes& lanes);
  void add_helper();

  const std::shared_ptr<Lanes::Impl> lanes_;
  std::mutex turn_;  // held by the thread whose loop the helpers take part in
  const std::shared_ptr<Pieces> pieces_;
  std::vector<std::shared_ptr<Helper>> helpers_;
};

}  // namespace millrace::queue
