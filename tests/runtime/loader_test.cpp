#include "runtime/loader.h"

#include <gmock/gmock.h>

#include "device/registry.h"
#include "graph/archive_codec.h"
#include "tests/graph/dynamic_model.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::runtime {
namespace {

using ::testing::HasSubstr;

class Loader : public ::testing::Test {
 protected:
  test::TemporaryDirectory directory_;
};

TEST_F(Loader, LoadsAFile) {
  const std::string path = directory_.file("tiny.rai");
  ASSERT_TRUE(test::write_tiny_model(path, {.batch_size = 3}).ok());
  const Result<LoadedProgram> loaded = load_program(path, "null");
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ(loaded->device->name(), "null");
  EXPECT_EQ(loaded->program->model().batch_size, 3u);
}

TEST_F(Loader, LoadsADirectory) {
  const std::string path = directory_.file("tiny");
  ASSERT_TRUE(test::write_tiny_model(path, {}, model::ArchiveForm::kDirectory).ok());
  const Result<LoadedProgram> loaded = load_program(path, "null");
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ(loaded->program->model().name, "tiny");
}

TEST_F(Loader, SaysWhichFileIsMissing) {
  const Status status = load_program(directory_.file("none.rai"), "null").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("none.rai"));
}

TEST_F(Loader, SaysWhichDeviceIsMissing) {
  const std::string path = directory_.file("tiny.rai");
  ASSERT_TRUE(test::write_tiny_model(path).ok());
  const Status status = load_program(path, "nosuch").status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("nosuch"));
}

// What the VART and NRT faces get.
TEST_F(Loader, FacesWithStaticShapesGetNoModelWithOpenOnes) {
  const graph::CompiledModel model = test::dynamic_model();
  const std::string path = directory_.file("open.rai");
  ASSERT_TRUE(model::write_archive(graph::encode(model), path, model::ArchiveForm::kFile).ok());
  const Status from_path = load_program(path, "null").status();
  EXPECT_EQ(from_path.code(), StatusCode::kUnsupported);
  EXPECT_THAT(from_path.message(), HasSubstr("open.rai"));
  EXPECT_THAT(from_path.message(), HasSubstr("\"image\" has the shape [1,3,?,64]"));
  EXPECT_THAT(from_path.message(), HasSubstr("--input-shape"));
  const auto device = device::open_device("null").value();
  const auto bytes = model::archive_bytes(graph::encode(model));
  EXPECT_EQ(load_program(bytes, *device).status().code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace millrace::runtime
