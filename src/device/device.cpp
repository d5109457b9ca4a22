#include "device/device.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/hooks.h"
#include "base/names.h"

namespace millrace::device {
namespace {

// The size of the pieces of a transfer: small enough that a request to stop takes effect soon,
// large enough that the overhead of splitting is negligible.
constexpr size_t kPieceBytes = size_t{4} << 20;

}  // namespace

Result<std::shared_ptr<const Program>> Device::load_for_rank(
    std::shared_ptr<const graph::CompiledModel> model, std::shared_ptr<ranks::Communicator>) {
  return load(std::move(model));
}

Status Device::transfer(void* to, const void* from, size_t bytes,
                        queue::RunControl& control) noexcept {
  auto* const target = static_cast<std::byte*>(to);
  const auto* const source = static_cast<const std::byte*>(from);
  // If the ranges overlap and the target is at the higher address, the pieces are copied from the
  // end.
  const bool backwards = target > source && target < source + bytes;
  if (hooks_observe(control.sequence()))
    emit(HookPoint::kPhaseBegan, control.sequence(), name_id("transfer"));
  uint32_t step = 0;
  for (size_t done = 0; done < bytes;) {
    if (control.stop_requested()) return control.stop_status();
    control.begin_step(step++);
    const size_t piece = std::min(kPieceBytes, bytes - done);
    const size_t offset = backwards ? bytes - done - piece : done;
    std::memmove(target + offset, source + offset, piece);
    done += piece;
  }
  return {};
}

}  // namespace millrace::device
