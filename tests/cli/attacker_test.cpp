// These tests represent a model that has taken over its child process. Each line of the table in
// docs/security.md, "The sandbox of `millrace run`", has a test here or in sandbox_test.cpp.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "io/file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/landlock.h"

namespace millrace::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class Attacker : public CliTest {
 protected:
  Attacker() {
    const std::vector<float> picture(32 * 32, 0.5F);
    EXPECT_TRUE(io::write_file(input_, std::as_bytes(std::span(picture))).ok());
    EXPECT_TRUE(std::filesystem::create_directory(file("out")));
    EXPECT_TRUE(io::write_file(file("out/precious.bin"), std::as_bytes(std::span("old"))).ok());
  }

  std::vector<std::string> command(const std::string& device) const {
    return {MILLRACE_PROGRAM, "run",          model_, "--input",  input_,
            "--sandbox",      "--output-dir", "out",  "--device", device};
  }

  // Runs the plugin in place of a device, with redirections as in a shell.
  ProgramResult attack(const std::string& name, const std::string& redirections = "") const {
    ::setenv("MILLRACE_TEST_ATTACK", name.c_str(), 1);
    ::setenv("MILLRACE_PLUGIN_DIR", MILLRACE_HOSTILE_PLUGINS, 1);
    std::vector<std::string> shell = {"/bin/sh", "-c", "exec \"$@\" " + redirections, "sh"};
    const std::vector<std::string> program = command("compromised");
    shell.insert(shell.end(), program.begin(), program.end());
    const ProgramResult result = run_program(shell, directory_.path().string());
    ::unsetenv("MILLRACE_PLUGIN_DIR");
    ::unsetenv("MILLRACE_TEST_ATTACK");
    return result;
  }

  std::vector<std::string> outputs() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(file("out")))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  std::string text_of(const std::string& name) const {
    const auto bytes = io::read_file(file(name));
    EXPECT_TRUE(bytes.ok());
    return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
  }

  const std::string input_ = file("picture.bin");
  const std::string model_ = compiled("glyphs.rai");
};

TEST_F(Attacker, MovesNoOtherProcessToACore) {
  EXPECT_THAT(attack("affinity").err, HasSubstr("affinity: EPERM\n"));
}

TEST_F(Attacker, HidesNoMemoryInFilesAndPipes) {
  const ProgramResult result = attack("memory");
  EXPECT_THAT(result.err, HasSubstr("memfd: ENOSYS\n"));
  EXPECT_THAT(result.err, HasSubstr("pipes: few\n"));
}

TEST_F(Attacker, WritesOnlyWhatTheModelHasNamed) {
  for (const char* name : {"forge", "forge escapes", "name"}) {
    const ProgramResult result = attack(name);
    EXPECT_EQ(result.exit_code, 1) << name;
    EXPECT_THAT(outputs(), testing::ElementsAre("precious.bin")) << name;
    EXPECT_EQ(text_of("out/precious.bin"), std::string("old", 4)) << name;
    EXPECT_THAT(result.out + result.err, Not(HasSubstr("\x1b"))) << name;
  }
}

TEST_F(Attacker, WritesEachOutputOnce) {
  EXPECT_EQ(attack("forge twice").exit_code, 1);
  EXPECT_EQ(text_of("out/scores.bin"), "first");
}

TEST_F(Attacker, ControlsNoTerminal) {
  const ProgramResult result = attack("paint");
  const std::string painted = "\\x1b]0;title\\x07 \\x9b31m \\u202e nib.a\n";
  EXPECT_EQ(result.out, painted);
  EXPECT_EQ(result.err, painted + "millrace: \\x1b[31mreason\\x0amillrace: all is well\n");
}

TEST_F(Attacker, PrintsNoMoreThanALimit) {
  expect_failure(attack("flood", ">/dev/null"), "prints more than 64 MiB");
}

// Standard output and error are one file, which can be read, written and mapped, like a terminal.
TEST_F(Attacker, HasNoDescriptorOfItsParent) {
  attack("descriptors", "0<>shared 1<>shared 2>&1 7<>shared");
  const std::string told = text_of("shared");
  EXPECT_THAT(told, HasSubstr("open: 0 1 2 3 "));
  EXPECT_THAT(told, Not(HasSubstr(" 7 ")));
  EXPECT_THAT(told, Not(HasSubstr("map: done")));
  EXPECT_THAT(told, HasSubstr("write to input: EBADF"));
}

TEST_F(Attacker, SeesNoMemoryOfItsParent) {
  if (!has_landlock()) GTEST_SKIP() << "the kernel has no Landlock";
  const ProgramResult result = attack("parent");
  for (const char* file : {"/mem", "/environ", "/fd/1"})
    EXPECT_THAT(result.err, HasSubstr(std::string(file) + ": EACCES\n"));
}

// The folder of an earlier run is used again, and other files in it stay.
TEST_F(Attacker, LeavesUsersWhatTheyHave) {
  for (int run = 0; run < 2; ++run) {
    const ProgramResult result = run_program(command("cpu"), directory_.path().string());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("wrote out/scores.bin (")) << run;
  }
  EXPECT_EQ(text_of("out/precious.bin"), std::string("old", 4));
}

}  // namespace
}  // namespace millrace::test
