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
      service_(models_, failed_, metrics_, workers_, options_, connections_) {}

// Units are closed before the connections that their callbacks answer. The workers end last, since
// the thread of the connections must not give them work that they never do.
Server::~Server() {
  for (const auto& model : models_) model->close();
  if (http_) http_->stop();
  workers_.join();
}

Status Server::load_models() {
  for (const std::string& path : options_.models) MILLRACE_RETURN_IF_ERROR(load_models_of(path));
  if (!models_.empty()) return {};
  return failed_.front().reason.with_context("no model could be loaded");
}

Status Server::load_models_of(const std::string& path) {
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<ModelFile> files, find_models(path));
  for (const ModelFile& file : files) {
    const auto same = [&](const auto& other) {
      return other->name() == file.name && other->version() == file.version;
    };
    if (std::ranges::any_of(models_, same))
      return invalid_argument(fmt::format("{}: there is another model \"{}\" of version {}",
                                          file.path, file.name, file.version));
    auto model = ServedModel::load(file, options_, device_, metrics_);
    if (model.ok())
      models_.push_back(*std::move(model));
    else if (is_repository(path))
      failed_.push_back({file, model.status()});
    else
      return model.status();
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
