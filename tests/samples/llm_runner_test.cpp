// Runners of language models (vart/vart_llm_runner_factory.hpp) on the decoder of the sample.
#include "vart/vart_llm_runner_factory.hpp"

#include <atomic>
#include <cstring>
#include <thread>

#include "tests/compiler/onnx_builder.h"
#include "tests/samples/decode_fixture.h"
#include "tests/support/log_capture.h"

namespace millrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using vart::LlmPhase;
using vart::LlmRunner;
using vart::LlmRunnerFactory;
using vart::NpuTensor;
using vart::NpuTensorInfo;
using vart::RunnerType;
using vart::StatusCode;
using vart::TensorDirection;
using vart::TensorType;

constexpr size_t kCaches = 2 * kOptions.layers;

class LlmRunnerTest : public Decode {
 protected:
  using Options = std::unordered_map<std::string, std::any>;

  static Options options(Options more = {}) {
    more.merge(Options{{"input_tensor_type", std::string("CPU")},
                       {"output_tensor_type", std::string("CPU")},
                       {"input_ids_name", std::string("tokens")}});
    return more;
  }

  template <class Error = std::runtime_error>
  std::string refusal(const std::string& path, const Options& given) const {
    try {
      LlmRunnerFactory::create_runner(RunnerType::VAIML, path, given);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  const std::string path_ = archive(decoder::Weights::kFloat32);
};

// Uses the graph of a phase as a program would: with the tensors that the runner lists for it.
class LlmSteps : public Steps {
 public:
  explicit LlmSteps(const std::shared_ptr<LlmRunner>& runner) : runner_(runner) {
    const auto& outputs = runner->get_tensors_info(TensorDirection::OUTPUT, TensorType::CPU);
    for (size_t i = 0; i < kCaches + 1; ++i)
      outputs_[0].push_back(runner->allocate_npu_tensor(outputs[i]));
    for (const char* prefix : {"prefill_", "decode_"})
      for (const char* name : {"tokens", "start", "last"})
        scalars_.push_back(runner->allocate_npu_tensor(
            runner->get_tensor_info_by_name(std::string(prefix) + name, TensorType::CPU)));
  }

  std::vector<float> run(const Tokens& tokens, int64_t start) override {
    const bool is_prefill = tokens.size() > 1;
    runner_->set_llm_phase(is_prefill ? LlmPhase::PREFILL : LlmPhase::DECODE);
    const auto own = scalars_.begin() + (is_prefill ? 0 : 3);
    std::vector<std::vector<NpuTensor>> inputs = {{own, own + 3}};
    inputs[0].insert(inputs[0].end(), outputs_[0].begin() + 1, outputs_[0].end());
    const Tokens read = padded(tokens);
    const int64_t last = static_cast<int64_t>(tokens.size()) - 1;
    std::memcpy(inputs[0][0].get_virtual_address(), read.data(), read.size() * sizeof(int64_t));
    std::memcpy(inputs[0][1].get_virtual_address(), &start, sizeof(start));
    std::memcpy(inputs[0][2].get_virtual_address(), &last, sizeof(last));
    const vart::JobHandle job = runner_->execute_async(inputs, outputs_);
    EXPECT_EQ(job.status, StatusCode::SUCCESS);
    EXPECT_EQ(runner_->wait(job, std::chrono::seconds(60)), StatusCode::SUCCESS);
    const auto* const logits = static_cast<const float*>(outputs_[0][0].get_virtual_address());
    return {logits, logits + kOptions.vocabulary};
  }

 private:
  const std::shared_ptr<LlmRunner> runner_;
  std::vector<std::vector<NpuTensor>> outputs_{1};
  std::vector<NpuTensor> scalars_;
};

// Tensors for a job of a graph.
struct GraphTensors {
  GraphTensors(const LlmRunner& runner, LlmPhase phase)
      : inputs(of(runner, TensorDirection::INPUT, phase)),
        outputs(of(runner, TensorDirection::OUTPUT, phase)) {}

  // The first half of a list is of the prefill graph.
  static std::vector<std::vector<NpuTensor>> of(const LlmRunner& runner, TensorDirection direction,
                                                LlmPhase phase) {
    const auto& infos = runner.get_tensors_info(direction, TensorType::CPU);
    const size_t count = infos.size() / 2, first = phase == LlmPhase::PREFILL ? 0 : count;
    std::vector<std::vector<NpuTensor>> tensors(1);
    for (size_t i = first; i < first + count; ++i)
      tensors[0].push_back(runner.allocate_npu_tensor(infos[i]));
    return tensors;
  }

  std::vector<std::vector<NpuTensor>> inputs, outputs;
};

TEST_F(LlmRunnerTest, GeneratesTheTokensOfTheSample) {
  LlmSteps steps(LlmRunnerFactory::create_runner(RunnerType::VAIML, path_, options()));
  EXPECT_EQ(generate(steps, kPrompt), decode_by_sample(path_));
}

TEST_F(LlmRunnerTest, ListsTheTensorsOfBothGraphs) {
  const auto runner = LlmRunnerFactory::create_runner(RunnerType::VAIML, path_, options());
  const auto& inputs = runner->get_tensors_info(TensorDirection::INPUT, TensorType::CPU);
  ASSERT_EQ(inputs.size(), 2 * (kCaches + 3));
  EXPECT_EQ(inputs[0].name, "prefill_tokens");
  EXPECT_THAT(inputs[0].shape, ElementsAre(1, kPrefill));
  EXPECT_EQ(inputs[kCaches + 3].name, "decode_tokens");
  EXPECT_THAT(inputs[kCaches + 3].shape, ElementsAre(1, 1));
  EXPECT_EQ(runner->get_num_input_tensors(), inputs.size());
  EXPECT_EQ(runner->get_num_output_tensors(), 2 * (kCaches + 1));
  EXPECT_EQ(runner->get_quant_parameters("decode_logits").scale, 1);
  EXPECT_THROW(runner->get_tensor_info_by_name("tokens", TensorType::CPU), std::runtime_error);
}

TEST_F(LlmRunnerTest, TellsTheSizesOfTheModel) {
  const vart::LLMConfigInfo config =
      LlmRunnerFactory::create_runner(RunnerType::VAIML, path_, options())->get_llm_config();
  EXPECT_EQ(config.vocab_size, kOptions.vocabulary);
  EXPECT_EQ(config.max_sequence_length, kOptions.context);
  EXPECT_EQ(config.compiled_past_seq_len, kOptions.context);
  EXPECT_THAT(config.eos_token_ids, IsEmpty());
  EXPECT_EQ(config.pad_token_id, 0);
}

// The number of past positions may be an input, too, before the past keys.
TEST_F(LlmRunnerTest, ALengthIsNoPastKey) {
  compiler::test::Model model;
  ASSERT_TRUE(model.proto.ParseFromString(decoder::decoder_network(kOptions)));
  model.input("past_seq_len", {1, 1}, onnx::TensorProto::INT64);
  model.node("Identity", {"past_seq_len"}, {"seen"}).output("seen", onnx::TensorProto::INT64);
  auto& inputs = *model.proto.mutable_graph()->mutable_input();
  for (int i = inputs.size() - 1; i > 0; --i) inputs.SwapElements(i, i - 1);
  const auto runner =
      LlmRunnerFactory::create_runner(RunnerType::VAIML, compiled(model.bytes()), options());
  EXPECT_EQ(runner->get_tensors_info(TensorDirection::INPUT, TensorType::CPU)[0].name,
            "prefill_past_seq_len");
  EXPECT_EQ(runner->get_llm_config().compiled_past_seq_len, kOptions.context);
}

TEST_F(LlmRunnerTest, ReadsTheTokensOfTheEndBesideTheArchive) {
  const auto tokens = [&](const std::string& content) {
    write("generation_config.json", content);
    return LlmRunnerFactory::create_runner(RunnerType::VAIML, path_, options())->get_llm_config();
  };
  EXPECT_THAT(tokens(R"({"eos_token_id": 7})").eos_token_ids, ElementsAre(7));
  EXPECT_EQ(tokens(R"({"eos_token_id": 7})").pad_token_id, 7);
  const vart::LLMConfigInfo config = tokens(R"({"eos_token_id": [7, 9], "pad_token_id": 3})");
  EXPECT_THAT(config.eos_token_ids, ElementsAre(7, 9));
  EXPECT_EQ(config.pad_token_id, 3);
  write("generation_config.json", R"({"eos_token_id": "end"})");
  EXPECT_THAT(refusal(path_, options()), HasSubstr("\"eos_token_id\" must be an integer"));
  write("generation_config.json", "[1");
  EXPECT_THAT(refusal(path_, options()), HasSubstr("is not a JSON object"));
}

// The jobs of both graphs may be in flight together, and each is known by its own id.
TEST_F(LlmRunnerTest, CallbacksGetTheIdsOfTheirJobs) {
  const auto runner = LlmRunnerFactory::create_runner(RunnerType::VAIML, path_, options());
  std::vector<uint32_t> ids, told;
  for (const LlmPhase phase : {LlmPhase::PREFILL, LlmPhase::DECODE}) {
    runner->set_llm_phase(phase);
    GraphTensors tensors(*runner, phase);
    std::atomic<uint32_t> id = 0;
    const vart::JobHandle job = runner->execute_async(
        tensors.inputs, tensors.outputs, [&](const vart::JobHandle& done) { id = done.job_id; });
    EXPECT_EQ(runner->wait(job, std::chrono::seconds(60)), StatusCode::SUCCESS);
    while (id == 0) std::this_thread::yield();
    ids.push_back(job.job_id);
    told.push_back(id);
  }
  EXPECT_EQ(told, ids);
  EXPECT_THAT(ids, ElementsAre(2U, 1U)) << "even ones for a prefill, odd ones for a decode";
}

// Both graphs exist until the last callback has returned, and neither takes jobs any more.
TEST_F(LlmRunnerTest, CallbacksMayCallItWhileItIsDestroyed) {
  auto runner = LlmRunnerFactory::create_runner(RunnerType::VAIML, path_,
                                                options({{"max_concurrent_runs", 1U}}));
  GraphTensors prefill(*runner, LlmPhase::PREFILL), decode(*runner, LlmPhase::DECODE);
  StatusCode at_the_end = StatusCode::SUCCESS;
  const auto call = [&, called = runner.get()](const vart::JobHandle&) {
    while (called->execute_async(prefill.inputs, prefill.outputs).status != StatusCode::FAILURE)
      std::this_thread::yield();
    called->set_llm_phase(LlmPhase::DECODE);
    EXPECT_EQ(called->get_llm_config().vocab_size, kOptions.vocabulary);
    at_the_end = called->execute_async(decode.inputs, decode.outputs).status;
  };
  EXPECT_EQ(runner->execute_async(prefill.inputs, prefill.outputs, call).status,
            StatusCode::SUCCESS);
  runner.reset();
  EXPECT_EQ(at_the_end, StatusCode::FAILURE);
}

TEST_F(LlmRunnerTest, ItsOptionsMayStandInAFile) {
  const std::string names = config({{"runner-options", {{"logits-name", "scores"}}}});
  EXPECT_THAT(refusal(path_, options({{"config_json", names}})), HasSubstr("no output \"scores\""));
  const std::string types = config(
      {{"input_tensor_type.prefill_tokens", "CPU"}, {"output_tensor_type.decode_logits", "CPU"}});
  const LogCapture log;
  EXPECT_EQ(refusal(path_, options({{"config_json", types}})), "accepted");
  EXPECT_EQ(log.count("is ignored"), 0U) << "each graph has one of the tensors";
}

TEST_F(LlmRunnerTest, BothGraphsShareItsExclusiveColumns) {
  setenv("MILLRACE_COLUMN_TABLE", "off", 1);  // other tests may hold columns
  const Options exclusive = options({{"start_column", 4U}, {"aie_columns_sharing", false}});
  LlmSteps steps(LlmRunnerFactory::create_runner(RunnerType::VAIML, path_, exclusive));
  EXPECT_EQ(generate(steps, kPrompt).size(), kCount);
  EXPECT_THAT(refusal(path_, exclusive), HasSubstr("columns 4 to 7, exclusive"));
}

TEST_F(LlmRunnerTest, OtherProfilesAreRefused) {
  const auto* const reason = "option \"shape_profile\" is \"decode\"";
  EXPECT_THAT(refusal<std::invalid_argument>(path_, options({{"shape_profile", "decode"}})),
              HasSubstr(reason));
  const std::string file = config({{"shape_profile", "decode"}});
  EXPECT_THAT(refusal<std::invalid_argument>(path_, options({{"config_json", file}})),
              HasSubstr(reason));
}

TEST_F(LlmRunnerTest, SaysWhatIsMissing) {
  EXPECT_THAT(refusal(path_, {{"input_tensor_type", std::string("CPU")},
                              {"output_tensor_type", std::string("CPU")}}),
              HasSubstr("no input \"input_ids\""));
  EXPECT_THAT(refusal(path_, options({{"logits_name", std::string("scores")}})),
              HasSubstr("no output \"scores\""));
  EXPECT_THAT(refusal(path_, options({{"logits_name", 3}})), HasSubstr("takes a string"));
  EXPECT_THAT(refusal(model(), options()), HasSubstr("the profiles are none"));
  const auto runner = LlmRunnerFactory::create_runner(RunnerType::VAIML, path_, options());
  EXPECT_THROW(runner->set_llm_phase(static_cast<LlmPhase>(2)), std::invalid_argument);
}

}  // namespace
}  // namespace millrace::test
