// Certificates for tests, made by OpenSSL when they are needed.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>

namespace millrace::test {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

// The certificate of a server or a client and its key, in PEM.
struct Identity {
  std::string certificate, key;
};

inline Key new_key() {
  return {EVP_EC_gen("P-256"), &EVP_PKEY_free};
}

template <class Write>
std::string in_pem(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), &BIO_free);
  write(memory.get());
  char* text = nullptr;
  const auto size = static_cast<size_t>(BIO_get_mem_data(memory.get(), &text));
  return {text, size};
}

inline std::string pem_of(X509* certificate) {
  return in_pem([&](BIO* to) { PEM_write_bio_X509(to, certificate); });
}

inline std::string pem_of(EVP_PKEY* key) {
  return in_pem(
      [&](BIO* to) { PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

// An authority, which signs the certificates of servers and clients on this machine.
class Authority {
 public:
  Authority() { own_ = sign(key_.get(), "a test's authority", "CA:TRUE"); }

  std::string certificate() const { return pem_of(own_.get()); }
  Identity issue() const {
    const Key key = new_key();
    return {pem_of(sign(key.get(), "a test's program", "CA:FALSE").get()), pem_of(key.get())};
  }

 private:
  Certificate sign(EVP_PKEY* key, const char* name, const char* constraints) const {
    Certificate made(X509_new(), &X509_free);
    X509_set_version(made.get(), X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), own_ ? 2 : 1);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
    X509_set_pubkey(made.get(), key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
    X509* const issuer = own_ ? own_.get() : made.get();
    X509_set_issuer_name(made.get(), X509_get_subject_name(issuer));
    add(made.get(), NID_basic_constraints, constraints);
    add(made.get(), NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
    X509_sign(made.get(), key_.get(), EVP_sha256());
    return made;
  }

  static void add(X509* to, int kind, const char* value) {
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
    X509_add_ext(to, extension, -1);
    X509_EXTENSION_free(extension);
  }

  const Key key_ = new_key();
  Certificate own_{nullptr, &X509_free};
};

inline std::string write_text(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  return path;
}

}  // namespace millrace::test
