#include "cli/report/html.h"

#include <gmock/gmock.h>

namespace millrace::test {
namespace {

using cli::data_uri;
using cli::html_escaped;

std::string uri_of(std::string_view text) {
  return data_uri("image/png", std::as_bytes(std::span(text)));
}

TEST(Html, MarkupBecomesText) {
  EXPECT_EQ(html_escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(html_escaped("&lt;"), "&amp;lt;");
  EXPECT_EQ(html_escaped(""), "");
}

TEST(Html, NamesOfAnyBytesAreWritten) {
  EXPECT_EQ(html_escaped("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
  EXPECT_EQ(html_escaped("\xff<\x80"), "?&lt;?");
  EXPECT_EQ(html_escaped(std::string_view("a\n\0\x7f\x1b"
                                          "b",
                                          6)),
            "a    b");
}

// RFC 4648, section 10.
TEST(Html, UrisHoldTheBytes) {
  EXPECT_EQ(uri_of(""), "data:image/png;base64,");
  EXPECT_EQ(uri_of("f"), "data:image/png;base64,Zg==");
  EXPECT_EQ(uri_of("fo"), "data:image/png;base64,Zm8=");
  EXPECT_EQ(uri_of("foo"), "data:image/png;base64,Zm9v");
  EXPECT_EQ(uri_of("foobar"), "data:image/png;base64,Zm9vYmFy");
  EXPECT_EQ(uri_of("\xff\xfe\xfd"), "data:image/png;base64,//79");
}

}  // namespace
}  // namespace millrace::test
