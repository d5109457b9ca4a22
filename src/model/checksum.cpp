#include "model/checksum.h"

#include <xxhash.h>
#ifdef MILLRACE_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>
#endif

namespace millrace::model {
namespace {

// The library chooses its vectors at the first call, which no second thread may make meanwhile.
void choose_vectors() noexcept {
#ifdef MILLRACE_XXHASH_DISPATCH
  [[maybe_unused]] static const XXH64_hash_t chosen = XXH3_64bits_dispatch("", 0);
#endif
}

}  // namespace

// With the dispatching header these are macros for the functions that choose.
uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  choose_vectors();
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::pair<uint64_t, uint64_t> long_checksum_of(std::span<const std::byte> bytes) noexcept {
  choose_vectors();
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

}  // namespace millrace::model
