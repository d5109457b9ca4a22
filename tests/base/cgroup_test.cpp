#include "base/process/cgroup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/temporary_directory.h"

namespace millrace {
namespace {

// A directory with /proc and /sys of a kernel.
class Cgroup : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  double cores() const { return cgroup_cores(root_.path().string()); }

  const test::TemporaryDirectory root_;
};

TEST_F(Cgroup, NoneWithoutControlGroups) {
  EXPECT_EQ(cores(), 0);
}

TEST_F(Cgroup, Version2TakesTheTightestQuotaUpToTheRoot) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  EXPECT_EQ(cores(), 0);
  write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
  EXPECT_EQ(cores(), 0);
  write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
  EXPECT_EQ(cores(), 1.5);
  write("sys/fs/cgroup/outer/inner/cpu.max", "300000 100000\n");
  EXPECT_EQ(cores(), 1.5);
}

TEST_F(Cgroup, Version1IsReadWhereItHasTheProcessor) {
  write("proc/self/cgroup", "4:memory:/m\n3:cpu,cpuacct:/service\n0::/\n");
  write("sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(cores(), 0);
  write("sys/fs/cgroup/cpu,cpuacct/service/cpu.cfs_quota_us", "50000\n");
  write("sys/fs/cgroup/cpu,cpuacct/service/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores(), 0.5);
  write("sys/fs/cgroup/cpu,cpuacct/service/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cores(), 0);
}

// If a container shows its own group as the root, the path in /proc leads nowhere.
TEST_F(Cgroup, Version1InAContainerIsReadAtTheRoot) {
  write("proc/self/cgroup", "1:cpu:/docker/0123\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cores(), 2.5);
}

TEST_F(Cgroup, NonsenseIsNoQuota) {
  write("proc/self/cgroup", "nonsense\n1:cpuset:/a\n0::/\n");
  write("sys/fs/cgroup/cpu.max", "-5 0\n");
  EXPECT_EQ(cores(), 0);
}

}  // namespace
}  // namespace millrace
