#include "serve/access_log/logged_handler.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "serve/route.h"

namespace millrace::serve {
namespace {

using SteadyClock = std::chrono::steady_clock;

// Texts of clients are cut, so that a line stays short.
constexpr size_t kMostPathBytes = 512, kMostTextBytes = 128;

std::string cut(std::string_view text, size_t most) {
  return std::string(text.substr(0, std::min(text.size(), most)));
}

// The query is no part of any call, and may hold what is secret.
std::string_view without_query(std::string_view target) {
  return target.substr(0, target.find('?'));
}

// A request whose header was not read has not arrived.
bool has_arrived(SteadyClock::time_point arrival) {
  return arrival != SteadyClock::time_point{};
}

std::chrono::system_clock::time_point system_time(SteadyClock::time_point arrival) {
  const auto now = std::chrono::system_clock::now();
  if (!has_arrived(arrival)) return now;
  return now - std::chrono::duration_cast<std::chrono::system_clock::duration>(SteadyClock::now() -
                                                                               arrival);
}

void end_record(AccessRecord& record, SteadyClock::time_point arrival, unsigned status) {
  record.status = status;
  if (has_arrived(arrival)) record.duration = SteadyClock::now() - arrival;
}

}  // namespace

AccessRecord LoggedHandler::record_of(const HttpRequest& request) const {
  AccessRecord record;
  record.time = system_time(request.arrival);
  record.remote = cut(request.origin.remote, kMostTextBytes);
  if (request.origin.grpc_call.empty()) {
    record.protocol = "HTTP";
    record.method = cut(request.method, kMostTextBytes);
    record.path = cut(without_query(request.target), kMostPathBytes);
  } else {
    record.protocol = "gRPC";
    record.method = request.origin.grpc_call;
    record.id = cut(request.origin.request_id, kMostTextBytes);
  }
  record.bytes_in = request.body.size();
  record.trace = trace_context_of(request);
  const Route route = route_of(models_, request.target);
  if (!route.model) return record;
  record.model = cut(route.model->name(), kMostTextBytes);
  record.version = cut(route.model->version(), kMostTextBytes);
  return record;
}

// Null, and the line is dropped, if there is no memory for it.
std::shared_ptr<AccessRecord> LoggedHandler::shared_record_of(
    const HttpRequest& request) const noexcept {
  try {
    return std::make_shared<AccessRecord>(record_of(request));
  } catch (const std::exception&) {
    log_.drop();
    return nullptr;
  }
}

std::optional<HttpResponse> LoggedHandler::refuse(const HttpRequest& head) {
  auto refusal = handler_.refuse(head);
  if (!refusal) return refusal;
  if (const auto record = shared_record_of(head)) {
    end_record(*record, head.arrival, refusal->status);
    record->bytes_out = body_size(*refusal);
    log_.write(std::move(*record));
  }
  return refusal;
}

void LoggedHandler::refused(const HttpRequest& head, unsigned status) noexcept {
  handler_.refused(head, status);
  const auto record = shared_record_of(head);
  if (!record) return;
  end_record(*record, head.arrival, status);
  log_.write(std::move(*record));
}

std::shared_ptr<Work> LoggedHandler::handle(HttpRequest request, Respond respond) {
  Respond answer = logged(request, std::move(respond));
  return handler_.handle(std::move(request), std::move(answer));
}

// Without memory for the record, the request is answered without a line.
Respond LoggedHandler::logged(const HttpRequest& request, Respond respond) {
  auto record = shared_record_of(request);
  if (!record) return respond;
  try {
    // A copy, since the original is needed when there is no memory for this.
    return [this, record, respond, arrival = request.arrival](HttpResponse response) {
      end_record(*record, arrival, response.status);
      record->bytes_out = body_size(response);
      if (response.times) record->queued = response.times->queued;
      if (response.times) record->computed = response.times->computed;
      response.request_id.resize(std::min(response.request_id.size(), kMostTextBytes));
      if (record->id.empty()) record->id.swap(response.request_id);
      log_.write(std::move(*record));
      respond(std::move(response));
    };
  } catch (const std::exception&) {
    log_.drop();
    return respond;
  }
}

}  // namespace millrace::serve
