#include "runtime/loading/verification.h"

#include <cstdint>
#include <utility>

#include "base/process/thread.h"
#include "base/process/topology.h"
#include "graph/archive/codec.h"

namespace millrace::runtime {
namespace {

// For fewer bytes, starting a thread takes as long as verifying the checksums.
constexpr uint64_t kWorthAThread = uint64_t{4} << 20;

bool is_worth_a_thread(const model::Archive& archive) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < archive.segment_count(); ++i) bytes += archive.segment(i).size();
  return bytes >= kWorthAThread && topology().core_budget > 1;
}

}  // namespace

Verification::Verification(std::shared_ptr<const model::Archive> archive)
    : archive_(std::move(archive)) {
  if (!is_worth_a_thread(*archive_)) return;
  Result<std::thread> thread =
      start_thread("millrace-verify", [this] { status_ = graph::verify_constants(*archive_); });
  // If the system refuses a thread, finish() verifies the checksums.
  if (thread.ok()) thread_ = *std::move(thread);
}

Verification::~Verification() {
  if (thread_.joinable()) thread_.join();
}

Status Verification::finish() {
  if (!thread_.joinable()) return graph::verify_constants(*archive_);
  thread_.join();
  return status_;
}

}  // namespace millrace::runtime
