// The settings of OpenSSL for the connections of a server.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>

#include "base/status.h"
#include "serve/http/asio.h"
#include "serve/http/tls_files.h"

namespace millrace::serve {

using TlsContext = std::unique_ptr<asio::ssl::context>;

// TLS 1.2 and later. kInvalidArgument if one of the files is not what it should be; the message
// names it by `paths`. Null if there is no certificate.
Result<TlsContext> tls_context(const TlsFiles& files, const TlsPaths& paths = {});

}  // namespace millrace::serve
