// The programs and commands in the documents about NRT work and print what the documents show.
#include <regex>
#include <sstream>

#include "source_dir.h"
#include "tests/headers/compilers.h"
#include "tests/install/client_build.h"
#include "tests/support/page_text.h"

namespace millrace::test {
namespace {

// The blocks of the page that begin with a line of "```" and `kind`, and end with one of "```".
std::vector<std::string> blocks(const std::string& page, const std::string& kind) {
  std::istringstream lines(content(MILLRACE_SOURCE_DIR "/docs/" + page));
  std::vector<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("```")) continue;
    const bool wanted = line == "```" + kind;
    std::string block;
    while (std::getline(lines, line) && line != "```") block += line + "\n";
    if (wanted) found.push_back(block);
  }
  return found;
}

// Runs the commands of a block in a shell in `folder`, to which the installation is known.
std::string replay(const std::string& block, const std::string& folder) {
  std::string script = "eval \"$('" + kPrefix + "/bin/millrace' env)\"\n";
  std::istringstream lines(block);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("$ "))
      script += "cat <<'SHOWN'\n" + line + "\nSHOWN\n" + line.substr(2) + "\n";
  const ProgramResult result = run_clean({"/bin/sh", "-ec", script}, folder);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.out;
}

// Times differ from run to run, and the last bits of results from processor to processor.
std::string without_measurements(const std::string& text) {
  return std::regex_replace(text, std::regex(R"([0-9.]+ ms|hash \w+)"), "-");
}

TEST(NrtPages, ShowAProgramAndWhatItAndTheSamplePrint) {
  MILLRACE_NEED_INSTALLATION();
  const TemporaryDirectory directory;
  std::filesystem::create_directory_symlink(MILLRACE_SOURCE_DIR "/models",
                                            directory.file("models"));
  const std::vector<std::string> programs = blocks("nrt.md", "c"), sessions = blocks("nrt.md", "");
  ASSERT_EQ(programs.size(), 1u);
  std::ofstream(directory.file("first_run.c")) << programs[0];
  ASSERT_EQ(sessions.size(), 2u);
  for (const std::string& session : sessions)
    EXPECT_EQ(without_measurements(replay(session, directory.path().string())),
              without_measurements(session));
}

// The snippets of docs/nrt-explicit-async.md are consecutive parts of one function.
TEST(NrtPages, ShowSnippetsThatCompile) {
  std::string source = R"(#include <nrt/nrt.h>
#include <nrt/nrt_async.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
void snippets(nrt_model_t* model, nrt_tensor_set_t* inputs, nrt_tensor_set_t* outputs,
              nrt_tensor_t* input, nrt_tensor_t* output, void* from, void* to, size_t size) {
)";
  const std::vector<std::string> snippets = blocks("nrt-explicit-async.md", "c");
  EXPECT_EQ(snippets.size(), 5u);
  for (const std::string& snippet : snippets) source += snippet;
  const TemporaryDirectory directory;
  const std::string file = directory.file("snippets.c");
  std::ofstream(file) << source << "}\n";
  for (const Compiler& compiler :
       {Compiler{"gcc", MILLRACE_GCC}, Compiler{"clang", MILLRACE_CLANG}}) {
    if (!compiler.found()) continue;
    EXPECT_EQ(complaints(compiler, "gnu11", file), "") << compiler.name;
  }
}

}  // namespace
}  // namespace millrace::test
