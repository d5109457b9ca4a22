// Clients of every kind compile, with g++ and clang++, as C++17 and C++20, without a warning.
#include <fstream>
#include <tuple>

#include "source_dir.h"
#include "tests/headers/compilers.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

using Way = std::tuple<Compiler, std::string, std::string>;  // compiler, standard, client

std::string readable(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

class Clients : public ::testing::TestWithParam<Way> {};

TEST_P(Clients, Compile) {
  const auto& [compiler, standard, client] = GetParam();
  if (!compiler.found()) GTEST_SKIP() << "there is no " << compiler.name << " here";
  EXPECT_EQ(complaints(compiler, standard, MILLRACE_SOURCE_DIR "/tests/headers/client/" + client),
            "");
}

INSTANTIATE_TEST_SUITE_P(Headers, Clients,
                         ::testing::Combine(::testing::ValuesIn(compilers()),
                                            ::testing::Values("c++17", "c++20"),
                                            ::testing::Values("tensors.cpp", "runners.cpp",
                                                              "frames.cpp", "functions.cpp",
                                                              "results.cpp", "derived.cpp",
                                                              "ml_program.cpp", "x_program.cpp",
                                                              "xrt_program.cpp", "xrt_host.cpp")),
                         [](const auto& info) {
                           return readable(std::get<0>(info.param).name + "_" +
                                           std::get<1>(info.param) + "_" + std::get<2>(info.param));
                         });

// Programs take standard headers from those of either face.
TEST(StandardHeaders, ComeWithEitherFace) {
  const std::string source = MILLRACE_SOURCE_DIR "/tests/headers/client/standard_headers.cpp";
  for (const Compiler& compiler : compilers()) {
    if (!compiler.found()) continue;
    EXPECT_EQ(complaints(compiler, "c++17", source), "");
    EXPECT_EQ(complaints(compiler, "c++17", source, {"-DONLY_VART_X"}), "");
  }
}

class Alone : public ::testing::TestWithParam<std::tuple<Compiler, std::string>> {};

TEST_P(Alone, EveryHeaderIsEnough) {
  const auto& [compiler, header] = GetParam();
  if (!compiler.found()) GTEST_SKIP() << "there is no " << compiler.name << " here";
  const TemporaryDirectory directory;
  const std::string source = directory.file("alone.cpp");
  std::ofstream(source) << "#include \"vart/" << header << "\"\n#include <vart/" << header << ">\n";
  EXPECT_EQ(complaints(compiler, "c++17", source), "");
}

INSTANTIATE_TEST_SUITE_P(Headers, Alone,
                         ::testing::Combine(::testing::ValuesIn(compilers()),
                                            ::testing::ValuesIn(header_names())),
                         [](const auto& info) {
                           return readable(std::get<0>(info.param).name + "_" +
                                           std::get<1>(info.param));
                         });

// Older programs take the buffer objects and devices of XRT from these headers.
TEST(TheHeadersOfImplementations, BringXrt) {
  const TemporaryDirectory directory;
  for (const std::string header : {"vart_memory_impl_vvas.hpp", "vart_videoframe_impl_xrt.hpp"}) {
    const std::string source = directory.file("brings_xrt.cpp");
    std::ofstream(source) << "#include \"vart/" << header
                          << "\"\nint main() {\n"
                             "  xrt::device d{0};\n"
                             "  xrt::bo b(d, 8, 0);\n"
                             "  return b.size() == 8 ? 0 : 1;\n"
                             "}\n";
    for (const Compiler& compiler : compilers()) {
      if (!compiler.found()) continue;
      EXPECT_EQ(complaints(compiler, "c++17", source), "") << header;
    }
  }
}

}  // namespace
}  // namespace millrace::test
