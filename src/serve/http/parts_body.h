// PartsBody: the body of a response in the form that Boost.Beast writes: several parts, which are
// written from where they lie.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/optional.hpp>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "serve/http/asio.h"
#include "serve/http/message.h"

namespace millrace::serve {
struct PartsBody {
  using value_type = HttpResponse;

  static uint64_t size(const value_type& response) { return body_size(response); }

  class writer {
   public:
    // Beast copies the list of parts where an exception ends the program, so it gets a view.
    using const_buffers_type = std::span<const asio::const_buffer>;

    template <bool kIsRequest, class HeaderFields>
    writer(const http::header<kIsRequest, HeaderFields>&, const value_type& response)
        : response_(response) {}

    void init(error_code& error) { error = {}; }
    boost::optional<std::pair<const_buffers_type, bool>> get(error_code& error) {
      error = {};
      parts_ = {asio::buffer(response_.text)};
      for (const auto& part : response_.raw) parts_.emplace_back(part.data(), part.size());
      return {{const_buffers_type(parts_), false}};
    }

   private:
    const value_type& response_;
    std::vector<asio::const_buffer> parts_;
  };
};

}  // namespace millrace::serve
