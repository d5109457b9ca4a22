#include "serve/http/http_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/process/thread.h"
#include "serve/http/listener.h"
#include "serve/http/tls_context.h"

namespace millrace::serve {
namespace {

constexpr std::chrono::milliseconds kMemoryPause{10};

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
       std::atomic<uint32_t>& connections, std::shared_ptr<AnswerQueue> answers, TlsContext tls)
      : tls_(std::move(tls)),
        has_tls_(tls_ != nullptr),
        shared_(limits, handler, workers, connections, std::move(answers)) {}
  ~Impl() { stop(); }

  Status listen(const std::string& address, uint16_t port, const std::string& socket_path) {
    MILLRACE_RETURN_IF_ERROR(listener_.listen(address, port));
    return socket_path.empty() ? Status() : local_listener_.listen_at(socket_path);
  }

  Status run() {
    raise_descriptor_limit();
    const int descriptor = ::fcntl(shared_.answers->descriptor(), F_DUPFD_CLOEXEC, 0);
    if (descriptor < 0) return io_error("duplicate the eventfd for answers", errno);
    answers_event_.assign(descriptor);
    auto thread = start_thread("millrace-http", [this] { serve_connections(); });
    if (!thread.ok()) return thread.status();
    thread_ = *std::move(thread);
    return {};
  }

  void stop() {
    if (!thread_.joinable()) return;
    post([this] {
      listener_.close();
      local_listener_.close();
      error_code ignored;
      answers_event_.close(ignored);
      guard_.reset();
      while (!all_.empty()) (*all_.begin())->close();
    });
    thread_.join();
    shared_.ended = true;
    shared_.answers->close();
  }

  void cancel_work() {
    post([this] {
      for (const auto& connection : all_) connection->cancel_work();
    });
  }

  Shared& shared() { return shared_; }
  const tcp::endpoint& endpoint() const { return listener_.endpoint(); }
  bool has_tls() const { return has_tls_; }

  // A connection keeps what it uses of the context with which it began.
  void use_tls(TlsContext tls) {
    auto next = std::make_shared<TlsContext>(std::move(tls));
    post([this, next = std::move(next)] {
      tls_.swap(*next);
      listener_.use_tls(tls_.get());
    });
  }

 private:
  // Runs a step on the thread of the server, as soon as there is memory for that.
  template <class Step>
  void post(Step step) {
    while (true) {
      try {
        return asio::post(shared_.io, step);
      } catch (const std::bad_alloc&) {
        std::this_thread::sleep_for(kMemoryPause);
      }
    }
  }

  // A connection that finds no memory closes itself. What is left here are the waits for new
  // connections and for answers, which are tried again.
  void serve_connections() {
    for (bool ended = false; !ended;) {
      try {
        listener_.resume();
        local_listener_.resume();
        await_answers();
        shared_.io.run();
        ended = true;
      } catch (const std::exception& error) {
        log_format(LogLevel::kError, "serve", "the server waits for memory: {}", error.what());
        std::this_thread::sleep_for(kMemoryPause);
      }
    }
  }

  void await_answers() {
    if (awaits_answers_ || !answers_event_.is_open()) return;
    answers_event_.async_wait(asio::posix::descriptor_base::wait_read, [this](error_code error) {
      awaits_answers_ = false;
      if (error) return;
      shared_.answers->clear_event();
      while (const auto answered = shared_.answers->take()) {
        if (const auto connection = answered->connection()) connection->take_answer(*answered);
        answered->drop_answer();  // it may own what refers to the exchange
      }
      await_answers();
    });
    awaits_answers_ = true;
  }

  TlsContext tls_;  // null: none
  const bool has_tls_;
  Shared shared_;
  Connections all_;  // used on the thread only
  asio::executor_work_guard<asio::io_context::executor_type> guard_{shared_.io.get_executor()};
  Listener listener_{shared_, all_, tls_.get()}, local_listener_{shared_, all_, nullptr};
  asio::posix::basic_stream_descriptor<asio::io_context::executor_type> answers_event_{shared_.io};
  bool awaits_answers_ = false;
  std::thread thread_;
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address, uint16_t port,
                                                      const HttpLimits& limits, Handler& handler,
                                                      Workers& workers,
                                                      std::atomic<uint32_t>& connections,
                                                      const std::string& socket_path,
                                                      const TlsFiles& tls) {
  MILLRACE_ASSIGN_OR_RETURN(auto answers, AnswerQueue::create());
  MILLRACE_ASSIGN_OR_RETURN(TlsContext context, tls_context(tls));
  auto impl = std::make_unique<Impl>(limits, handler, workers, connections, std::move(answers),
                                     std::move(context));
  MILLRACE_RETURN_IF_ERROR(impl->listen(address, port, socket_path));
  MILLRACE_RETURN_IF_ERROR(impl->run());
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

std::string HttpServer::url() const {
  const std::string host = impl_->endpoint().address().to_string();
  const char* const scheme = impl_->has_tls() ? "https" : "http";
  if (impl_->endpoint().address().is_v6()) return fmt::format("{}://[{}]:{}", scheme, host, port());
  return fmt::format("{}://{}:{}", scheme, host, port());
}

uint16_t HttpServer::port() const {
  return impl_->endpoint().port();
}

Status HttpServer::use_tls(const TlsFiles& files) {
  MILLRACE_ASSIGN_OR_RETURN(TlsContext context, tls_context(files));
  impl_->use_tls(std::move(context));
  return {};
}

void HttpServer::close_after_answers() {
  impl_->shared().closing = true;
}

bool HttpServer::wait_answered(std::chrono::steady_clock::time_point limit) {
  return impl_->shared().requests.wait_for_none(limit);
}

void HttpServer::cancel_work() {
  impl_->cancel_work();
}

void HttpServer::stop() {
  impl_->stop();
}

}  // namespace millrace::serve
