#include "serve/http/workers.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace millrace::serve {

namespace asio = boost::asio;

struct Workers::Pool {
  explicit Pool(unsigned threads) : pool(threads) {}
  asio::thread_pool pool;
};

Workers::Workers(unsigned threads) : pool_(std::make_unique<Pool>(threads)) {}
Workers::~Workers() {
  join();
}
void Workers::post(std::function<void()> work) {
  asio::post(pool_->pool, std::move(work));
}
void Workers::join() {
  pool_->pool.join();
}

}  // namespace millrace::serve
