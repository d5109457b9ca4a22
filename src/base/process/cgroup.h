// How much processor time the control groups of this process allow it, by either version of their
// interface: containers set it.
#pragma once

#include <string>

namespace millrace {

// The tightest quota on the way from this process's control group to the root, in cores; 0 without
// any. `root` stands for "/", where the kernel has /proc and /sys.
double cgroup_cores(const std::string& root = {});

}  // namespace millrace
