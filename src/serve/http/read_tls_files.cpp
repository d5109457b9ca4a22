#include "serve/http/read_tls_files.h"

#include <vector>

#include "io/file.h"
#include "serve/http/tls_context.h"

namespace millrace::serve {
namespace {

Result<std::string> text_of_file(const std::string& path) {
  if (path.empty()) return std::string();
  MILLRACE_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, io::read_file(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

Result<TlsFiles> read_tls_files(const TlsPaths& paths) {
  if (paths.certificate.empty() != paths.key.empty())
    return invalid_argument("--tls-certificate and --tls-key belong together: one is missing");
  if (paths.certificate.empty() && !paths.client_ca.empty())
    return invalid_argument("--tls-client-ca needs --tls-certificate and --tls-key");
  TlsFiles files;
  MILLRACE_ASSIGN_OR_RETURN(files.certificate, text_of_file(paths.certificate));
  MILLRACE_ASSIGN_OR_RETURN(files.key, text_of_file(paths.key));
  MILLRACE_ASSIGN_OR_RETURN(files.client_ca, text_of_file(paths.client_ca));
  if (paths.certificate.empty()) return files;
  const auto context = tls_context(files, paths);
  if (!context.ok()) return context.status();
  return files;
}

}  // namespace millrace::serve
