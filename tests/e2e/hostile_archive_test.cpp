// Damaged copies of the demo's archive are refused with a reason, or run; they never crash.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <regex>

#include "device/registry.h"
#include "graph/archive/codec.h"
#include "model/archive.h"
#include "source_dir.h"
#include "tests/e2e/pipeline.h"
#include "tests/support/address_checks.h"
#include "tests/support/archive_mutation.h"

namespace millrace::test {
namespace {

// More under AddressSanitizer, which finds every wrong access. A fuzz target goes on from there.
constexpr uint64_t kMutations = kChecksAddresses ? 4'000 : 1'000;
constexpr uint64_t kShards = 4;  // so that ctest can run them side by side

// A reason without its quoted names and numbers, so that equal reasons can be counted.
std::string reason_of(const Status& status) {
  static const std::regex particulars(R"('[^']*'|\d+|\[[^\]]*\])");
  return std::string(to_string(status.code())) + ": " +
         std::regex_replace(status.message(), particulars, "_");
}

FrameBytes zero_inputs(const graph::CompiledModel& model) {
  FrameBytes frames(1);
  for (const graph::Boundary& input : model.inputs) frames[0].emplace_back(input.cpu.bytes());
  return frames;
}

class HostileArchive : public testing::TestWithParam<uint64_t> {
 protected:
  // The reason for a refusal, or "" when the archive loaded and ran on both devices.
  std::string try_archive(std::vector<std::byte> bytes) {
    const auto owner = std::make_shared<std::vector<std::byte>>(std::move(bytes));
    auto archive = model::Archive::from_memory(*owner, owner);
    if (!archive.ok()) return reason_of(archive.status());
    ++past_header_;
    auto model = graph::decode(*archive);
    if (!model.ok()) return reason_of(model.status());
    const auto shared = std::make_shared<const graph::CompiledModel>(*std::move(model));
    for (const char* name : {"null", "cpu"}) {
      const Status status = run_on(name, shared);
      if (!status.ok()) return reason_of(status.with_context(name));
    }
    return "";
  }

  static Status run_on(const char* name, const std::shared_ptr<const graph::CompiledModel>& model) {
    MILLRACE_ASSIGN_OR_RETURN(auto device, device::open_device(name));
    MILLRACE_ASSIGN_OR_RETURN(auto program, device->load(model));
    MILLRACE_ASSIGN_OR_RETURN(auto session, runtime::Session::create(device, program));
    return run_async(*session, zero_inputs(*model), device::View::kCpu).status();
  }

  uint64_t past_header_ = 0;
};

TEST_P(HostileArchive, IsRefusedWithAReasonOrRuns) {
  const auto archive = compile_to_archive(MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx", {});
  ASSERT_TRUE(archive.ok()) << archive.status().to_string();
  ASSERT_EQ(try_archive(*archive), "");
  const auto device = device::open_device("cpu");  // kept, so that its lanes are made once
  ASSERT_TRUE(device.ok()) << device.status().to_string();

  past_header_ = 0;
  std::map<std::string, uint64_t> outcomes;
  for (uint64_t seed = GetParam(); seed < kMutations; seed += kShards)
    ++outcomes[try_archive(mutate(*archive, seed))];
  for (const auto& [reason, count] : outcomes)
    std::cout << count << "  " << (reason.empty() ? "loaded and ran" : reason) << "\n";
  EXPECT_GE(past_header_, kMutations / kShards / 20) << "the damage never reached the verifier";
  EXPECT_GT(outcomes.size(), 5u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, HostileArchive, testing::Range(uint64_t{0}, kShards));

}  // namespace
}  // namespace millrace::test
