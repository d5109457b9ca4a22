// The Debian packages hold what `make install` installs, each its part. `make test-packages`
// installs and uses them.
#include <map>

#include "tests/install/client_build.h"

namespace millrace::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class DebianPackages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(MILLRACE_DPKG_DEB)) GTEST_SKIP() << "dpkg-deb is not installed";
    const ProgramResult made = run_program(
        {MILLRACE_CPACK, "--config", MILLRACE_BUILD_DIR "/CPackConfig.cmake", "-G", "DEB", "-B",
         directory_.path().string(), "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"},
        MILLRACE_BUILD_DIR);
    ASSERT_EQ(made.exit_code, 0) << made.out << made.err;
    for (const auto& file : std::filesystem::directory_iterator(directory_.path())) {
      const std::string name = file.path().filename().string();
      if (file.path().extension() == ".deb") files_[name.substr(0, name.find('_'))] = file.path();
    }
  }

  std::string ask(const char* option, const std::string& package, const std::string& field = {}) {
    std::vector<std::string> command = {MILLRACE_DPKG_DEB, option, files_[package]};
    if (!field.empty()) command.push_back(field);
    const ProgramResult result = run_program(command, "/");
    EXPECT_EQ(result.exit_code, 0) << package << ": " << result.err;
    return result.out;
  }

  // The package holds each of these files, given by the beginning of the path.
  void holds(const std::string& package, const std::vector<std::string>& paths) {
    const std::string content = ask("--contents", package);
    for (const std::string& path : paths) EXPECT_THAT(content, HasSubstr(" ." + path)) << package;
    for (const char* file : {"copyright", "changelog.Debian.gz"})
      EXPECT_THAT(content, HasSubstr(" ./usr/share/doc/" + package + "/" + file));
  }

 private:
  TemporaryDirectory directory_;
  std::map<std::string, std::string> files_;
};

// One test, since the packages take some seconds to make.
TEST_F(DebianPackages, HoldTheInstallation) {
  const std::string libraries = "/usr/" MILLRACE_LIBRARY_DIR;
  holds("libmillrace0", {libraries + "/libmillrace.so.0"});
  holds("libmillrace-cpu0", {libraries + "/libmillrace-cpu.so", libraries + "/libmillrace-ranks.so",
                             libraries + "/libmillrace-reserve.so"});
  holds("libvart-ml0", {libraries + "/libvart-ml.so.0"});
  holds("libvart-x0", {libraries + "/libvart-x.so.0"});
  holds("libxrt-coreutil0", {libraries + "/libxrt_coreutil.so.0"});
  holds("libnrt1-millrace", {libraries + "/libnrt.so.1"});
  holds("libmillrace-dev", {"/usr/include/vart/vart_runner_factory.hpp",
                            "/usr/include/vart/vart_npu_tensor.hpp",
                            "/usr/include/vart/vart_postprocess.hpp",
                            "/usr/include/millrace/millrace.hpp",
                            "/usr/include/millrace/pl_kernel.h",
                            "/usr/include/xrt/xrt_bo.h",
                            "/usr/include/experimental/xrt_xclbin.h",
                            "/usr/include/xrt/experimental/xrt_xclbin.h",
                            "/usr/include/xrt/detail/not_emulated.h",
                            "/usr/include/nrt/nrt_async.h",
                            "/usr/include/nrt/detail/async_forms.h",
                            "/usr/include/ndl/neuron_driver_shared_tensor_batch_op.h",
                            libraries + "/libmillrace.so ",
                            libraries + "/libvart-ml.so ",
                            libraries + "/libvart-x.so ",
                            libraries + "/libxrt_coreutil.so ",
                            libraries + "/libnrt.so ",
                            libraries + "/pkgconfig/vart-ml.pc",
                            libraries + "/pkgconfig/vart-x.pc",
                            libraries + "/pkgconfig/xrt.pc",
                            libraries + "/pkgconfig/millrace.pc",
                            libraries + "/pkgconfig/nrt.pc",
                            libraries + "/cmake/nrt/nrt-config.cmake",
                            libraries + "/cmake/vart-ml/vart-ml-config.cmake",
                            libraries + "/cmake/vart-x/vart-x-config.cmake",
                            libraries + "/cmake/Millrace/millrace-config.cmake"});
  holds("millrace", {"/usr/bin/millrace", "/usr/share/man/man1/millrace.1",
                     "/usr/share/bash-completion/completions/millrace",
                     "/usr/share/zsh/vendor-completions/_millrace",
                     "/usr/share/fish/vendor_completions.d/millrace.fish"});
  holds("millrace-samples",
        {"/usr/bin/vart_infer_async", "/usr/share/millrace/samples/vart_infer_async/Makefile",
         "/usr/share/millrace/samples/nrt_common/",
         "/usr/share/millrace/samples/native/first_job.cpp",
         "/usr/share/millrace/samples/decode/Makefile",
         "/usr/share/millrace/models/glyphs/glyphs.onnx"});
  holds("millrace-doc",
        {"/usr/share/doc/millrace/README.md", "/usr/share/doc/millrace/docs/vart.md"});

  // Packages of one build need each other. Without dpkg-shlibdeps others' libraries are not found.
  EXPECT_THAT(ask("-f", "libvart-ml0", "Depends"),
              AllOf(HasSubstr("libmillrace0 (= "), HasSubstr("libmillrace-cpu0 (= ")));
  EXPECT_THAT(ask("-f", "libnrt1-millrace", "Conflicts"), HasSubstr("aws-neuronx-runtime-lib"));
  for (const char* finder : {"/usr/bin/dpkg-shlibdeps", "/usr/bin/file"})
    if (!std::filesystem::exists(finder)) GTEST_SKIP() << "without " << finder << " no Depends";
  EXPECT_THAT(ask("-f", "libmillrace-cpu0", "Depends"), HasSubstr("libdnnl"));
  EXPECT_THAT(ask("-f", "libmillrace0", "Depends"), Not(HasSubstr("libdnnl")));
  EXPECT_THAT(ask("-f", "millrace", "Depends"), Not(HasSubstr("opencv")));
}

}  // namespace
}  // namespace millrace::test
