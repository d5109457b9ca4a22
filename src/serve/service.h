// Service: answers the requests of the Open Inference Protocol, version 2, and /metrics.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http/message.h"
#include "serve/http/workers.h"
#include "serve/metrics.h"
#include "serve/models/model_repository.h"

namespace millrace::serve {

class Service : public Handler {
 public:
  // The objects that are passed by reference must outlive the service. `connections` is what
  // /metrics reports as their number.
  Service(ModelRepository& models, Metrics& metrics, Workers& workers, const Options& options,
          const std::atomic<uint32_t>& connections);

  // From now on the server is not ready, and refuses inference.
  void begin_drain() { draining_ = true; }

  std::optional<HttpResponse> refuse(const HttpRequest& head) override;
  void refused(const HttpRequest& head, unsigned status) noexcept override;
  bool takes_long(const HttpRequest& request, size_t json_bytes) const override;
  std::shared_ptr<Work> handle(HttpRequest request, Respond respond) override;

 private:
  struct Route;

  Route route_of(std::string_view target) const;
  void route_model(const std::vector<std::string>& parts, Route& route) const;
  std::optional<HttpResponse> refuse(const Route& route, const HttpRequest& head) const;
  std::shared_ptr<Work> answer(HttpRequest request, const Respond& respond);
  void count(const Route& route, const HttpRequest& head, unsigned status);
  std::shared_ptr<Work> infer(ServedModel& model, HttpRequest request, const Respond& respond);
  nlohmann::json index() const;
  HttpResponse look_up(const Route& route) const;
  bool ready() const;

  ModelRepository& models_;
  Metrics& metrics_;
  Workers& workers_;
  const double default_seconds_;             // deadline of requests that state none; 0: none
  const io::PictureOptions* const picture_;  // null: pictures are refused
  const std::atomic<uint32_t>& connections_;
  std::atomic<bool> draining_ = false;
};

}  // namespace millrace::serve
