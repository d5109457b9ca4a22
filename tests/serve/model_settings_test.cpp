// The file millrace.json of a model: what it sets, and what is wrong in it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "serve/models/model_settings.h"
#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Settings : public Serve {
 protected:
  Settings() {
    options_.models = {root_.path().string()};
    add("tiny/1/model.rai");
  }

  void add(const std::string& path) const {
    std::filesystem::create_directories(std::filesystem::path(root_.file(path)).parent_path());
    ASSERT_TRUE(write_tiny_model(root_.file(path)).ok());
  }
  void set(const std::string& text) const {
    std::ofstream(root_.file("tiny/millrace.json")) << text;
  }

  const TemporaryDirectory root_;
};

TEST_F(Settings, AModelsFileReplacesTheOptions) {
  options_.queue_depth = 64;
  set(R"({"units": 1, "queue_depth": 1, "timeout": "20ms", "labels": "names.txt"})");
  std::ofstream(root_.file("tiny/names.txt")) << "first\nsecond\n";
  add("other.rai");
  start_server();
  faults().hold();
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 504);
  HttpClient running = client();
  running.send(post_text(kInferPath, tiny_body(R"("timeout":60000000)")));
  faults().await_arrivals(2);
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 429);
  faults().release();
  EXPECT_EQ(running.receive().status, 200);
  EXPECT_EQ(client().post("/v2/models/other/infer", tiny_body()).status, 200);
}

TEST_F(Settings, AWrongFileIsNamedAndTheOthersServe) {
  set(R"({"queue_dept": 1})");
  add("other/1/model.rai");
  start_server();
  EXPECT_EQ(client().post("/v2/models/other/infer", tiny_body()).status, 200);
  const std::string index = client().post("/v2/repository/index", "").body;
  EXPECT_THAT(index, HasSubstr("tiny/millrace.json"));
  EXPECT_THAT(index, HasSubstr("queue_dept"));
}

TEST_F(Settings, AModelIsLoadedAgainWithItsNewFile) {
  options_.model_control = true;
  start_server();
  set("no JSON");
  const HttpAnswer refused = client().post("/v2/repository/models/tiny/load", "");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("no object in JSON"));
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 200);
  set(R"({"timeout": "20ms"})");
  EXPECT_EQ(client().post("/v2/repository/models/tiny/load", "").status, 200);
  faults().hold();
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 504);
}

TEST_F(Settings, UnitsAreWarmedUpBeforeTheModelServes) {
  set(R"({"units": 2, "warm_up": 3})");
  start_server();
  EXPECT_EQ(served().statistics().jobs.succeeded, 6U);
}

// Otherwise the end of the server would wait for all of them.
TEST_F(Settings, AServerThatEndsWarmsUpNoMore) {
  set(R"({"units": 1, "warm_up": 100})");
  start_server();
  const serve::ModelFile file = serve::find_models(options_.models[0]).value().files.at(0);
  Device device = Device::open(kServedDevice).value();
  serve::Metrics metrics;
  int asked = 0;
  const auto model =
      serve::ServedModel::load(file, options_, device, metrics, [&asked] { return ++asked == 3; });
  EXPECT_EQ(model.status().code(), StatusCode::kClosed);
  EXPECT_EQ(asked, 3);
}

TEST_F(Settings, AFileThatIsTooLongIsNotRead) {
  set(std::string(70'000, ' '));
  add("other/1/model.rai");
  start_server();
  EXPECT_THAT(client().post("/v2/repository/index", "").body, HasSubstr("more than 65536 bytes"));
}

TEST(ModelSettings, WrongValuesAreNamed) {
  const auto problem = [](const std::string& text) {
    serve::ModelSettings settings;
    return serve::read_settings(text, "/models", settings).message();
  };
  EXPECT_EQ(problem("{}"), "");
  EXPECT_THAT(problem("[]"), HasSubstr("no object"));
  EXPECT_THAT(problem(R"({"batch": 0})"), HasSubstr("\"batch\" is not a whole number from 1"));
  EXPECT_THAT(problem(R"({"batch": 1.5})"), HasSubstr("\"batch\""));
  EXPECT_THAT(problem(R"({"units": 18446744073709551615})"), HasSubstr("\"units\""));
  EXPECT_THAT(problem(R"({"precision": "int4"})"), HasSubstr("\"precision\" is neither"));
  EXPECT_THAT(problem(R"({"when_full": true})"), HasSubstr("\"when_full\" is not one of"));
  EXPECT_THAT(problem(R"({"timeout": 5})"), HasSubstr("\"timeout\" is not a time"));
  EXPECT_THAT(problem(R"({"batch_delay": "5 days"})"), HasSubstr("\"batch_delay\""));
  EXPECT_THAT(problem(R"({"labels": ""})"), HasSubstr("\"labels\" is not the name of a file"));
  EXPECT_THAT(problem(R"({"colour": 1})"), HasSubstr("known are precision, batch"));
  EXPECT_THAT(problem(std::string(70'000, ' ')), HasSubstr("more than 65536 bytes"));
}

}  // namespace
}  // namespace millrace::test
