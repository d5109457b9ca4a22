// Real networks against outputs computed by another runtime: compiled, archived, run
// asynchronously. The cases are those of the manifest beside the models; skipped where that
// folder does not exist.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/process/topology.h"
#include "io/file.h"
#include "tensor/half.h"
#include "tests/e2e/pipeline.h"
#include "tests/support/test_models.h"

namespace millrace::test {
namespace {

using Json = nlohmann::json;

Json find_case(const std::string& manifest, const std::string& id) {
  const auto text = io::read_file(manifest);
  if (!text.ok()) return {};
  const Json json = Json::parse(reinterpret_cast<const char*>(text->data()),
                                reinterpret_cast<const char*>(text->data() + text->size()));
  for (const Json& entry : json["cases"])
    if (entry["id"] == id) return entry;
  return {};
}

std::vector<float> as_floats(const std::vector<std::byte>& bytes, const std::string& type) {
  std::vector<float> values;
  if (type == "float16") {
    values.resize(bytes.size() / 2);
    for (size_t i = 0; i < values.size(); ++i) {
      uint16_t bits = 0;
      std::memcpy(&bits, bytes.data() + 2 * i, 2);
      values[i] = tensor::fp16_to_float(bits);
    }
  } else {
    values.resize(bytes.size() / 4);
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }
  return values;
}

struct Difference {
  double relative = 0;  // max |ours - golden| / max |golden|
  double cosine = 0;
  double golden_max = 0;
};

Difference compare(const std::vector<float>& ours, const std::vector<float>& golden) {
  double max_difference = 0, golden_max = 0, dot = 0, ours_norm = 0, golden_norm = 0;
  for (size_t i = 0; i < golden.size(); ++i) {
    max_difference = std::max(max_difference, std::abs(double{ours[i]} - golden[i]));
    golden_max = std::max(golden_max, std::abs(double{golden[i]}));
    dot += double{ours[i]} * golden[i];
    ours_norm += double{ours[i]} * ours[i];
    golden_norm += double{golden[i]} * golden[i];
  }
  return {max_difference / golden_max, dot / std::sqrt(ours_norm * golden_norm), golden_max};
}

size_t argmax(const std::vector<float>& values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

// A case's tensors of one side by frame. A stored leading dimension above 1 is a batch of frames.
Result<FrameBytes> load_side(const Json& tensors, const std::string& key, uint32_t frames) {
  FrameBytes side(frames);
  for (const Json& entry : tensors) {
    const auto path = test_model(entry[key].get<std::string>());
    if (!path) return Status(StatusCode::kNotFound, entry[key].get<std::string>());
    MILLRACE_ASSIGN_OR_RETURN(const auto bytes, io::read_file(*path));
    const size_t size = bytes.size() / frames;
    for (uint32_t frame = 0; frame < frames; ++frame) {
      const auto first = bytes.begin() + static_cast<ptrdiff_t>(frame * size);
      side[frame].emplace_back(first, first + static_cast<ptrdiff_t>(size));
    }
  }
  return side;
}

class Golden : public testing::TestWithParam<const char*> {
 protected:
  // Fills outputs_ and golden_ by running the case; fails or skips the test otherwise.
  void run(compiler::CompileOptions options) {
    const auto manifest = test_model("manifest.json");
    if (!manifest) GTEST_SKIP() << "no test models beside the project";
    case_ = find_case(*manifest, GetParam());
    ASSERT_FALSE(case_.empty()) << "the manifest has no case " << GetParam();
    const auto model = test_model(case_["model"].get<std::string>());
    ASSERT_TRUE(model) << case_["model"];
    const auto frames = case_["inputs"][0]["shape"][0].get<uint32_t>();
    options.batch_size = frames;
    const auto archive = compile_to_archive(*model, options);
    ASSERT_TRUE(archive.ok()) << archive.status().to_string();
    const auto session = open_session(*archive, "cpu");
    ASSERT_TRUE(session.ok()) << session.status().to_string();
    const auto inputs = load_side(case_["inputs"], "file", frames);
    ASSERT_TRUE(inputs.ok()) << inputs.status().to_string();
    const auto golden = load_side(case_["outputs"], "file", frames);
    ASSERT_TRUE(golden.ok()) << golden.status().to_string();
    const auto outputs = run_async(**session, *inputs, device::View::kCpu);
    ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
    outputs_ = *outputs;
    golden_ = *golden;
  }

  // Calls check(name, ours, golden) for every output of every frame.
  template <class Check>
  void for_each_output(Check check) {
    for (size_t frame = 0; frame < golden_.size(); ++frame) {
      ASSERT_EQ(outputs_[frame].size(), golden_[frame].size());
      for (size_t i = 0; i < golden_[frame].size(); ++i) {
        const Json& entry = case_["outputs"][i];
        ASSERT_EQ(outputs_[frame][i].size(), golden_[frame][i].size()) << entry["name"];
        const auto type = entry["dtype"].get<std::string>();
        const std::vector<float> ours = as_floats(outputs_[frame][i], type);
        const std::vector<float> golden = as_floats(golden_[frame][i], type);
        const bool finite = std::ranges::all_of(ours, [](float v) { return std::isfinite(v); });
        ASSERT_TRUE(finite) << entry["name"] << " has values that are not finite";
        check(entry["name"].get<std::string>(), ours, golden);
      }
    }
  }

  Json case_;
  FrameBytes outputs_, golden_;
};

TEST_P(Golden, Fp32) {
  run({});
  if (IsSkipped() || HasFatalFailure()) return;
  const double tolerance = std::string(GetParam()).find("fp16") != std::string::npos ? 5e-3 : 1e-3;
  for_each_output([&](const std::string& name, const auto& ours, const auto& golden) {
    const Difference difference = compare(ours, golden);
    EXPECT_LE(difference.relative, tolerance) << name;
    if (difference.golden_max > 1e-6) {
      EXPECT_GE(difference.cosine, 0.99999) << name;
    }
    const auto [low, high] = std::ranges::minmax(golden);
    if (high - low > 1e-5 * difference.golden_max) {
      const auto [our_low, our_high] = std::ranges::minmax(ours);
      EXPECT_GT(our_high, our_low) << name << " is constant";
    }
  });
}

// Classification models in BF16, which may change the scores slightly, but not the class.
class GoldenClass : public Golden {};

TEST_P(GoldenClass, Bf16KeepsTheAnswer) {
  if (!topology().features.avx512_bf16) GTEST_SKIP() << "the processor computes no BF16";
  run({.precision = graph::Precision::kBf16});
  if (IsSkipped() || HasFatalFailure()) return;
  for_each_output([&](const std::string& name, const auto& ours, const auto& golden) {
    EXPECT_EQ(argmax(ours), argmax(golden)) << name;
    EXPECT_GE(compare(ours, golden).cosine, 0.999) << name;
  });
}

// Quantised models as they are written: the goldens round where the model does, and form sums in
// the order that the plain kernel states, so that hardly a number is rounded to another step.
class GoldenReference : public Golden {};

TEST_P(GoldenReference, QuantisedAsWritten) {
  run({.as_written = true});
  if (IsSkipped() || HasFatalFailure()) return;
  for_each_output([&](const std::string& name, const auto& ours, const auto& golden) {
    EXPECT_EQ(argmax(ours), argmax(golden)) << name;
    EXPECT_GE(compare(ours, golden).cosine, 0.9999) << name;
  });
}

std::string name_of_case(const testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](char c) { return c == '-'; }, '_');
  return name;
}

const auto kClasses = testing::Values("squeezenet_fp32-kitten_224", "squeezenet_fp32-goldfish",
                                      "squeezenet_fp32-coffee", "squeezenet_fp16-kitten_224",
                                      "mobilenetv2_fp32-kitten_224", "mobilenetv2_fp32-goldfish",
                                      "mobilenetv2_fp32-coffee", "mnist-digit");
const auto kQuantised = testing::Values("mobilenetv2_qdq-kitten_224", "mobilenetv2_qdq-goldfish",
                                        "mobilenetv2_qdq-coffee", "mobilenetv2_qdq-rand");
const auto kTensors =
    testing::Values("mobilenetv2_fp32-rand", "mnist-rand", "cifar10_cnn-rand",
                    "ultraface_rfb320-astronaut", "yunet_n_320-astronaut",
                    "fastestdet-golden_retriever", "light_resnet50-rand", "light_squeezenet-rand");

INSTANTIATE_TEST_SUITE_P(Classes, Golden, kClasses, name_of_case);
INSTANTIATE_TEST_SUITE_P(Tensors, Golden, kTensors, name_of_case);
INSTANTIATE_TEST_SUITE_P(Classes, GoldenClass, kClasses, name_of_case);
INSTANTIATE_TEST_SUITE_P(Quantised, GoldenReference, kQuantised, name_of_case);

}  // namespace
}  // namespace millrace::test
