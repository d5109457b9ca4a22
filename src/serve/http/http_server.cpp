#include "serve/http/http_server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <thread>

#include "base/log.h"
#include "base/process/thread.h"
#include "serve/http/listener.h"

namespace millrace::serve {
namespace {

// Connections beyond the soft limit of descriptors would be refused by the system.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));
}

}  // namespace

class HttpServer::Impl {
 public:
  Impl(const HttpLimits& limits, Handler& handler, Workers& workers,
       std::atomic<uint32_t>& connections)
      : shared_(limits, handler, workers, connections) {}
  ~Impl() { stop(); }

  Status listen(const std::string& address, uint16_t port) {
    return listener_.listen(address, port);
  }

  Status run() {
    raise_descriptor_limit();
    listener_.accept();
    auto thread = start_thread("millrace-http", [this] { serve_connections(); });
    if (!thread.ok()) return thread.status();
    thread_ = *std::move(thread);
    return {};
  }

  void stop() {
    if (!thread_.joinable()) return;
    asio::post(shared_.io, [this] {
      listener_.close();
      const Connections all = all_;
      for (const auto& connection : all) connection->close();
      guard_.reset();
    });
    thread_.join();
  }

  void cancel_work() {
    asio::post(shared_.io, [this] {
      for (const auto& connection : all_) connection->cancel_work();
    });
  }

  bool wait_answered(Clock::time_point limit) {
    std::unique_lock lock(shared_.mutex);
    return shared_.all_answered.wait_until(lock, limit,
                                           [this] { return shared_.being_answered == 0; });
  }

  Shared& shared() { return shared_; }
  const tcp::endpoint& endpoint() const { return listener_.endpoint(); }

 private:
  // A handler that finds no memory throws, and leaves its own connection behind; the others go on.
  void serve_connections() {
    for (bool ended = false; !ended;) {
      try {
        shared_.io.run();
        ended = true;
      } catch (const std::exception& error) {
        log_format(LogLevel::kError, "serve", "a connection failed: {}", error.what());
      }
    }
  }

  Connections all_;  // used on the thread only
  Shared shared_;
  asio::executor_work_guard<asio::io_context::executor_type> guard_{shared_.io.get_executor()};
  Listener listener_{shared_, all_};
  std::thread thread_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address, uint16_t port,
                                                      const HttpLimits& limits, Handler& handler,
                                                      Workers& workers,
                                                      std::atomic<uint32_t>& connections) {
  auto impl = std::make_unique<Impl>(limits, handler, workers, connections);
  MILLRACE_RETURN_IF_ERROR(impl->listen(address, port));
  MILLRACE_RETURN_IF_ERROR(impl->run());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

std::string HttpServer::url() const {
  const std::string host = impl_->endpoint().address().to_string();
  if (impl_->endpoint().address().is_v6()) return fmt::format("http://[{}]:{}", host, port());
  return fmt::format("http://{}:{}", host, port());
}

uint16_t HttpServer::port() const {
  return impl_->endpoint().port();
}

void HttpServer::close_after_answers() {
  impl_->shared().closing = true;
}

bool HttpServer::wait_answered(std::chrono::steady_clock::time_point limit) {
  return impl_->wait_answered(limit);
}

void HttpServer::cancel_work() {
  impl_->cancel_work();
}

void HttpServer::stop() {
  impl_->stop();
}

}  // namespace millrace::serve
