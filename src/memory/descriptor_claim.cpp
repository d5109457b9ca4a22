#include "memory/descriptor_claim.h"

#include <sys/resource.h>

#include <atomic>
#include <limits>

namespace millrace::memory {
namespace {

std::atomic<uint64_t> claimed{0};

}  // namespace

uint64_t DescriptorClaim::limit() noexcept {
  rlimit limits = {};
  if (::getrlimit(RLIMIT_NOFILE, &limits) != 0 || limits.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<uint64_t>::max();
  return limits.rlim_cur;
}

std::optional<DescriptorClaim> DescriptorClaim::try_make() noexcept {
  DescriptorClaim claim = make();
  if (claimed.load(std::memory_order_relaxed) > limit() / 2) return std::nullopt;
  return claim;
}

DescriptorClaim DescriptorClaim::make() noexcept {
  claimed.fetch_add(1, std::memory_order_relaxed);
  return DescriptorClaim();
}

DescriptorClaim::~DescriptorClaim() {
  if (held_) claimed.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace millrace::memory
