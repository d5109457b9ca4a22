// Verification: verifies the checksums of an archive's constants on another thread, while the model
// is prepared for a device. An object must be used by one thread.
#pragma once

#include <memory>
#include <thread>

#include "base/status.h"
#include "model/archive.h"

namespace millrace::runtime {

class Verification {
 public:
  // Starts a thread that verifies, if the archive is large, several cores may be used, and the
  // system allows a thread. Otherwise finish() verifies.
  explicit Verification(std::shared_ptr<const model::Archive> archive);
  // Waits until the thread has ended.
  ~Verification();
  Verification(const Verification&) = delete;
  Verification& operator=(const Verification&) = delete;

  // Returns when all checksums are verified; kCorruptData if one does not match. Call it only once.
  Status finish();

 private:
  const std::shared_ptr<const model::Archive> archive_;
  Status status_;       // the thread's result; valid once it has ended
  std::thread thread_;  // declared last, since it uses the other members
};

}  // namespace millrace::runtime
