#include "base/process/cgroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>

namespace millrace {
namespace {

// The location of a process's control group, and the function that reads its quota.
struct Group {
  std::string mount;  // the mount point of the hierarchy
  std::string path;   // the path of the group below it; "/" or "" for the root
  std::optional<double> (*quota)(const std::string& directory);
};

// Version 2: cpu.max has "QUOTA PERIOD" or "max PERIOD", in microseconds.
std::optional<double> quota_v2(const std::string& directory) {
  std::ifstream file(directory + "/cpu.max");
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

// Version 1: quota and period are in two files; a quota of -1 means none.
std::optional<double> quota_v1(const std::string& directory) {
  std::ifstream quota_file(directory + "/cpu.cfs_quota_us");
  std::ifstream period_file(directory + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 || period <= 0)
    return std::nullopt;
  return quota / period;
}

bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

// Returns the group of the cpu controller, which belongs to a hierarchy of either version 1 or
// version 2. A line of /proc/self/cgroup is "NUMBER:CONTROLLERS:PATH", and in version 2 "0::PATH".
std::optional<Group> group_of_this_process(const std::string& root) {
  std::optional<Group> group;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (names_cpu(controllers))
      return Group{fmt::format("{}/sys/fs/cgroup/{}", root, controllers), path, quota_v1};
    if (line.starts_with("0::")) group = Group{root + "/sys/fs/cgroup", path, quota_v2};
  }
  return group;
}

}  // namespace

double cgroup_cores(const std::string& root) {
  const std::optional<Group> group = group_of_this_process(root);
  if (!group) return 0;
  double tightest = 0;
  for (std::string path = group->path;;) {
    if (const std::optional<double> cores = group->quota(group->mount + path))
      tightest = tightest == 0 ? *cores : std::min(tightest, *cores);
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return tightest;
    path.resize(slash);
  }
}

}  // namespace millrace
