#include "serve/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace millrace::serve {
namespace {

constexpr unsigned kWorkerThreads = 2;
// For answers to requests that were cancelled at the end of the drain.
constexpr std::chrono::seconds kLastAnswers{1};

}  // namespace

Server::Server(const Options& options, Device device)
    : options_(options),
      device_(std::move(device)),
      workers_(kWorkerThreads),
      service_(models_, metrics_, workers_, options.request_seconds, connections_) {}

// Units are closed before the connections that their callbacks answer.
Server::~Server() {
  for (const auto& model : models_) model->close();
  workers_.join();
  if (http_) http_->stop();
}

Status Server::load_models() {
  for (const std::string& path : options_.models) {
    MILLRACE_ASSIGN_OR_RETURN(auto model, ServedModel::load(path, options_, device_, metrics_));
    const auto same = [&](const auto& other) { return other->name() == model->name(); };
    if (std::ranges::any_of(models_, same))
      return invalid_argument(
          fmt::format("{}: there is another model \"{}\"", path, model->name()));
    models_.push_back(std::move(model));
  }
  return {};
}

Result<std::unique_ptr<Server>> Server::start(const Options& options) {
  MILLRACE_ASSIGN_OR_RETURN(Device device, Device::open(options.device));
  std::unique_ptr<Server> server(new Server(options, std::move(device)));
  MILLRACE_RETURN_IF_ERROR(server->load_models());
  MILLRACE_ASSIGN_OR_RETURN(
      server->http_, HttpServer::start(options.address, options.http_port, options.http,
                                       server->service_, server->workers_, server->connections_));
  return server;
}

bool Server::drain() {
  service_.begin_drain();
  http_->close_after_answers();
  const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(options_.drain_seconds));
  const bool in_time = http_->wait_answered(std::chrono::steady_clock::now() + time);
  if (in_time) return true;
  http_->cancel_work();
  http_->wait_answered(std::chrono::steady_clock::now() + kLastAnswers);
  return false;
}

}  // namespace millrace::serve
