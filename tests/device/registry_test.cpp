#include "device/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/settings/environment.h"
#include "tests/support/temporary_directory.h"

namespace millrace::device {
namespace {

using ::testing::HasSubstr;

TEST(Registry, GivesTheSameDeviceWhileItIsKept) {
  const std::shared_ptr<Device> first = open_device("null", {.lanes = 3}).value();
  const std::shared_ptr<Device> second = open_device("null", {.lanes = 1}).value();
  EXPECT_EQ(first, second);
  EXPECT_EQ(second->lanes().count(), 3u) << "the options of who came first win";
}

TEST(Registry, MakesANewDeviceOnceTheOldOneIsGone) {
  EXPECT_EQ(open_device("null", {.lanes = 3}).value()->lanes().count(), 3u);
  EXPECT_EQ(open_device("null", {.lanes = 1}).value()->lanes().count(), 1u);
}

// Sets the variable, and at its end gives it back what it had: the tests may be run with a number
// of lanes. What is empty is as good as unset.
class LanesOfEnvironment {
 public:
  LanesOfEnvironment() : before_(environment_variable(kName)) {}
  ~LanesOfEnvironment() { set(before_.c_str()); }
  LanesOfEnvironment(const LanesOfEnvironment&) = delete;
  LanesOfEnvironment& operator=(const LanesOfEnvironment&) = delete;

  void set(const char* lanes) { setenv(kName, lanes, 1); }

 private:
  static constexpr const char* kName = "MILLRACE_LANES";
  const std::string before_;
};

TEST(Registry, TakesTheNumberOfLanesFromTheEnvironmentWhereNoneIsAskedFor) {
  LanesOfEnvironment environment;
  environment.set("5");
  EXPECT_EQ(open_device("null").value()->lanes().count(), 5u);
  EXPECT_EQ(open_device("null", {.lanes = 3}).value()->lanes().count(), 3u);
  for (const char* nonsense : {"0", "many", "-1", "1025"}) {
    environment.set(nonsense);
    const Status status = open_device("null").status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << nonsense;
    EXPECT_THAT(status.message(), HasSubstr("MILLRACE_LANES"));
  }
}

TEST(Registry, ThreadsThatAskAtTheSameTimeGetTheSameDevice) {
  std::vector<std::shared_ptr<Device>> devices(8);
  std::vector<std::thread> threads;
  for (std::shared_ptr<Device>& device : devices)
    threads.emplace_back([&device] { device = open_device("null").value(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::shared_ptr<Device>& device : devices) EXPECT_EQ(device, devices[0]);
}

TEST(Registry, FindsTheDeviceOfTheProgramOnlyWhileItIsOpen) {
  setenv("MILLRACE_DEVICE", "null", 1);
  EXPECT_EQ(find_device_of_program(), nullptr);
  std::shared_ptr<Device> opened = open_device_of_program().value();
  EXPECT_EQ(find_device_of_program(), opened);
  setenv("MILLRACE_FAULTS", "slow=1us", 1);
  EXPECT_EQ(find_device_of_program(), nullptr) << "the faulty device is another";
  unsetenv("MILLRACE_FAULTS");
  opened = nullptr;
  EXPECT_EQ(find_device_of_program(), nullptr);
  unsetenv("MILLRACE_DEVICE");
}

TEST(Registry, NamesThePluginThatIsNotThere) {
  const Status status = open_device("nosuch").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("libmillrace-nosuch.so"));
}

TEST(Registry, RefusesNamesThatCouldLeaveThePluginDirectory) {
  for (const char* name : {"", "../cpu", "a/b", "CPU", "a b"})
    EXPECT_EQ(open_device(name).status().code(), StatusCode::kInvalidArgument) << name;
}

class PluginDirectory : public ::testing::Test {
 protected:
  void SetUp() override { setenv("MILLRACE_PLUGIN_DIR", directory_.path().c_str(), 1); }
  void TearDown() override { unsetenv("MILLRACE_PLUGIN_DIR"); }

  test::TemporaryDirectory directory_;
};

TEST_F(PluginDirectory, IsWherePluginsAreLookedFor) {
  EXPECT_THAT(open_device("nosuch").status().message(), HasSubstr(directory_.path().string()));
}

TEST_F(PluginDirectory, AFileThatIsNoLibraryIsUnsupported) {
  std::ofstream(directory_.file("libmillrace-broken.so")) << "no library";
  const Status status = open_device("broken").status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("broken"));
}

TEST_F(PluginDirectory, ALibraryThatIsNoPluginIsUnsupported) {
  std::filesystem::copy(MILLRACE_NO_PLUGIN, directory_.file("libmillrace-other.so"));
  const Status status = open_device("other").status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("millrace_device_plugin"));
}

TEST_F(PluginDirectory, APluginOfAnotherVersionIsUnsupported) {
  std::filesystem::copy(MILLRACE_OLD_PLUGIN, directory_.file("libmillrace-old.so"));
  const Status status = open_device("old").status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("version"));
}

}  // namespace
}  // namespace millrace::device
