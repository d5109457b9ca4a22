#include "device/cpu/ranks/membership.h"

#include "base/cancellation.h"
#include "base/contained.h"

namespace millrace::device::cpu {
namespace {

class AtOnce final : public ranks::StopCheck {
 public:
  bool stop_requested() noexcept override { return true; }
};

}  // namespace

Status RankMembership::after_skip() {
  return {StatusCode::kClosed,
          "a job did not run on this rank, so that the collectives behind it would meet those of "
          "other jobs: load the model anew on every rank"};
}

// A call that is stopped ends the communicator.
void RankMembership::leave() noexcept {
  const CancellationOff whole;
  AtOnce stop;
  static_cast<void>(contained([&] { return communicator_->barrier({.stop = &stop}); }));
}

}  // namespace millrace::device::cpu
