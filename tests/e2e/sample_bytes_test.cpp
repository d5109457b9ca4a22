// Every program computes the same bytes: for each view, the sample programs and `millrace run`
// write the same files, and the CPU view is the converted HW view, on one core and on two.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/process/topology.h"
#include "compiler/compiler.h"
#include "graph/archive/codec.h"
#include "io/file.h"
#include "io/npy.h"
#include "model/archive_writer.h"
#include "source_dir.h"
#include "tensor/conversion/conversion.h"
#include "tests/support/subprocess.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;

constexpr auto kFp32 = graph::Precision::kFp32;
constexpr auto kBf16 = graph::Precision::kBf16;

// While it lives, programs that are started run on this many cores, and so have at most as many
// lanes.
class CoreLimit {
 public:
  explicit CoreLimit(int cores) {
    CPU_ZERO(&before_);
    ::sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < cores; ++i) CPU_SET(topology().cores[i], &set);
    ::sched_setaffinity(0, sizeof(set), &set);
  }
  ~CoreLimit() { ::sched_setaffinity(0, sizeof(before_), &before_); }
  CoreLimit(const CoreLimit&) = delete;
  CoreLimit& operator=(const CoreLimit&) = delete;

 private:
  cpu_set_t before_;
};

struct Network {
  const char* name;
  const char* onnx;   // below the folder of test models; empty: the shipped network
  const char* input;  // one frame of the CPU view, raw
  graph::Precision precision;
  uint32_t batch = 1;
  uint32_t frames = 1;
};

void PrintTo(const Network& network, std::ostream* out) {
  *out << network.name;
}

class SampleBytes : public testing::TestWithParam<std::tuple<Network, int>> {
 protected:
  static const Network& network() { return std::get<0>(GetParam()); }

  void SetUp() override {
    const bool shipped = *network().onnx == '\0';
    const auto onnx = shipped ? std::string(MILLRACE_SOURCE_DIR "/models/glyphs/glyphs.onnx")
                              : test_model(network().onnx);
    if (!onnx) GTEST_SKIP() << "no test models beside the project";
    if (static_cast<int>(topology().cores.size()) < std::get<1>(GetParam()))
      GTEST_SKIP() << "the machine has too few cores";
    const auto compiled =
        compiler::compile(*onnx, {.batch_size = network().batch, .precision = network().precision});
    ASSERT_TRUE(compiled.ok()) << compiled.status().to_string();
    ASSERT_TRUE(
        model::write_archive(graph::encode(*compiled), model_, model::ArchiveForm::kFile).ok());
    inputs_ = compiled->inputs;
    outputs_ = compiled->outputs;
    write_inputs(shipped ? shipped_input() : io::read_file(*test_model(network().input)));
  }

  static Result<Bytes> shipped_input() {
    MILLRACE_ASSIGN_OR_RETURN(
        const auto images, io::read_npy(MILLRACE_SOURCE_DIR "/models/glyphs/heldback_images.npy"));
    std::vector<float> pixels(size_t{network().frames} * images.shape[1] * images.shape[2]);
    for (size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<float>(std::to_integer<int>(images.bytes[i])) / 255;
    const auto bytes = std::as_bytes(std::span(pixels));
    return Bytes(bytes.begin(), bytes.end());
  }

  // The frames in both views, each in a file.
  void write_inputs(const Result<Bytes>& cpu) {
    ASSERT_TRUE(cpu.ok()) << cpu.status().to_string();
    const graph::Boundary& input = inputs_[0];
    ASSERT_EQ(cpu->size(), network().frames * input.cpu.bytes());
    const auto conversion = tensor::Conversion::plan(input.cpu, *input.hw, input.quant);
    ASSERT_TRUE(conversion.ok());
    Bytes hw(network().frames * input.hw->bytes());
    for (size_t frame = 0; frame < network().frames; ++frame)
      conversion->to_hw(cpu->data() + frame * input.cpu.bytes(),
                        hw.data() + frame * input.hw->bytes());
    ASSERT_TRUE(io::write_file(input_file("CPU"), *cpu).ok());
    ASSERT_TRUE(io::write_file(input_file("HW"), hw).ok());
  }
  std::string input_file(const std::string& view) const { return directory_.file(view + ".bin"); }

  // Runs a program and returns the files it wrote, one for each output.
  std::vector<Bytes> run(const std::vector<std::string>& command,
                         const std::vector<std::string>& files) const {
    const std::string work = directory_.file("work");
    fs::remove_all(work);
    fs::create_directory(work);
    const ProgramResult result = run_program(command, work);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<Bytes> contents;
    for (const std::string& file : files) {
      const auto bytes = io::read_file(work + "/" + file);
      EXPECT_TRUE(bytes.ok()) << bytes.status().to_string();
      contents.push_back(bytes.ok() ? *bytes : Bytes());
    }
    return contents;
  }

  std::vector<Bytes> run_cli(const std::string& view) const {
    std::vector<std::string> files;
    for (const graph::Boundary& output : outputs_)
      files.push_back("out/" + output.cpu.name + ".bin");
    return run({MILLRACE_PROGRAM, "run", model_, "--input", input_file(view), "--view",
                view == "HW" ? "hw" : "cpu", "--output-dir", "out"},
               files);
  }

  std::vector<Bytes> run_infer_async(const std::string& view) const {
    std::vector<std::string> files;
    for (size_t i = 0; i < outputs_.size(); ++i)
      files.push_back("output_p1_f1_" + std::to_string(i) + ".bin");
    return run({MILLRACE_INFER_ASYNC, model_, input_file(view), "-n", "2", "--input-tensor-type",
                view, "--output-tensor-type", view},
               files);
  }

  std::vector<Bytes> run_ml_vart(const std::string& view) const {
    const nlohmann::json config = {
        {"inference-config",
         {{"model-file", model_},
          {"runner-options", {{"input-tensor-type", view}, {"output-tensor-type", view}}}}},
        {"ifms-config", {{{"name", inputs_[0].cpu.name}, {"file", input_file(view)}}}}};
    const std::string path = directory_.file("config.json");
    std::ofstream(path) << config;
    std::vector<std::string> files;
    for (size_t i = 0; i < outputs_.size(); ++i) files.push_back(ml_vart_file(i, view));
    return run({MILLRACE_ML_VART, "--app-config", path}, files);
  }

  // vart_multi_tenancy or vart_multimodel_seq; they know the HW view only.
  std::vector<Bytes> run_multi_model(const std::string& program) const {
    const nlohmann::json config =
        nlohmann::json::array({{{"model_cache_path", model_},
                                {"ifm_node_file_map", {{inputs_[0].cpu.name, input_file("HW")}}}}});
    const std::string path = directory_.file("config.json");
    std::ofstream(path) << config;
    std::vector<std::string> files;
    for (const graph::Boundary& output : outputs_)
      files.push_back("ofm_model_1/" + output.hw->name + "_" + shape_text(*output.hw) + "_" +
                      (network().precision == kBf16 ? "bfloat16" : "float32") + ".bin");
    return run({program, "-c", path}, files);
  }

  std::string ml_vart_file(size_t index, const std::string& view) const {
    const graph::Boundary& output = outputs_[index];
    const tensor::TensorDesc& desc = view == "HW" ? *output.hw : output.cpu;
    const char* type = desc.type == tensor::DataType::kBf16 ? "bf16" : "float32";
    return "output/infer_out" + std::to_string(index) + "-" + type + "_" + shape_text(desc) + "_" +
           desc.name + ".bin";
  }

  static std::string shape_text(const tensor::TensorDesc& desc) {
    std::string shape;
    for (const uint32_t dim : desc.shape) {
      if (!shape.empty()) shape += 'x';
      shape += std::to_string(dim);
    }
    return shape;
  }

  // The first batch of files that hold all frames: some programs run only that.
  static std::vector<Bytes> first_batch(std::vector<Bytes> files) {
    const uint32_t frames = std::min(network().batch, network().frames);
    for (Bytes& file : files) file.resize(file.size() / network().frames * frames);
    return files;
  }

  TemporaryDirectory directory_;
  const std::string model_ = directory_.file("model.rai");
  std::vector<graph::Boundary> inputs_, outputs_;
};

TEST_P(SampleBytes, AreThoseOfMillraceRun) {
  const CoreLimit limit(std::get<1>(GetParam()));
  for (const char* view : {"CPU", "HW"}) {
    const std::vector<Bytes> expected = run_cli(view);
    EXPECT_TRUE(run_infer_async(view) == first_batch(expected)) << "vart_infer_async, " << view;
    EXPECT_TRUE(run_ml_vart(view) == expected) << "ml_vart, " << view;
  }
  const std::vector<Bytes> expected = first_batch(run_cli("HW"));
  for (const char* program : {MILLRACE_MULTI_TENANCY, MILLRACE_MULTIMODEL_SEQ})
    EXPECT_TRUE(run_multi_model(program) == expected) << program;
}

TEST_P(SampleBytes, OfTheCpuViewAreTheConvertedHwView) {
  const CoreLimit limit(std::get<1>(GetParam()));
  const std::vector<Bytes> cpu = run_ml_vart("CPU");
  const std::vector<Bytes> hw = run_ml_vart("HW");
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const graph::Boundary& output = outputs_[i];
    const auto conversion = tensor::Conversion::plan(output.cpu, *output.hw, output.quant);
    ASSERT_TRUE(conversion.ok());
    ASSERT_EQ(hw[i].size(), network().frames * output.hw->bytes());
    Bytes converted(network().frames * output.cpu.bytes());
    for (size_t frame = 0; frame < network().frames; ++frame)
      conversion->to_cpu(hw[i].data() + frame * output.hw->bytes(),
                         converted.data() + frame * output.cpu.bytes());
    EXPECT_TRUE(converted == cpu[i]) << output.cpu.name;
  }
}

const auto kNetworks = testing::Values(
    Network{"glyphs", "", "", kFp32}, Network{"glyphs_bf16", "", "", kBf16},
    Network{"glyphs_in_pairs", "", "", kFp32, 2, 3},
    Network{"mobilenetv2", "models/mobilenetv2_fp32.onnx", "inputs/imagenet_kitten_224.bin", kFp32},
    Network{"squeezenet", "models/squeezenet1.1_fp32.onnx", "inputs/caffe_kitten_224.bin", kFp32},
    Network{"squeezenet_bf16", "models/squeezenet1.1_fp32.onnx", "inputs/caffe_kitten_224.bin",
            kBf16},
    Network{"ultraface", "models/ultraface_rfb320.onnx", "inputs/ultraface_astronaut.bin", kFp32});

INSTANTIATE_TEST_SUITE_P(Networks, SampleBytes, testing::Combine(kNetworks, testing::Values(1, 2)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_on_" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace millrace::test
