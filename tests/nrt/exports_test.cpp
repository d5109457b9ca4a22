// libnrt.so.1 exports what nrt.map lists, under the version nodes that programs ask for, and
// nothing else.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "source_dir.h"
#include "tests/support/subprocess.h"

namespace millrace::test {
namespace {

using Names = std::set<std::string>;

// The calls that programs of 2.28 find under the older node, too.
constexpr const char* kUnderBothNodes[] = {
    "nrta_cc_prepare",   "nrta_cc_schedule", "nrta_execute_schedule", "nrta_get_sequence",
    "nrta_is_completed", "nrta_tensor_copy", "nrta_tensor_read",      "nrta_tensor_write"};

// "name@@NODE" for each name of the map, and "name@NODE" for the forms of 2.28.
Names intended() {
  std::ifstream map(MILLRACE_SOURCE_DIR "/src/nrt/nrt.map");
  Names names;
  std::string node;
  for (std::string line; std::getline(map, line);) {
    if (line.ends_with(" {")) node = line.substr(0, line.size() - 2);
    if (line.starts_with("    n"))
      names.insert(line.substr(4, line.find(';') - 4).append("@@").append(node));
  }
  for (const char* name : kUnderBothNodes) names.insert(std::string(name) + "@NRT_2.0.0");
  return names;
}

Names without(const Names& names, const Names& others) {
  Names rest;
  std::ranges::set_difference(names, others, std::inserter(rest, rest.end()));
  return rest;
}

TEST(NrtExports, AreThoseOfTheMap) {
  const ProgramResult nm = run_program({MILLRACE_NM, "-D", "--defined-only", MILLRACE_NRT}, "/");
  ASSERT_EQ(nm.exit_code, 0) << nm.err;
  Names exported;
  std::istringstream lines(nm.out);
  for (std::string address, kind, name; lines >> address >> kind >> name;) {
    if (kind == "A") continue;  // the nodes themselves
    EXPECT_EQ(kind, "T") << name << " is no function";
    exported.insert(name);
  }
  EXPECT_THAT(without(exported, intended()), ::testing::IsEmpty()) << "are not in the map";
  EXPECT_THAT(without(intended(), exported), ::testing::IsEmpty()) << "are not in the library";
}

TEST(NrtExports, AllAreFoundByName) {
  void* const library = dlopen("libnrt.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const std::string& symbol : intended()) {
    const std::string name = symbol.substr(0, symbol.find('@'));
    const std::string node = symbol.substr(symbol.rfind('@') + 1);
    EXPECT_NE(dlvsym(library, name.c_str(), node.c_str()), nullptr) << symbol;
    // Without a version, the current form.
    if (symbol.find("@@") == std::string::npos) continue;
    EXPECT_EQ(dlsym(library, name.c_str()), dlvsym(library, name.c_str(), node.c_str())) << symbol;
  }
  for (const char* name : kUnderBothNodes)
    EXPECT_NE(dlvsym(library, name, "NRT_2.0.0"), dlvsym(library, name, "NRT_3.0.0")) << name;
  dlclose(library);
}

}  // namespace
}  // namespace millrace::test
