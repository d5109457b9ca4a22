// Service: answers the requests of the Open Inference Protocol, version 2, and /metrics.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "serve/http/compression.h"
#include "serve/http/memory_charge.h"
#include "serve/http/message.h"
#include "serve/http/workers.h"
#include "serve/metrics.h"
#include "serve/models/model_repository.h"
#include "serve/protocol/infer_request.h"
#include "serve/route.h"
#include "serve/shared_memory/shared_regions.h"

namespace millrace::serve {

class Service : public Handler {
 public:
  // The objects that are passed by reference must outlive the service. `connections` is what
  // /metrics reports as their number. Throws std::runtime_error if the system refuses a thread.
  Service(ModelRepository& models, Metrics& metrics, Workers& workers, const Options& options,
          const std::atomic<uint32_t>& connections);

  // From now on clients must state this token, except for the health of the server.
  void require_token(std::string token);

  // From now on the server is not ready, and refuses inference.
  void begin_drain() { draining_ = true; }
  // Waits for models that are being loaded. Nothing is loaded afterwards.
  void join() { loader_.join(); }

  std::optional<HttpResponse> refuse(const HttpRequest& head) override;
  void refused(const HttpRequest& head, unsigned status) noexcept override;
  bool takes_long(const HttpRequest& request, size_t json_bytes) const override;
  std::shared_ptr<Work> handle(HttpRequest request, Respond respond) override;

 private:
  std::optional<HttpResponse> refuse(const Route& route, const HttpRequest& head) const;
  bool may_ask(const HttpRequest& head) const;
  void count(const Route& route, const HttpRequest& head, unsigned status);
  std::shared_ptr<Work> answer(HttpRequest request, const Respond& respond);
  void change(const Route& route, const HttpRequest& request, const Respond& respond);
  HttpResponse changed(const std::string& name, bool loads);
  HttpResponse change_regions(const Route& route, const HttpRequest& request);
  HttpResponse describe_regions_of(const Route& route) const;
  bool refers_to_regions(const HttpRequest& request, size_t json_bytes) const;
  HttpResponse look_up(const Route& route, const HttpRequest& request) const;
  bool ready() const;

  std::shared_ptr<Work> infer(ServedModel& model, HttpRequest request, Respond respond);
  Respond counted(ServedModel& model, const HttpRequest& request, Respond respond) const;
  Respond packed(const HttpRequest& request, Respond respond) const;
  void pack_and_send(HttpResponse& response, Coding coding, const Respond& respond) const;
  std::optional<HttpResponse> unpack_body(HttpRequest& request,
                                          std::shared_ptr<MemoryCharge>& charge) const;
  Result<InferRequest> read(HttpRequest request, const ServedModel& served,
                            std::shared_ptr<MemoryCharge>& charge) const;

  ModelRepository& models_;
  Metrics& metrics_;
  Workers& workers_;
  const io::PictureOptions* const picture_;  // null: pictures are refused
  SharedRegions regions_;
  const bool shared_memory_;      // whether clients may register regions
  const bool model_control_;      // whether clients may load and unload models
  const size_t most_body_bytes_;  // of one body, when it is unpacked
  // Limits the bodies that are unpacked, or that a job may need after their request was answered.
  const MemoryCharge::Limit held_body_bytes_;
  const std::atomic<uint32_t>& connections_;
  mutable std::mutex token_mutex_;
  std::shared_ptr<const std::string> token_;  // null: none
  std::atomic<bool> draining_ = false;
  Workers loader_;  // loads and unloads models, one after another
};

}  // namespace millrace::serve
