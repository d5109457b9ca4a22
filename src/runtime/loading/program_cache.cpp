#include "runtime/loading/program_cache.h"

#include <xxhash.h>

#include "runtime/loading/loader.h"

namespace millrace::runtime {

Result<std::shared_ptr<const device::Program>> ProgramCache::load(
    std::span<const std::byte> archive) {
  const XXH128_hash_t hash = XXH3_128bits(archive.data(), archive.size());
  const std::lock_guard lock(mutex_);
  std::erase_if(programs_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const device::Program>& known = programs_[{hash.high64, hash.low64}];
  if (std::shared_ptr<const device::Program> program = known.lock()) return program;
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const device::Program> program,
                            load_program(archive, device_));
  known = program;
  return program;
}

}  // namespace millrace::runtime
