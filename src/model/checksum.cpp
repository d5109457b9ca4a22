#include "model/checksum.h"

#include <xxhash.h>
#ifdef MILLRACE_XXHASH_DISPATCH
#define XXH_DISPATCH_DISABLE_REPLACE  // The plain functions are called, too.
#include <xxh_x86dispatch.h>

#include "base/max_isa.h"
#endif

namespace millrace::model {
namespace {

#ifdef MILLRACE_XXHASH_DISPATCH

// True if xxHash may choose the widest vectors: it does not know MILLRACE_MAX_ISA, so it may not
// under a limit below AVX-512. It chooses at its first call, which is not thread-safe; the
// initialisation of the static variable makes that call on one thread.
bool may_choose_vectors() noexcept {
  static const bool may = [] {
    const Result<MaxIsa> most = max_isa();
    if (!most.ok() || *most < MaxIsa::kAvx512) return false;
    static_cast<void>(XXH3_64bits_dispatch("", 0));
    return true;
  }();
  return may;
}

XXH64_hash_t hash_of(std::span<const std::byte> bytes) noexcept {
  return may_choose_vectors() ? XXH3_64bits_dispatch(bytes.data(), bytes.size())
                              : XXH3_64bits(bytes.data(), bytes.size());
}

XXH128_hash_t long_hash_of(std::span<const std::byte> bytes) noexcept {
  return may_choose_vectors() ? XXH3_128bits_dispatch(bytes.data(), bytes.size())
                              : XXH3_128bits(bytes.data(), bytes.size());
}

#else

XXH64_hash_t hash_of(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

XXH128_hash_t long_hash_of(std::span<const std::byte> bytes) noexcept {
  return XXH3_128bits(bytes.data(), bytes.size());
}

#endif

}  // namespace

uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  return hash_of(bytes);
}

std::pair<uint64_t, uint64_t> long_checksum_of(std::span<const std::byte> bytes) noexcept {
  const XXH128_hash_t hash = long_hash_of(bytes);
  return {hash.high64, hash.low64};
}

}  // namespace millrace::model
