// An out-of-tree program builds against the installation in three ways, and runs on it.
#include "source_dir.h"
#include "tests/headers/compilers.h"
#include "tests/install/client_build.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

const std::string kLibraryPath = "LD_LIBRARY_PATH=" + kLibraries;

class Installation : public ::testing::TestWithParam<Compiler> {
 protected:
  void SetUp() override {
    MILLRACE_NEED_INSTALLATION();
    if (!GetParam().found()) GTEST_SKIP() << "there is no " << GetParam().name << " here";
  }
};

TEST_P(Installation, ServesAMakefileWithPkgConfig) {
  ClientBuild client;
  client.build({"make", "CXX=" + GetParam().path}, {kPkgConfigPath});
  client.runs("program", {kLibraryPath});
}

TEST_P(Installation, ServesCMakePackages) {
  ClientBuild client;
  client.build({MILLRACE_CMAKE, "-S", ".", "-B", "build", "-DCMAKE_PREFIX_PATH=" + kPrefix,
                "-DCMAKE_CXX_COMPILER=" + GetParam().path});
  client.build({MILLRACE_CMAKE, "--build", "build"});
  client.runs("build/program");
  const ProgramResult native = run_clean({client.path() + "/build/native"}, "/");
  EXPECT_EQ(native.out, "opened\n");
}

TEST_P(Installation, ServesPlainFlags) {
  ClientBuild client;
  client.build({GetParam().path, "-std=c++17", "-Wall", "-Wextra", "-Werror", "program.cpp", "-o",
                "program", "-I" + kPrefix + "/include", "-L" + kLibraries, "-lvart-ml"});
  client.runs("program", {kLibraryPath});
}

class VartXInstallation : public Installation {
 protected:
  void runs(const ClientBuild& client, const std::string& name,
            const std::vector<std::string>& environment = {}) {
    const ProgramResult result = run_clean({client.path() + "/" + name}, "/", environment);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("bound image\nbound mask\n"));
    EXPECT_THAT(result.out, HasSubstr("loaded " + kLibraries + "/libvart-x.so.0"));
  }
};

TEST_P(VartXInstallation, ServesAMakefileThatAsksForTheNextGeneration) {
  ClientBuild client("x_client");
  client.build({"make", "CXX=" + GetParam().path}, {kPkgConfigPath});
  runs(client, "program", {kLibraryPath});
}

TEST_P(VartXInstallation, ServesCMakePackages) {
  ClientBuild client("x_client");
  client.build({MILLRACE_CMAKE, "-S", ".", "-B", "build", "-DCMAKE_PREFIX_PATH=" + kPrefix,
                "-DCMAKE_CXX_COMPILER=" + GetParam().path});
  client.build({MILLRACE_CMAKE, "--build", "build"});
  runs(client, "build/program");
}

INSTANTIATE_TEST_SUITE_P(Install, VartXInstallation, ::testing::ValuesIn(compilers()),
                         [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(Install, Installation, ::testing::ValuesIn(compilers()),
                         [](const auto& info) { return info.param.name; });

TEST(InstalledPkgConfig, PointsIntoTheInstallation) {
  MILLRACE_NEED_INSTALLATION();
  for (const char* package : {"vart-ml", "vart-x", "xrt", "millrace"}) {
    const ProgramResult folder =
        run_clean({"pkg-config", "--variable=includedir", package}, "/", {kPkgConfigPath});
    ASSERT_EQ(folder.exit_code, 0) << folder.err;
    const std::string path = folder.out.substr(0, folder.out.find('\n'));
    EXPECT_TRUE(std::filesystem::equivalent(path, kPrefix + "/include")) << path;
  }
}

// The sample of the native API that has several files, from its installed sources.
TEST(InstalledSamples, BuildAndRun) {
  MILLRACE_NEED_INSTALLATION();
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.file("samples"));
  const std::string work = directory.file("samples/decode");
  std::filesystem::copy(kPrefix + "/share/millrace/samples/decode", work);
  const ProgramResult built = run_clean({"make", "decode", "CXXFLAGS=-O0"}, work, {kPkgConfigPath});
  ASSERT_EQ(built.exit_code, 0) << built.out << built.err;
  const ProgramResult result =
      run_clean({work + "/decode", MILLRACE_STAGE "/model.rai"}, work, {kLibraryPath});
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(result.err, HasSubstr("the profiles are none"));
}

TEST(InstalledLibrary, HasAStableName) {
  MILLRACE_NEED_INSTALLATION();
  for (const std::string name : {"libvart-ml.so", "libvart-x.so", "libxrt_coreutil.so"}) {
    const ProgramResult dynamic =
        run_program({MILLRACE_READELF, "-d", kLibraries + "/" + name}, "/");
    EXPECT_THAT(dynamic.out, HasSubstr("soname: [" + name + ".0]"));
  }
}

// `millrace env` of the build tree shows every package that the Makefiles of programs ask for.
TEST(BuildTree, ShowsItsPackages) {
  const std::string script = "eval \"$(" MILLRACE_PROGRAM
                             " env)\" && pkg-config --cflags --libs "
                             "'vart-ml >= 0.1' 'vart-x >= 0.1' 'xrt >= 2.6'";
  const ProgramResult result = run_clean({"sh", "-c", script}, "/");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("-I" MILLRACE_SOURCE_DIR "/include"));
  EXPECT_THAT(result.out, HasSubstr("-lvart-ml"));
  EXPECT_THAT(result.out, HasSubstr("-lvart-x"));
}

}  // namespace
}  // namespace millrace::test
