// Repositories: folders of models with versions, of which some may be broken.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "serve/models/model_file.h"
#include "tests/serve/serve_fixture.h"

namespace millrace::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Repository : public Serve {
 protected:
  Repository() { options_.models = {root_.path().string()}; }

  // Writes the tiny model to a path within the repository.
  void add(const std::string& path) const {
    std::filesystem::create_directories(std::filesystem::path(root_.file(path)).parent_path());
    ASSERT_TRUE(write_tiny_model(root_.file(path)).ok());
  }
  Result<serve::FoundModels> find() const { return serve::find_models(root_.path().string()); }

  const TemporaryDirectory root_;
};

TEST_F(Repository, TheLatestVersionIsTheDefault) {
  add("tiny/9/any.rai");
  add("tiny/10/model.rai");
  add("plain/model.rai");
  add("alone.rai");
  start_server();
  HttpClient one = client();
  EXPECT_EQ(json::parse(one.get("/v2/models/tiny").body)["versions"], json({"9", "10"}));
  EXPECT_EQ(json::parse(one.post(kInferPath, tiny_body()).body)["model_version"], "10");
  const HttpAnswer older = one.post("/v2/models/tiny/versions/9/infer", tiny_body());
  EXPECT_EQ(json::parse(older.body)["model_version"], "9");
  EXPECT_EQ(one.post("/v2/models/plain/infer", tiny_body()).status, 200);
  EXPECT_EQ(one.get("/v2/models/alone/versions/1/ready").status, 200);
  EXPECT_EQ(one.get("/v2/models/tiny/versions/11").status, 404);
}

TEST_F(Repository, AModelMayHaveTheNameOfACall) {
  add("stats/1/model.rai");
  start_server();
  EXPECT_EQ(json::parse(client().get("/v2/models/stats").body)["name"], "stats");
  EXPECT_EQ(client().get("/v2/models/stats/stats").status, 200);
}

TEST_F(Repository, TheOnlyModelMayHaveAnotherName) {
  add("tiny/1/model.rai");
  options_.name = "service-7";
  options_.model_control = true;
  start_server();
  EXPECT_EQ(client().post("/v2/models/service-7/infer", tiny_body()).status, 200);
  EXPECT_EQ(client().post("/v2/repository/models/service-7/load", "").status, 200);
  EXPECT_EQ(client().get("/v2/models/service-7/versions/1/ready").status, 200);
  EXPECT_EQ(client().get("/v2/models/tiny").status, 404);
  add("other/model.rai");
  EXPECT_THAT(serve::Server::start(options_).status().message(),
              HasSubstr("--name service-7 is for one model"));
}

TEST_F(Repository, ABrokenModelIsNamedAndTheOthersServe) {
  add("tiny/1/model.rai");
  std::filesystem::create_directories(root_.path() / "broken");
  std::ofstream(root_.file("broken/model.rai")) << "no archive";
  start_server();
  const HttpAnswer answer = client().post("/v2/repository/index", "{}");
  const json index = json::parse(answer.body);
  ASSERT_EQ(index.size(), 2U) << answer.body;
  EXPECT_EQ(index[0]["state"], "READY");
  EXPECT_EQ(index[1]["name"], "broken");
  EXPECT_EQ(index[1]["state"], "UNAVAILABLE");
  EXPECT_THAT(index[1]["reason"].get<std::string>(), HasSubstr("broken/model.rai"));
  const HttpAnswer ready = client().post("/v2/repository/index", R"({"ready":true})");
  EXPECT_EQ(json::parse(ready.body).size(), 1U) << ready.body;
  EXPECT_EQ(client().get("/v2/models/broken").status, 404);
}

TEST_F(Repository, AFolderThatLeavesAChoiceIsNamedAndTheOthersServe) {
  EXPECT_EQ(find().status().code(), StatusCode::kNotFound);
  add("unclear/1/a.rai");
  add("unclear/1/b.rai");
  EXPECT_THAT(serve::Server::start(options_).status().message(), HasSubstr("several models"));
  add("tiny/1/model.rai");
  start_server();
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 200);
  const json index = json::parse(client().post("/v2/repository/index", "{}").body);
  ASSERT_EQ(index.size(), 2U);
  EXPECT_EQ(index[1]["name"], "unclear");
  EXPECT_THAT(index[1]["reason"].get<std::string>(), HasSubstr("several models"));
}

constexpr const char* kLoadPath = "/v2/repository/models/tiny/load";
constexpr const char* kUnloadPath = "/v2/repository/models/tiny/unload";

TEST_F(Repository, ClientsMayLoadAndUnloadIfTheyAreAllowedTo) {
  options_.model_control = true;
  add("tiny/1/model.rai");
  start_server();
  HttpClient one = client();
  add("tiny/2/model.rai");
  EXPECT_EQ(one.post(kLoadPath, "{}").status, 200);
  EXPECT_EQ(json::parse(one.post(kInferPath, tiny_body()).body)["model_version"], "2");
  EXPECT_EQ(one.post(kUnloadPath, "{}").status, 200);
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 404);
  const json index = json::parse(one.post("/v2/repository/index", "{}").body);
  ASSERT_EQ(index.size(), 2U);
  EXPECT_EQ(index[0]["state"], "UNAVAILABLE");
  EXPECT_THAT(index[0]["reason"].get<std::string>(), HasSubstr("unloaded"));
  EXPECT_EQ(one.ask(std::string("POST ") + kLoadPath + " HTTP/1.1\r\n\r\n").status, 200);
  EXPECT_EQ(one.post(kInferPath, tiny_body()).status, 200);
  EXPECT_EQ(one.post("/v2/repository/models/none/load", "").status, 404);
  EXPECT_EQ(one.post("/v2/repository/models/none/unload", "").status, 404);
  EXPECT_EQ(one.post(kLoadPath, R"({"parameters":{"config":"{}"}})").status, 400);
  EXPECT_EQ(one.post(kLoadPath, "no JSON").status, 400);
}

TEST_F(Repository, AModelThatCannotBeLoadedAgainGoesOnServing) {
  options_.model_control = true;
  add("tiny/1/model.rai");
  start_server();
  std::ofstream(root_.file("tiny/1/model.rai")) << "no archive";
  EXPECT_GE(client().post(kLoadPath, "{}").status, 400);
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 200);
}

TEST_F(Repository, AVersionMayBeThereOnlyOnce) {
  options_.model_control = true;
  add("tiny/1/model.rai");
  start_server();
  add("tiny.rai");
  const HttpAnswer answer = client().post(kLoadPath, "{}");
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("there is another model"));
  EXPECT_EQ(json::parse(client().get("/v2/models/tiny").body)["versions"], json({"1"}));
}

TEST_F(Repository, APathThatIsEmptyNowLeavesTheModelsOfOthers) {
  const TemporaryDirectory other;
  ASSERT_TRUE(write_tiny_model(other.file("other.rai")).ok());
  options_.models.insert(options_.models.begin(), other.path().string());
  options_.model_control = true;
  add("tiny/1/model.rai");
  start_server();
  std::filesystem::remove(other.file("other.rai"));
  EXPECT_EQ(client().post(kLoadPath, "{}").status, 200);
  const HttpAnswer missing = client().post("/v2/repository/models/other/load", "{}");
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(missing.body, HasSubstr(other.path().string()));
}

TEST_F(Repository, ARequestThatWasAcceptedOutlivesItsModel) {
  options_.model_control = true;
  add("tiny/1/model.rai");
  start_server();
  faults().hold();
  HttpClient running = client(), queued = client();
  running.send(post_text(kInferPath, tiny_body()));
  faults().await_arrivals(1);
  queued.send(post_text(kInferPath, tiny_body()));
  ASSERT_TRUE(eventually([&] { return served().in_flight() == 2; }));
  EXPECT_EQ(client().post(kUnloadPath, "{}").status, 200);
  EXPECT_EQ(client().post(kInferPath, tiny_body()).status, 404);
  faults().release();
  EXPECT_EQ(running.receive().status, 200);
  EXPECT_EQ(queued.receive().status, 200);
}

TEST_F(Repository, ClientsMayNotLoadUnlessTheyAreAllowedTo) {
  add("tiny/1/model.rai");
  start_server();
  EXPECT_EQ(client().post(kLoadPath, "{}").status, 403);
  EXPECT_EQ(client().post(kUnloadPath, "{}").status, 403);
  EXPECT_EQ(client().get(kLoadPath).status, 405);
}

}  // namespace
}  // namespace millrace::test
