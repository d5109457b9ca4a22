// The limit for processor time that control groups (cgroup v1 or v2) set for this process, for
// instance in a container. Thread-safe.
#pragma once

#include <string>

namespace millrace {

// Returns the smallest quota of this process's control group and its ancestors, in cores; 0 if
// there is none. Tests pass a directory `root` that replaces "/" in the paths of /proc and /sys.
double cgroup_cores(const std::string& root = {});

}  // namespace millrace
