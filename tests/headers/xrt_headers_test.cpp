// The headers of XRT: every name that releases 2.16 to 2.19 install for C++ is there and compiles
// alone.
#include <filesystem>
#include <fstream>
#include <set>

#include "source_dir.h"
#include "tests/headers/compilers.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

const std::string kInclude = MILLRACE_SOURCE_DIR "/include/";

const std::set<std::string> kStable = {
    "xrt/xrt.h",       "xrt/xrt_aie.h",        "xrt/xrt_bo.h",     "xrt/xrt_device.h",
    "xrt/xrt_graph.h", "xrt/xrt_hw_context.h", "xrt/xrt_kernel.h", "xrt/xrt_uuid.h"};

// These lie in experimental/ and, since release 2.18, in xrt/experimental/.
const std::set<std::string> kExperimental = {
    "xrt_aie.h",       "xrt_bo.h",      "xrt_device.h", "xrt_elf.h",       "xrt_error.h",
    "xrt_exception.h", "xrt_ext.h",     "xrt_fence.h",  "xrt_graph.h",     "xrt_hw_context.h",
    "xrt_ini.h",       "xrt_ip.h",      "xrt_kernel.h", "xrt_mailbox.h",   "xrt_message.h",
    "xrt_module.h",    "xrt_profile.h", "xrt_queue.h",  "xrt_pscontext.h", "xrt_system.h",
    "xrt_uuid.h",      "xrt_version.h", "xrt_xclbin.h"};

std::set<std::string> all_names() {
  std::set<std::string> names = kStable;
  for (const std::string& name : kExperimental) {
    names.insert("experimental/" + name);
    names.insert("xrt/experimental/" + name);
  }
  return names;
}

TEST(XrtHeaderNames, AreThoseOfXrt) {
  std::set<std::string> found;
  for (const std::string folder : {"xrt", "xrt/experimental", "experimental"})
    for (const auto& file : std::filesystem::directory_iterator(kInclude + folder))
      if (file.is_regular_file()) found.insert(folder + "/" + file.path().filename().string());
  EXPECT_EQ(found, all_names());
}

// A header is compiled together with those that only include it, which come first.
TEST(XrtHeaderNames, EachIsEnough) {
  const Compiler compiler = compilers().front();
  if (!compiler.found()) GTEST_SKIP() << "there is no " << compiler.name << " here";
  std::set<std::string> names = kExperimental;
  for (const std::string& name : kStable) names.insert(name.substr(name.find('/') + 1));
  const TemporaryDirectory directory;
  for (const std::string& name : names) {
    const std::string source = directory.file("alone.cpp");
    {
      std::ofstream file(source);
      for (const char* folder : {"experimental/", "xrt/experimental/", "xrt/"})
        if (std::filesystem::exists(kInclude + folder + name))
          file << "#include \"" << folder << name << "\"\n";
    }
    EXPECT_EQ(complaints(compiler, "c++17", source), "") << name;
  }
}

class XrtHeaders : public ::testing::TestWithParam<Compiler> {};

TEST_P(XrtHeaders, AreOneSetForEveryCompiler) {
  if (!GetParam().found()) GTEST_SKIP() << "there is no " << GetParam().name << " here";
  const TemporaryDirectory directory;
  const std::string source = directory.file("all.cpp");
  {
    std::ofstream file(source);
    for (const std::string& name : all_names()) file << "#include <" << name << ">\n";
  }
  for (const char* standard : {"c++17", "c++20"})
    EXPECT_EQ(complaints(GetParam(), standard, source), "");
}

INSTANTIATE_TEST_SUITE_P(Headers, XrtHeaders, ::testing::ValuesIn(compilers()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace millrace::test
