// The files of TLS: the server's certificate and key, and the authorities of its clients.
#pragma once

#include <string>

namespace millrace::serve {

// Paths; empty: none.
struct TlsPaths {
  std::string certificate, key, client_ca;
};

// The contents of the files, in PEM.
struct TlsFiles {
  std::string certificate;  // and those of the authorities between it and a root; empty: no TLS
  std::string key;
  std::string client_ca;  // clients must state a certificate of one of these; empty: they need none
  bool operator==(const TlsFiles&) const = default;
};

}  // namespace millrace::serve
