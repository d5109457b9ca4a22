// A decoder with a key-value cache generates the same tokens through the native API (the sample
// `decode`), VART and NRT. In each, the caches stay in their tensors from job to job: a tensor is
// bound both as the past and as the present one.
#include <cstring>
#include <fstream>
#include <iterator>
#include <ostream>

#include "nrt/nrt.h"
#include "tests/samples/decode_fixture.h"
#include "vart/vart_runner_factory.hpp"

namespace millrace::test {
namespace {

using decoder::Weights;
using testing::HasSubstr;

class VartSteps : public Steps {
 public:
  // With `may_convert`, tensors may be in another precision than the device's.
  explicit VartSteps(const std::string& archive, bool may_convert = false)
      : prefill_(runner(archive, "prefill", may_convert)),
        decode_(runner(archive, "decode", may_convert)) {
    using vart::TensorDirection;
    const auto& inputs = prefill_->get_tensors_info(TensorDirection::INPUT, kCpu);
    for (size_t i = 0; i < 3; ++i) inputs_[0].push_back(prefill_->allocate_npu_tensor(inputs[i]));
    for (const auto& info : prefill_->get_tensors_info(TensorDirection::OUTPUT, kCpu))
      outputs_[0].push_back(prefill_->allocate_npu_tensor(info));
    inputs_[0].insert(inputs_[0].end(), outputs_[0].begin() + 1, outputs_[0].end());
    token_ = {
        decode_->allocate_npu_tensor(decode_->get_tensors_info(TensorDirection::INPUT, kCpu)[0])};
  }

  std::vector<float> run(const Tokens& tokens, int64_t start) override {
    const bool is_prefill = tokens.size() > 1;
    std::vector<std::vector<vart::NpuTensor>> inputs = inputs_;
    if (!is_prefill) inputs[0][0] = token_[0];
    const int64_t last = static_cast<int64_t>(tokens.size()) - 1;
    const Tokens read = padded(tokens);
    std::memcpy(inputs[0][0].get_virtual_address(), read.data(), read.size() * sizeof(int64_t));
    std::memcpy(inputs[0][1].get_virtual_address(), &start, sizeof(start));
    std::memcpy(inputs[0][2].get_virtual_address(), &last, sizeof(last));
    vart::Runner& runner = is_prefill ? *prefill_ : *decode_;
    EXPECT_EQ(runner.execute(inputs, outputs_), vart::StatusCode::SUCCESS);
    std::vector<float> logits(kOptions.vocabulary);
    std::memcpy(logits.data(), outputs_[0][0].get_virtual_address(), logits.size() * sizeof(float));
    return logits;
  }

 private:
  static constexpr vart::TensorType kCpu = vart::TensorType::CPU;

  static std::shared_ptr<vart::Runner> runner(const std::string& archive, const char* profile,
                                              bool may_convert) {
    return vart::RunnerFactory::create_runner(vart::RunnerType::VAIML, archive,
                                              {{"input_tensor_type", std::string("CPU")},
                                               {"output_tensor_type", std::string("CPU")},
                                               {"strict_zero_copy", !may_convert},
                                               {"shape_profile", std::string(profile)}});
  }

  std::shared_ptr<vart::Runner> prefill_, decode_;
  std::vector<std::vector<vart::NpuTensor>> inputs_{1}, outputs_{1};
  std::vector<vart::NpuTensor> token_;
};

class NrtSteps : public Steps {
 public:
  explicit NrtSteps(const std::string& archive) {
    EXPECT_EQ(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
    prefill_.model = load(archive, "prefill");
    decode_.model = load(archive, "decode");
    for (Variant* variant : {&prefill_, &decode_}) {
      EXPECT_EQ(nrt_allocate_tensor_set(&variant->inputs), NRT_SUCCESS);
      EXPECT_EQ(nrt_allocate_tensor_set(&variant->outputs), NRT_SUCCESS);
      const size_t length = variant == &prefill_ ? kPrefill : 1;
      variant->tokens = add("tokens", length * sizeof(int64_t), {variant->inputs});
    }
    start_ = add("start", sizeof(int64_t), {prefill_.inputs, decode_.inputs});
    last_ = add("last", sizeof(int64_t), {prefill_.inputs, decode_.inputs});
    logits_ =
        add("logits", kOptions.vocabulary * sizeof(float), {prefill_.outputs, decode_.outputs});
    for (int64_t layer = 0; layer < kOptions.layers; ++layer)
      for (const std::string& name :
           {"key_" + std::to_string(layer), "value_" + std::to_string(layer)})
        add_cache(name);
  }

  ~NrtSteps() override {
    for (Variant* variant : {&prefill_, &decode_}) {
      nrt_destroy_tensor_set(&variant->inputs);
      nrt_destroy_tensor_set(&variant->outputs);
      nrt_unload(variant->model);
    }
    for (nrt_tensor_t* tensor : tensors_) nrt_tensor_free(&tensor);
    nrt_close();
  }

  std::vector<float> run(const Tokens& tokens, int64_t start) override {
    const Variant& variant = tokens.size() > 1 ? prefill_ : decode_;
    const int64_t last = static_cast<int64_t>(tokens.size()) - 1;
    const Tokens read = padded(tokens);
    write(variant.tokens, read.data(), read.size() * sizeof(int64_t));
    write(start_, &start, sizeof(start));
    write(last_, &last, sizeof(last));
    EXPECT_EQ(nrt_execute(variant.model, variant.inputs, variant.outputs), NRT_SUCCESS);
    std::vector<float> logits(kOptions.vocabulary);
    EXPECT_EQ(nrt_tensor_read(logits_, logits.data(), 0, logits.size() * sizeof(float)),
              NRT_SUCCESS);
    return logits;
  }

 private:
  struct Variant {
    nrt_model_t* model = nullptr;
    nrt_tensor_set_t *inputs = nullptr, *outputs = nullptr;
    nrt_tensor_t* tokens = nullptr;
  };

  static nrt_model_t* load(const std::string& archive, const char* profile) {
    std::ifstream file(archive, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    setenv("MILLRACE_PROFILE", profile, 1);
    nrt_model_t* model = nullptr;
    EXPECT_EQ(nrt_load(bytes.data(), bytes.size(), 0, 1, &model), NRT_SUCCESS);
    unsetenv("MILLRACE_PROFILE");
    return model;
  }

  nrt_tensor_t* add(const std::string& name, size_t bytes,
                    std::initializer_list<nrt_tensor_set_t*> sets) {
    nrt_tensor_t* tensor = nullptr;
    EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, bytes, name.c_str(), &tensor),
              NRT_SUCCESS);
    for (nrt_tensor_set_t* set : sets)
      EXPECT_EQ(nrt_add_tensor_to_tensor_set(set, name.c_str(), tensor), NRT_SUCCESS);
    tensors_.push_back(tensor);
    return tensor;
  }

  void add_cache(const std::string& name) {
    const int64_t elements = kOptions.context * kOptions.width / kOptions.heads * kOptions.kv_heads;
    nrt_tensor_t* const tensor =
        add("past_" + name, elements * sizeof(float), {prefill_.inputs, decode_.inputs});
    for (const Variant* variant : {&prefill_, &decode_})
      EXPECT_EQ(nrt_add_tensor_to_tensor_set(variant->outputs, ("present_" + name).c_str(), tensor),
                NRT_SUCCESS);
  }

  static void write(nrt_tensor_t* tensor, const void* data, size_t bytes) {
    EXPECT_EQ(nrt_tensor_write(tensor, data, 0, bytes), NRT_SUCCESS);
  }

  Variant prefill_, decode_;
  nrt_tensor_t *start_ = nullptr, *last_ = nullptr, *logits_ = nullptr;
  std::vector<nrt_tensor_t*> tensors_;
};

struct Golden {
  const char* name;
  Weights weights;
  Tokens tokens;  // of ONNX Runtime 1.30.0, by samples/decode/golden.mjs
};

void PrintTo(const Golden& golden, std::ostream* out) {
  *out << golden.name;
}

class DecodeWeights : public Decode, public testing::WithParamInterface<Golden> {};

TEST_P(DecodeWeights, AllApisGenerateTheTokensOfOnnxRuntime) {
  const auto& [name, weights, expected] = GetParam();
  const std::string path = archive(weights);
  EXPECT_EQ(decode_by_sample(path), expected);
  VartSteps vart(path);
  EXPECT_EQ(generate(vart, kPrompt), expected);
  NrtSteps nrt(path);
  EXPECT_EQ(generate(nrt, kPrompt), expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, DecodeWeights,
    testing::Values(Golden{"fp32", Weights::kFloat32, {9, 10, 18, 60, 9,  10, 18, 60,
                                                       9, 10, 18, 60, 9,  10, 18, 60,
                                                       9, 78, 39, 65, 28, 72, 27, 44}},
                    Golden{"int8", Weights::kInt8, {9, 10, 18, 60, 9, 10, 18, 60, 9,  10, 18, 60,
                                                    9, 10, 18, 60, 9, 78, 39, 65, 28, 72, 27, 44}},
                    Golden{"int4", Weights::kInt4, {9, 10, 18, 60, 9, 10, 18, 60, 9, 10, 18, 60,
                                                    9, 10, 18, 60, 9, 10, 18, 60, 9, 78, 39, 19}}));

// A prompt that is longer than a prefill, and one that is read token by token, fill the same cache.
TEST_F(Decode, APromptMayBeReadInParts) {
  VartSteps whole(archive(Weights::kFloat32)), parts(directory_.file("decoder.rai"));
  const Tokens prompt = {5, 17, 3, 40, 2, 9};
  for (size_t i = 0; i + 1 < prompt.size(); ++i) parts.run({prompt[i]}, static_cast<int64_t>(i));
  const std::vector<float> at_once = whole.run(prompt, 0);
  const std::vector<float> last = parts.run({prompt.back()}, 5);
  ASSERT_EQ(at_once.size(), last.size());
  for (size_t i = 0; i < last.size(); ++i) EXPECT_NEAR(at_once[i], last[i], 1e-4) << i;
}

TEST_F(Decode, SequencesInFlightDoNotDisturbEachOther) {
  const std::string path = archive(Weights::kFloat32);
  const std::vector<Tokens> both = printed(run_sample(path, {"--sequences", "3"}));
  ASSERT_EQ(both.size(), 3u);
  EXPECT_EQ(both[0], decode_by_sample(path));
  EXPECT_NE(both[0], both[1]);
}

TEST_F(Decode, DrawsAreRepeatable) {
  const std::string path = archive(Weights::kFloat32);
  const auto drawn = [&](const char* seed) {
    return printed(run_sample(path, {"--top-p", "0.9", "--seed", seed}));
  };
  EXPECT_EQ(drawn("3"), drawn("3"));
  EXPECT_NE(drawn("3"), drawn("4"));
}

// The caches of the CPU view are FP32. ONNX Runtime has no BF16 to compare with.
TEST_F(Decode, AllApisGenerateTheSameTokensInBf16) {
  const std::string path = archive(Weights::kFloat32, "bf16");
  const Tokens tokens = decode_by_sample(path);
  EXPECT_EQ(tokens.size(), kCount);
  VartSteps vart(path, true);
  EXPECT_EQ(generate(vart, kPrompt), tokens);
  NrtSteps nrt(path);
  EXPECT_EQ(generate(nrt, kPrompt), tokens);
}

TEST_F(Decode, SaysWhatIsWrong) {
  const std::string path = archive(Weights::kFloat32);
  EXPECT_THAT(run_sample(path, {"--prompt", "5,96"}).err, HasSubstr("not in the vocabulary"));
  const ProgramResult other = run_sample(model());
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.err, HasSubstr("the profiles are none"));
}

}  // namespace
}  // namespace millrace::test
