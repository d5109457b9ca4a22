// LoggedHandler: writes a line into the access log for each request that another handler answers or
// that the server refuses. Thread-safe.
#pragma once

#include <memory>
#include <optional>

#include "serve/access_log/access_log.h"
#include "serve/http/message.h"
#include "serve/models/model_repository.h"

namespace millrace::serve {

class LoggedHandler : public Handler {
 public:
  // The objects must outlive this one and all requests.
  LoggedHandler(Handler& handler, const ModelRepository& models, AccessLog& log)
      : handler_(handler), models_(models), log_(log) {}

  std::optional<HttpResponse> refuse(const HttpRequest& head) override;
  void refused(const HttpRequest& head, unsigned status) noexcept override;
  bool takes_long(const HttpRequest& request, size_t json_bytes) const override {
    return handler_.takes_long(request, json_bytes);
  }
  std::shared_ptr<Work> handle(HttpRequest request, Respond respond) override;

 private:
  AccessRecord record_of(const HttpRequest& request) const;
  std::shared_ptr<AccessRecord> shared_record_of(const HttpRequest& request) const noexcept;
  Respond logged(const HttpRequest& request, Respond respond);

  Handler& handler_;
  const ModelRepository& models_;
  AccessLog& log_;
};

}  // namespace millrace::serve
