#include "runtime/loading/program_cache.h"

#include "model/checksum.h"
#include "runtime/loading/loader.h"
#include "runtime/loading/static_model.h"

namespace millrace::runtime {

Result<std::shared_ptr<const device::Program>> ProgramCache::load(
    std::span<const std::byte> archive) {
  const auto [low, high] = model::long_checksum_of(archive);
  const Key key(low, high, profile_of_environment());
  const std::lock_guard lock(mutex_);
  std::erase_if(programs_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const device::Program>& known = programs_[key];
  if (std::shared_ptr<const device::Program> program = known.lock()) return program;
  MILLRACE_ASSIGN_OR_RETURN(std::shared_ptr<const device::Program> program,
                            load_program(archive, device_));
  known = program;
  return program;
}

}  // namespace millrace::runtime
