#include "cli/supervision/child_channel.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <span>
#include <string>
#include <vector>

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ChildChannel : public testing::Test {
 protected:
  ChildChannel() { open(); }

  void open() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    reading_ = UniqueFd(ends[0]);
    writing_ = UniqueFd(ends[1]);
  }

  Status send(const std::string& name, const std::string& text) const {
    return cli::send_output(writing_.get(), name, std::as_bytes(std::span(text)));
  }

  Result<std::optional<Status>> receive(const cli::ReceiveLimits& limits = {}) {
    writing_ = UniqueFd();
    return cli::receive(
        reading_.get(),
        [&](const std::string& name, std::span<const std::byte> bytes) {
          received_.push_back(name + ":" + std::to_string(bytes.size()));
          return Status();
        },
        limits);
  }

  UniqueFd reading_, writing_;
  std::vector<std::string> received_;
};

TEST_F(ChildChannel, PassesFilesAndTheStatus) {
  ASSERT_TRUE(send("a.bin", "four").ok());
  ASSERT_TRUE(send("b.bin", "").ok());
  ASSERT_TRUE(cli::send_status(writing_.get(), Status(StatusCode::kBusy, "all of it")).ok());
  const auto result = receive();
  ASSERT_TRUE(result.ok() && result->has_value());
  EXPECT_EQ((*result)->code(), StatusCode::kBusy);
  EXPECT_EQ((*result)->message(), "all of it");
  EXPECT_THAT(received_, ElementsAre("a.bin:4", "b.bin:0"));
}

TEST_F(ChildChannel, PassesTheNamesOfFiles) {
  ASSERT_TRUE(cli::send_names(writing_.get(), {"a.bin", "b.bin"}).ok());
  ASSERT_TRUE(send("a.bin", "four").ok());
  writing_ = UniqueFd();
  const auto settle = [this](const std::vector<std::string>& names) {
    received_ = names;
    return Status();
  };
  const auto give = [this](const std::string& name, std::span<const std::byte>) {
    received_.push_back(name);
    return Status();
  };
  ASSERT_TRUE(cli::receive(reading_.get(), cli::OutputSink(settle, give), {}).ok());
  EXPECT_THAT(received_, ElementsAre("a.bin", "b.bin", "a.bin"));
}

TEST_F(ChildChannel, NamesAreRefusedWhereNoneAreAskedFor) {
  ASSERT_TRUE(cli::send_names(writing_.get(), {"a.bin"}).ok());
  EXPECT_EQ(receive().status().code(), StatusCode::kCorruptData);
}

TEST_F(ChildChannel, AChildThatEndsEarlyHasNoStatus) {
  ASSERT_TRUE(send("a.bin", "four").ok());
  const auto result = receive();
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->has_value());
  EXPECT_THAT(received_, ElementsAre("a.bin:4"));
}

TEST_F(ChildChannel, NamesOfOtherFilesAreRefused) {
  for (const char* name :
       {"../a.bin", "/a.bin", "", ".bashrc", "a.rai", "\x1b[2J.bin", "\xff.bin"}) {
    open();
    ASSERT_TRUE(send(name, "four").ok());
    EXPECT_EQ(receive().status().code(), StatusCode::kCorruptData) << name;
  }
  EXPECT_THAT(received_, IsEmpty());
}

TEST_F(ChildChannel, NonsenseIsRefused) {
  const std::string nonsense(64, '\x7f');
  ASSERT_EQ(::write(writing_.get(), nonsense.data(), nonsense.size()), 64);
  EXPECT_EQ(receive().status().code(), StatusCode::kCorruptData);
}

TEST_F(ChildChannel, FilesHaveALimit) {
  ASSERT_TRUE(send("a.bin", "four").ok());
  EXPECT_EQ(receive({.most_bytes = 3}).status().code(), StatusCode::kCorruptData);
}

TEST_F(ChildChannel, WaitsNoLongerThanTheDeadline) {
  const UniqueFd silent(::dup(writing_.get()));
  EXPECT_EQ(receive({.deadline_ns = 1}).status().code(), StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace millrace::test
