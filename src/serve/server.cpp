#include "serve/server.h"

#include <chrono>
#include <stdexcept>
#include <utility>

namespace millrace::serve {
namespace {

constexpr unsigned kWorkerThreads = 2;
// For answers to requests that were cancelled at the end of the drain.
constexpr std::chrono::seconds kLastAnswers{1};

}  // namespace

Server::Server(const Options& options, Device device)
    : options_(options),
      device_(std::move(device)),
      models_(options_, device_, metrics_),
      workers_(kWorkerThreads),
      service_(models_, metrics_, workers_, options_, connections_) {}

// Units are closed before the connections that their callbacks answer. The workers end last, since
// the thread of the connections must not give them work that they never do.
Server::~Server() {
  models_.close();
  if (http_) http_->stop();
  workers_.join();
}

Result<std::unique_ptr<Server>> Server::start(const Options& options) {
  MILLRACE_ASSIGN_OR_RETURN(Device device, Device::open(options.device));
  MILLRACE_ASSIGN_OR_RETURN(std::unique_ptr<Server> server, create(options, std::move(device)));
  MILLRACE_RETURN_IF_ERROR(server->models_.start());
  MILLRACE_ASSIGN_OR_RETURN(
      server->http_, HttpServer::start(options.address, options.http_port, options.http,
                                       server->service_, server->workers_, server->connections_));
  return server;
}

Result<std::unique_ptr<Server>> Server::create(const Options& options, Device device) {
  try {
    return std::unique_ptr<Server>(new Server(options, std::move(device)));
  } catch (const std::runtime_error& error) {
    return Status(StatusCode::kResourceExhausted, error.what());
  }
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
