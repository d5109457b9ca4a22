// The Debian package holds what `make install` installs.
#include "tests/install/client_build.h"

namespace millrace::test {
namespace {

using ::testing::HasSubstr;

TEST(DebianPackage, HoldsTheInstallation) {
  if (!std::filesystem::exists(MILLRACE_DPKG_DEB)) GTEST_SKIP() << "dpkg-deb is not installed";
  if (*MILLRACE_SANITIZE != '\0')
    GTEST_SKIP() << "there is no package of a build with -fsanitize=" MILLRACE_SANITIZE;
  const TemporaryDirectory directory;
  const ProgramResult made =
      run_program({MILLRACE_CPACK, "--config", MILLRACE_BUILD_DIR "/CPackConfig.cmake", "-G", "DEB",
                   "-B", directory.path().string()},
                  MILLRACE_BUILD_DIR);
  ASSERT_EQ(made.exit_code, 0) << made.out << made.err;
  std::string package;
  for (const auto& file : std::filesystem::directory_iterator(directory.path()))
    if (file.path().extension() == ".deb") package = file.path().string();

  const ProgramResult content = run_program({MILLRACE_DPKG_DEB, "--contents", package}, "/");
  ASSERT_EQ(content.exit_code, 0) << content.err;
  const std::string libraries = "/usr/" MILLRACE_LIBRARY_DIR;
  for (const char* path :
       {"/usr/include/vart/vart_runner_factory.hpp", "/usr/include/vart/vart_npu_tensor.hpp",
        "/usr/include/vart/vart_postprocess.hpp", "/usr/include/millrace/millrace.hpp",
        "/usr/include/millrace/pl_kernel.h", "/usr/include/xrt/xrt_bo.h",
        "/usr/include/experimental/xrt_xclbin.h", "/usr/include/xrt/experimental/xrt_xclbin.h",
        "/usr/include/xrt/detail/not_emulated.h", "/usr/include/nrt/nrt_async.h",
        "/usr/include/nrt/detail/async_forms.h",
        "/usr/include/ndl/neuron_driver_shared_tensor_batch_op.h", "/usr/bin/millrace"})
    EXPECT_THAT(content.out, HasSubstr(std::string(".") + path + "\n"));
  for (const char* file :
       {"libvart-ml.so.0", "libvart-x.so.0", "libxrt_coreutil.so.0", "libmillrace.so.0",
        "libmillrace-cpu.so", "libmillrace-ranks.so", "pkgconfig/vart-ml.pc", "pkgconfig/vart-x.pc",
        "pkgconfig/xrt.pc", "pkgconfig/millrace.pc", "libnrt.so.1", "pkgconfig/nrt.pc",
        "cmake/nrt/nrt-config.cmake", "cmake/vart-ml/vart-ml-config.cmake",
        "cmake/vart-x/vart-x-config.cmake", "cmake/Millrace/millrace-config.cmake"})
    EXPECT_THAT(content.out, HasSubstr("." + libraries + "/" + file));

  for (const char* finder : {"/usr/bin/dpkg-shlibdeps", "/usr/bin/file"})
    if (!std::filesystem::exists(finder)) GTEST_SKIP() << "without " << finder << " no Depends";
  const ProgramResult depends = run_program({MILLRACE_DPKG_DEB, "-f", package, "Depends"}, "/");
  EXPECT_THAT(depends.out, HasSubstr("libdnnl")) << "the plugin's library";
}

}  // namespace
}  // namespace millrace::test
