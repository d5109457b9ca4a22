#include "runtime/loading/loader.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <vector>

#include "device/registry.h"
#include "graph/archive/codec.h"
#include "model/files/temporary_output.h"
#include "runtime/loading/vendor_boundary.h"
#include "tests/graph/dynamic_model.h"
#include "tests/runtime/profiled_model.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::runtime {
namespace {

using ::testing::ElementsAre;
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

// The VART and NRT faces get this refusal.
TEST_F(Loader, FacesWithStaticShapesGetNoModelWithOpenOnes) {
  graph::CompiledModel model = test::dynamic_model();
  model.profiles.clear();
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

// A sum with a constant of so many numbers.
graph::CompiledModel sum_of(int64_t elements) {
  graph::CompiledModel model;
  graph::Graph& graph = model.graph;
  constexpr auto kFloat = tensor::DataType::kFloat32;
  const graph::ValueId x = graph.add_value({"x", kFloat, {elements}, {}});
  const graph::ValueId numbers =
      graph.add_constant("numbers", kFloat, {elements},
                         graph::Constant::of(std::vector<float>(static_cast<size_t>(elements))));
  const graph::ValueId y = graph.add_value({"y", kFloat, {elements}, {}});
  graph.nodes.push_back({"add", graph::Binary{}, {x, numbers}, {y}});
  graph.inputs = {x};
  graph.outputs = {y};
  model.partitions = {{graph::PartitionKind::kNpu, 0, 1}};
  model.inputs = {test::tiny_boundary(graph, x, {.hw_views = false})};
  model.outputs = {test::tiny_boundary(graph, y, {.hw_views = false})};
  return model;
}

// Large weights are verified while the device prepares the model.
TEST_F(Loader, RefusesDamagedWeightsOfAnySize) {
  for (const int64_t elements : {int64_t{1} << 12, int64_t{1} << 21}) {
    const graph::CompiledModel model = sum_of(elements);
    std::vector<std::byte> bytes = model::archive_bytes(graph::encode(model));
    const auto device = device::open_device("null").value();
    EXPECT_TRUE(load_program(bytes, *device).ok()) << elements;
    bytes[bytes.size() / 2] ^= std::byte{1};
    const Status status = load_program(bytes, *device).status();
    EXPECT_EQ(status.code(), StatusCode::kCorruptData) << elements;
    EXPECT_THAT(status.message(), HasSubstr("checksum"));
    const std::string path = directory_.file("damaged.rai");
    ASSERT_TRUE(model::write_whole_file(path, bytes).ok());
    EXPECT_THAT(load_program(path, "null").status().message(),
                ::testing::AllOf(HasSubstr("damaged.rai"), HasSubstr("checksum")));
  }
}

class ProfiledModel : public Loader {
 protected:
  ProfiledModel() {
    const graph::CompiledModel model = test::relu_with_profiles();
    EXPECT_TRUE(model::write_archive(graph::encode(model), path_, model::ArchiveForm::kFile).ok());
  }
  ~ProfiledModel() override { unsetenv("MILLRACE_PROFILE"); }

  const std::string path_ = directory_.file("relu.rai");
};

TEST_F(ProfiledModel, FacesWithStaticShapesGetItInItsFirstProfile) {
  const Result<LoadedProgram> loaded = load_program(path_, "null");
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  const graph::CompiledModel& model = loaded->program->model();
  EXPECT_EQ(model.network, nullptr);
  EXPECT_EQ(model.batch_size, 2u);
  EXPECT_THAT(model.inputs[0].cpu.shape, ElementsAre(1u, 3u, 8u, 8u));
  EXPECT_THAT(model.outputs[0].cpu.shape, ElementsAre(1u, 3u, 8u, 8u));
  EXPECT_TRUE(model.inputs[0].hw.has_value());
}

TEST_F(ProfiledModel, TheEnvironmentNamesAnotherProfile) {
  setenv("MILLRACE_PROFILE", "large", 1);
  const Result<LoadedProgram> loaded = load_program(path_, "null");
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_THAT(loaded->program->model().outputs[0].cpu.shape, ElementsAre(1u, 3u, 64u, 32u));
  setenv("MILLRACE_PROFILE", "huge", 1);
  const Status status = load_program(path_, "null").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("small, large"));
}

TEST_F(ProfiledModel, ACallerNamesAProfile) {
  setenv("MILLRACE_PROFILE", "small", 1);
  const Result<LoadedProgram> loaded = load_program(path_, "null", "large");
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_THAT(loaded->program->model().outputs[0].cpu.shape, ElementsAre(1u, 3u, 64u, 32u));
  const auto native = load_program(path_, *loaded->device, 0, "large");
  ASSERT_TRUE(native.ok()) << native.status().to_string();
  EXPECT_THAT((*native)->model().outputs[0].cpu.shape, ElementsAre(1u, 3u, 64u, 32u));
  const Status status = load_program(path_, *loaded->device, 0, "huge").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("small, large"));
}

TEST_F(Loader, ANamedProfileMustExist) {
  const std::string path = directory_.file("tiny.rai");
  ASSERT_TRUE(test::write_tiny_model(path).ok());
  const Status status = load_program(path, "null", "large").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("\"large\", but the profiles are none"));
}

TEST_F(Loader, VendorsApisGetNoTensorThatTheyCannotDescribe) {
  const auto refusal = [&](tensor::DataType type, std::vector<uint32_t> shape) {
    graph::CompiledModel model = test::tiny_model();
    model.inputs[0].cpu = tensor::make_cpu_desc("x", type, std::move(shape));
    return check_vendor_boundary(model);
  };
  EXPECT_TRUE(refusal(tensor::DataType::kFloat32, {1, 2}).ok());
  const Status wide = refusal(tensor::DataType::kFloat64, {1, 2});
  EXPECT_EQ(wide.code(), StatusCode::kUnsupported);
  EXPECT_THAT(wide.message(), HasSubstr("input \"x\" is FLOAT64"));
  EXPECT_THAT(refusal(tensor::DataType::kFloat32, {1, 0}).message(), HasSubstr("no elements"));
}

}  // namespace
}  // namespace millrace::runtime
