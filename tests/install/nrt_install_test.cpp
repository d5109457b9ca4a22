// Out-of-tree C programs, the samples among them, build against the installed NRT API in every
// supported way, find it at run time, and run on it.
#include "source_dir.h"
#include "tests/headers/compilers.h"
#include "tests/install/client_build.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

const std::string kNeuronLibraries = MILLRACE_STAGE "/neuron/lib";
const std::string kNeuronInclude = MILLRACE_STAGE "/neuron/include";
const std::string kModel = MILLRACE_STAGE "/model.rai";

const std::vector<Compiler> kCompilers = {{"gcc", MILLRACE_GCC}, {"clang", MILLRACE_CLANG}};

std::string library_path(const std::string& folder) {
  return "LD_LIBRARY_PATH=" + folder;
}

void expect_loaded_from(const std::string& folder, const ProgramResult& result) {
  for (const char* library :
       {"libnrt.so.1", "libmillrace.so.0", "libmillrace-cpu.so", "libmillrace-reserve.so"})
    EXPECT_THAT(result.out, HasSubstr("loaded " + folder + "/" + library));
}

class NrtInstallation : public ::testing::TestWithParam<Compiler> {
 protected:
  void SetUp() override {
    MILLRACE_NEED_INSTALLATION();
    if (!GetParam().found()) GTEST_SKIP() << "there is no " << GetParam().name << " here";
  }

  // Builds `program` and runs it on the libraries in `folder`.
  void builds_and_runs(const std::vector<std::string>& flags, const std::string& folder) {
    ClientBuild client("nrt_client");
    std::vector<std::string> command = {GetParam().path, "-std=c11",  "-Wall", "-Wextra",
                                        "-Werror",       "program.c", "-o",    "program"};
    command.insert(command.end(), flags.begin(), flags.end());
    client.build(command);
    runs(client, "program", folder);
  }
  void runs(const ClientBuild& client, const std::string& name, const std::string& folder) {
    const ProgramResult result =
        run_clean({client.path() + "/" + name, kModel}, client.path(), {library_path(folder)});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("INPUT "));
    EXPECT_THAT(result.out, HasSubstr("OUTPUT "));
    EXPECT_THAT(result.out, HasSubstr("\nNRT_SUCCESS\n"));
    expect_loaded_from(folder, result);
  }
};

TEST_P(NrtInstallation, ServesPlainFlags) {
  builds_and_runs({"-I" + kPrefix + "/include", "-L" + kLibraries, "-lnrt"}, kLibraries);
}

TEST_P(NrtInstallation, ServesAMakefileWithPkgConfig) {
  ClientBuild client("nrt_client");
  client.build({"make", "CC=" + GetParam().path}, {kPkgConfigPath});
  runs(client, "program", kLibraries);
}

TEST_P(NrtInstallation, ServesACMakePackage) {
  ClientBuild client("nrt_client");
  client.build({MILLRACE_CMAKE, "-S", ".", "-B", "build", "-DCMAKE_PREFIX_PATH=" + kPrefix,
                "-DCMAKE_C_COMPILER=" + GetParam().path});
  client.build({MILLRACE_CMAKE, "--build", "build"});
  runs(client, "build/program", kLibraries);
}

// The component for programs that look in /opt/aws/neuron.
TEST_P(NrtInstallation, ServesTheNeuronPrefix) {
  builds_and_runs({"-I" + kNeuronInclude, "-L" + kNeuronLibraries, "-lnrt"}, kNeuronLibraries);
}

TEST_P(NrtInstallation, ServesProgramsThatOpenItAtRunTime) {
  ClientBuild client("nrt_client");
  client.build({GetParam().path, "-std=c11", "-Wall", "-Wextra", "-Werror", "opens.c", "-o",
                "opens", "-ldl"});
  const std::string program = client.path() + "/opens";
  const ProgramResult by_name = run_clean({program}, "/", {library_path(kLibraries)});
  EXPECT_THAT(by_name.out, HasSubstr("has cores\n")) << by_name.err;
  expect_loaded_from(kLibraries, by_name);
  const ProgramResult by_path = run_clean({program, kNeuronLibraries + "/libnrt.so.1"}, "/");
  EXPECT_THAT(by_path.out, HasSubstr("has cores\n")) << by_path.err;
  expect_loaded_from(kNeuronLibraries, by_path);
  std::filesystem::create_directory_symlink(kNeuronLibraries, client.path() + "/linked");
  const ProgramResult by_link = run_clean({program, client.path() + "/linked/libnrt.so.1"}, "/");
  EXPECT_THAT(by_link.out, HasSubstr("has cores\n")) << by_link.err;
}

INSTANTIATE_TEST_SUITE_P(Install, NrtInstallation, ::testing::ValuesIn(kCompilers),
                         [](const auto& info) { return info.param.name; });

TEST(InstalledNrt, HasTheNameThatProgramsOpen) {
  MILLRACE_NEED_INSTALLATION();
  for (const std::string& folder : {kLibraries, kNeuronLibraries}) {
    const ProgramResult dynamic = run_program({MILLRACE_READELF, "-d", folder + "/libnrt.so"}, "/");
    EXPECT_THAT(dynamic.out, HasSubstr("soname: [libnrt.so.1]"));
  }
}

TEST(InstalledNrt, PkgConfigPointsIntoTheInstallation) {
  MILLRACE_NEED_INSTALLATION();
  const ProgramResult folder =
      run_clean({"pkg-config", "--variable=includedir", "nrt"}, "/", {kPkgConfigPath});
  ASSERT_EQ(folder.exit_code, 0) << folder.err;
  const std::string path = folder.out.substr(0, folder.out.find('\n'));
  EXPECT_TRUE(std::filesystem::equivalent(path, kPrefix + "/include")) << path;
}

// Each sample, built by its own Makefile in a copy of samples/.
class NrtSample : public ::testing::TestWithParam<const char*> {};

TEST_P(NrtSample, BuildsAndRunsOutOfTree) {
  MILLRACE_NEED_INSTALLATION();
  const TemporaryDirectory directory;
  for (const std::string folder : {"nrt_common", GetParam()})
    std::filesystem::copy(MILLRACE_SOURCE_DIR "/samples/" + folder, directory.file(folder));
  const std::string work = directory.file(GetParam());
  const ProgramResult built = run_clean({"make"}, work, {kPkgConfigPath});
  ASSERT_EQ(built.exit_code, 0) << built.out << built.err;
  EXPECT_EQ(built.err, "");
  const ProgramResult result =
      run_clean({work + "/" + GetParam(), "-n", "4", kModel}, work, {library_path(kLibraries)});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

INSTANTIATE_TEST_SUITE_P(Install, NrtSample,
                         ::testing::Values("nrt_load_run", "nrt_async_pipeline",
                                           "nrt_error_tracker", "nrt_send_recv"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace millrace::test
