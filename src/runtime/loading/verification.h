// Verification: the checksums of the constants of an archive, compared while the model is prepared
// for a device. An object belongs to one thread.
#pragma once

#include <memory>
#include <thread>

#include "base/status.h"
#include "model/archive.h"

namespace millrace::runtime {

class Verification {
 public:
  // Begins, on a thread of its own where there is one for it and enough to read.
  explicit Verification(std::shared_ptr<const model::Archive> archive);
  // Blocks until the thread has ended.
  ~Verification();
  Verification(const Verification&) = delete;
  Verification& operator=(const Verification&) = delete;

  // Blocks until all checksums are compared. kCorruptData. Call it once.
  Status finish();

 private:
  const std::shared_ptr<const model::Archive> archive_;
  Status status_;       // the thread's result, when it has ended
  std::thread thread_;  // last: it uses the others
};

}  // namespace millrace::runtime
