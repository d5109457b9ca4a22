// A client of HTTPS for tests.
#pragma once

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "tests/serve/certificates.h"
#include "tests/serve/http_client.h"

namespace millrace::test {

class TlsClient : public HttpClient {
 public:
  // Trusts the authority. `own` may be null. What the server refuses shows as an answer without
  // status, or in is_connected().
  TlsClient(uint16_t port, const Authority& authority, const Identity* own = nullptr)
      : HttpClient(port), context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free) {
    trust(authority.certificate());
    if (own != nullptr) present(*own);
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_fd(ssl_.get(), socket());
    connected_ = SSL_connect(ssl_.get()) == 1;
  }
  ~TlsClient() override = default;

  bool is_connected() const { return connected_; }
  // Says that this is all, and closes the connection.
  void leave() {
    SSL_shutdown(ssl_.get());
    close();
  }
  // Returns the records that send() would send, for send_raw() to send them in pieces.
  std::string encrypted(std::string_view text) {
    BIO* const own = SSL_get_wbio(ssl_.get());
    BIO* const memory = BIO_new(BIO_s_mem());
    BIO_up_ref(own);
    SSL_set0_wbio(ssl_.get(), memory);
    SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()));
    char* bytes = nullptr;
    const auto size = static_cast<size_t>(BIO_get_mem_data(memory, &bytes));
    std::string records(bytes, size);
    SSL_set0_wbio(ssl_.get(), own);
    return records;
  }
  void send_raw(std::string_view records) {
    EXPECT_EQ(HttpClient::send_some(records), static_cast<ssize_t>(records.size()));
  }
  // Whether the server has said that this is all.
  bool was_left() const { return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }

 protected:
  ssize_t send_some(std::string_view text) override {
    return SSL_write(ssl_.get(), text.data(), static_cast<int>(text.size()));
  }
  ssize_t receive_some(std::span<char> to) override {
    return SSL_read(ssl_.get(), to.data(), static_cast<int>(to.size()));
  }

 private:
  void trust(const std::string& pem) {
    const Certificate authority(read<X509>(pem, &PEM_read_bio_X509), &X509_free);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), authority.get());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  }
  void present(const Identity& own) {
    const Certificate certificate(read<X509>(own.certificate, &PEM_read_bio_X509), &X509_free);
    const Key key(read<EVP_PKEY>(own.key, &PEM_read_bio_PrivateKey), &EVP_PKEY_free);
    SSL_CTX_use_certificate(context_.get(), certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), key.get());
  }
  template <class Object, class Read>
  static Object* read(const std::string& pem, Read read_bio) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> text(
        BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
    return read_bio(text.get(), nullptr, nullptr, nullptr);
  }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_{nullptr, &SSL_free};
  bool connected_ = false;
};

}  // namespace millrace::test
