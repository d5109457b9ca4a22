#include "cli/supervision/process_rights.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/unique_fd.h"

namespace millrace::cli {
namespace {

// All rights except those to read, in the first version of Landlock's ABI, which every kernel with
// Landlock knows.
constexpr uint64_t kChanges =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
    LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

bool keep_capabilities_to_read() {
  constexpr uint32_t kReading = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;
  __user_cap_header_struct version = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct held[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &version, held) != 0) return false;
  const uint32_t effective = held[0].effective & kReading, permitted = held[0].permitted & kReading;
  held[0] = {effective, permitted, 0};
  held[1] = {};
  return ::syscall(SYS_capset, &version, held) == 0;
}

// Creates the rule set of Landlock; the descriptor is empty where the kernel has no Landlock.
UniqueFd rules_against_changes() {
  landlock_ruleset_attr handled{};
  handled.handled_access_fs = kChanges;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
}

// A process under such rules may trace only processes under the same rules.
bool take_rules(const UniqueFd& rules) {
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0;
}

}  // namespace

Status restrict_rights() {
  const UniqueFd rules = rules_against_changes();
  if ((!rules || take_rules(rules)) && keep_capabilities_to_read()) return {};
  return unsupported(
      fmt::format("this system does not let a process drop its rights: {}", std::strerror(errno)));
}

}  // namespace millrace::cli
