// Whether the kernel has Landlock, behind which the sandbox does more.
#pragma once

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace millrace::test {

inline bool has_landlock() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

}  // namespace millrace::test
