// A server of the tiny model on the faulty device over "null": tests hold its jobs at a gate.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "device/faulty/faulty_device.h"
#include "device/registry.h"
#include "serve/server.h"
#include "tests/serve/http_client.h"
#include "tests/support/gated_device.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/tiny_model.h"

namespace millrace::test {

inline constexpr const char* kServedDevice = "faulty-null";
inline constexpr const char* kInferPath = "/v2/models/tiny/infer";

class Serve : public ::testing::Test {
 protected:
  Serve()
      : device_(device::open_device(kServedDevice, {.lanes = 2}).value()),
        faults_(device::faults_of(*device_)) {
    options_.models = {directory_.file("tiny.rai")};
    options_.device = kServedDevice;
    options_.http_port = 0;
    options_.units = 1;
  }
  ~Serve() override { let_everything_go(*faults_); }

  // Starts the server with `options_`; the first function writes the model before.
  serve::Server& start(const TinyModelOptions& model = {}) {
    EXPECT_TRUE(write_tiny_model(options_.models[0], model).ok());
    return start_server();
  }
  serve::Server& start_server() {
    auto server = serve::Server::start(options_);
    EXPECT_TRUE(server.ok()) << server.status().to_string();
    server_ = *std::move(server);
    return *server_;
  }
  HttpClient client() const { return HttpClient(server_->port()); }
  serve::ServedModel& served() { return *server_->models()[0]; }
  device::FaultPlan& faults() { return *faults_; }

  // Waits for what another thread does soon.
  static bool eventually(const std::function<bool()>& holds) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!holds()) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  // A request with all 48 elements of the tiny model's input.
  static std::string tiny_body(const std::string& parameters = "") {
    std::string data = "0";
    for (int i = 1; i < 48; ++i) data += ",1";
    return R"({"inputs":[{"name":"data","shape":[1,3,4,4],"datatype":"FP32","data":[)" + data +
           "]}]" + (parameters.empty() ? "" : R"(,"parameters":{)" + parameters + "}") + "}";
  }

  void stop() { server_.reset(); }

  serve::Options options_;

 private:
  const TemporaryDirectory directory_;
  const std::shared_ptr<device::Device> device_;  // the one that the server opens, too
  const std::shared_ptr<device::FaultPlan> faults_;
  std::unique_ptr<serve::Server> server_;
};

}  // namespace millrace::test
