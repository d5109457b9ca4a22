// Clients of every kind compile, with both compilers, from C11 to C23 and from C++17 to C++23,
// without a warning.
#include <gmock/gmock.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <tuple>

#include "source_dir.h"
#include "tests/headers/compilers.h"
#include "tests/support/temporary_directory.h"

namespace millrace::test {
namespace {

const std::string kClients = MILLRACE_SOURCE_DIR "/tests/nrt_headers/client/";

// A compiler and a language mode. Both compilers' C++ drivers compile C as well.
class NrtHeaders : public ::testing::TestWithParam<std::tuple<Compiler, std::string>> {
 protected:
  void SetUp() override {
    if (!compiler().found()) GTEST_SKIP() << "there is no " << compiler().name << " here";
  }

  const Compiler& compiler() const { return std::get<0>(GetParam()); }
  bool is_cxx() const { return std::get<1>(GetParam()).starts_with("c++"); }

  // The compiler's messages when it refuses `source`.
  std::string complaints_about(const std::string& source,
                               const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options = {"-I" MILLRACE_SOURCE_DIR, "-x", is_cxx() ? "c++" : "c"};
    options.insert(options.end(), more.begin(), more.end());
    return complaints(compiler(), std::get<1>(GetParam()), source, options);
  }

  std::string complaints_about_text(const std::string& text) const {
    const TemporaryDirectory directory;
    const std::string source = directory.file("program.c");
    std::ofstream(source) << text;
    return complaints_about(source);
  }
};

std::vector<std::string> nrt_headers() {
  std::vector<std::string> names;
  for (const char* folder : {"nrt", "nrt/detail", "nrt/nds", "ndl"})
    for (const auto& file :
         std::filesystem::directory_iterator(MILLRACE_SOURCE_DIR "/include/" + std::string(folder)))
      if (file.is_regular_file())
        names.push_back(std::string(folder) + "/" + file.path().filename().string());
  return names;
}

std::string version(int number) {
  return "-DNRT_ASYNC_API_VERSION=" + std::to_string(number);
}

TEST_P(NrtHeaders, EachIsEnoughAlone) {
  const std::vector<std::string> headers = nrt_headers();
  EXPECT_THAT(headers,
              ::testing::IsSupersetOf(
                  {"nrt/nrt.h", "nrt/nrt_async.h", "nrt/nec.h", "nrt/nds/neuron_ds.h", "ndl/ndl.h",
                   "ndl/neuron_driver_shared.h", "ndl/neuron_driver_shared_tensor_batch_op.h"}));
  for (const std::string& header : headers) {
    if (header.find("async_forms_c") != std::string::npos) continue;  // each for one language
    if (header.find("async_v2") != std::string::npos) continue;       // for one form
    EXPECT_EQ(complaints_about_text("#include \"" + header + "\"\n#include <" + header +
                                    ">\nextern int one;\n"),
              "")
        << header;
  }
}

TEST_P(NrtHeaders, MayBeInsideTheClientsExternC) {
  std::string text = "#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  for (const std::string& header : nrt_headers())
    if (header.find("detail") == std::string::npos) text += "#include <" + header + ">\n";
  EXPECT_EQ(complaints_about_text(text + "#ifdef __cplusplus\n}\n#endif\n"), "");
}

TEST_P(NrtHeaders, KeepNumbersAndLayouts) {
  for (const int number : {0, 228, 229})
    EXPECT_EQ(complaints_about(kClients + "layout.c", {version(number)}), "") << number;
}

TEST_P(NrtHeaders, GiveEveryFunctionAnAddress) {
  for (const int number : {0, 228, 229})
    EXPECT_EQ(complaints_about(kClients + "addresses.c", {version(number)}), "") << number;
}

TEST_P(NrtHeaders, LetFunctionsBeUsedAsSuch) {
  const std::string client = is_cxx() ? "plain_functions.cpp" : "plain_functions.c";
  for (const int number : {0, 229})
    EXPECT_EQ(complaints_about(kClients + client, {version(number)}), "") << number;
}

TEST_P(NrtHeaders, TakeAllFormsSideBySide) {
  const std::string text =
      "#include \"tests/nrt_headers/calls.h\"\nvoid calls_of_c(void) { make_calls(); }\n";
  EXPECT_EQ(complaints_about_text(text), "");
  if (is_cxx()) {
    EXPECT_EQ(complaints_about(kClients + "cxx_forms.cpp"), "");
  }
}

TEST_P(NrtHeaders, TakeCommasInArguments) {
  EXPECT_EQ(
      complaints_about_text("#include \"tests/nrt_headers/calls_with_commas.h\"\n"
                            "void calls_of_c_with_commas(void) { make_calls_with_commas(); }\n"),
      "");
}

TEST_P(NrtHeaders, LetTestSuitesDefineTheFunctions) {
  EXPECT_EQ(complaints_about(kClients + "double_v2.c"), "");
  if (is_cxx()) {
    EXPECT_EQ(complaints_about(kClients + "double_v3.cpp"), "");
  }
}

TEST_P(NrtHeaders, KeepToOneFormOnRequest) {
  EXPECT_EQ(complaints_about(kClients + "one_form.c"), "");
}

TEST_P(NrtHeaders, RefuseAnUnknownVersion) {
  EXPECT_THAT(complaints_about(kClients + "layout.c", {version(227)}),
              ::testing::HasSubstr("NRT_ASYNC_API_VERSION must be 0"));
}

// The names that `pattern` captures in a text.
std::set<std::string> names_in_text(const std::string& text, const char* pattern) {
  const std::regex name(pattern);
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), name), end; match != end; ++match)
    names.insert((*match)[1]);
  return names;
}

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The names that `pattern` captures in a file.
std::set<std::string> names_in(const std::string& file, const char* pattern) {
  return names_in_text(text_of(file), pattern);
}

TEST(NrtFunctions, AllOfThemAreListed) {
  std::set<std::string> declared;
  for (const std::string& header : nrt_headers())
    declared.merge(names_in(MILLRACE_SOURCE_DIR "/include/" + header,
                            R"(\b((?:nrta?|ndl|nds|nec)_[a-z0-9_]+)\()"));
  EXPECT_GT(declared.size(), 140u);
  EXPECT_EQ(names_in(kClients + "functions.inc", R"(ADDRESS\((\w+)\))"), declared);
}

// Generators of bindings take the functions of the header that programs name, and not those of
// headers that it includes.
TEST(NrtFunctions, OfNrtHStandInItsText) {
  const std::string page = text_of(MILLRACE_SOURCE_DIR "/docs/nrt.md");
  const std::set<std::string> declared =
      names_in(MILLRACE_SOURCE_DIR "/include/nrt/nrt.h", R"(\b(nrt_[a-z0-9_]+)\()");
  size_t listed = 0;
  for (size_t at = page.find("\n### nrt.h: "); at != std::string::npos;
       at = page.find("\n### nrt.h: ", at + 1)) {
    const std::string section = page.substr(at, page.find("\n#", at + 1) - at);
    for (const std::string& name :
         names_in_text(section, R"(`(nrt_[a-z0-9_]+)`(?=[^\n]*\| (?:works|accepted|fails) \|))")) {
      ++listed;
      EXPECT_TRUE(declared.contains(name)) << name;
    }
  }
  EXPECT_GT(listed, 40u);
}

// A public client reads the numbers of element types out of the text of nrt.h.
TEST(NrtEnumerations, StandInTheTextOfTheHeaderThatProgramsName) {
  const std::string folder = MILLRACE_SOURCE_DIR "/include/nrt/";
  EXPECT_THAT(names_in(folder + "nrt.h", R"(typedef enum (\w+) \{)"),
              ::testing::UnorderedElementsAre("nrt_cc_op_type", "nrt_dtype", "nrt_op_type",
                                              "nrt_tensor_usage"));
  EXPECT_THAT(names_in(folder + "nrt.h", R"(\n  (NRT_DTYPE_\w+) = \d+)"), ::testing::SizeIs(17));
  EXPECT_THAT(names_in(folder + "nrt_async.h", R"(\n  (NRTA_XU_\w+) = \d+)"), ::testing::SizeIs(6));
  EXPECT_THAT(names_in(folder + "ndebug_stream.h", R"(typedef enum (\w+) \{)"),
              ::testing::ElementsAre("ndebug_stream_event_type"));
}

TEST(NrtMacros, AllOfThemHaveAPrefix) {
  std::set<std::string> macros;
  for (const std::string& header : nrt_headers())
    macros.merge(names_in(MILLRACE_SOURCE_DIR "/include/" + header, R"(#define (\w+))"));
  const std::set<std::string> published = {"GIT_HASH_LEN",
                                           "RT_VERSION_DETAIL_LEN",
                                           "DRIVER_VERSION_MAX_SIZE",
                                           "MAX_HBM_PER_DEVICE",
                                           "MAX_NC_PER_DEVICE",
                                           "MAX_NEURON_DEVICE_COUNT",
                                           "MODEL_MEM_USAGE_LOCATION_COUNT",
                                           "OBJECT_TYPE_MODEL_NODE_INFO",
                                           "OBJECT_TYPE_PROCESS_INFO",
                                           "OBJECT_TYPE_PROCESS_INFO_EXT"};
  const std::regex prefix("(NRTA?|NDL|NDS|NEC|NEURON|APP_INFO|nrta?)_.*");
  for (const std::string& macro : macros)
    EXPECT_TRUE(published.count(macro) == 1 || std::regex_match(macro, prefix)) << macro;
  EXPECT_GT(macros.size(), 30u);
}

INSTANTIATE_TEST_SUITE_P(Modes, NrtHeaders,
                         ::testing::Combine(::testing::ValuesIn(compilers()),
                                            ::testing::Values("c11", "c17", "c2x", "c++17", "c++20",
                                                              "c++2b")),
                         [](const auto& info) {
                           std::string name =
                               std::get<0>(info.param).name + "_" + std::get<1>(info.param);
                           for (char& c : name)
                             if (c == '+') c = 'x';
                           return name;
                         });

}  // namespace
}  // namespace millrace::test
