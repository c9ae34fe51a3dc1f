// Are contents named as XXH3 names them, whole or in pieces?
#include "host/core/hash.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "host/core/error.h"
#include "host/core/file_hash.h"

namespace nearwarp {
namespace {

std::string some_text(size_t bytes) {
  std::string text(bytes, ' ');
  for (size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 131 + i / 256);
  return text;
}

TEST(Hash, IsThatOfTheSpecification) {
  // XXH3_128bits of nothing, with seed 0: the test vectors of xxHash 0.8.
  EXPECT_EQ(content_hash("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(checksum(""), 0x2d06800538d394c2u);
  EXPECT_NE(checksum("", 1), checksum(""));
}

TEST(Hash, PiecesGiveTheHashOfTheWhole) {
  const std::string text = some_text(5000);
  for (const size_t first : {0u, 1u, 31u, 240u, 256u, 1024u, 4999u, 5000u}) {
    Hasher hasher;
    hasher.add(std::as_bytes(std::span(text).first(first)));
    hasher.add(std::as_bytes(std::span(text).subspan(first)));
    EXPECT_EQ(hasher.result(), content_hash(text)) << first;
  }
}

TEST(Hash, EveryByteCounts) {
  std::string text = some_text(300);
  const Hash128 whole = content_hash(text);
  for (char& c : text) {
    c = static_cast<char>(c + 1);
    EXPECT_NE(content_hash(text), whole);
    c = static_cast<char>(c - 1);
  }
  EXPECT_NE(content_hash(text.substr(1)), whole);
}

TEST(Hash, FilesAreNamedByTheirContents) {
  const std::string path = ::testing::TempDir() + "/hash_test";
  const std::string text = some_text((1 << 20) + 77);  // more than is read at once
  std::ofstream(path, std::ios::binary) << text;
  EXPECT_EQ(file_hash(path), content_hash(text).hex());
  std::remove(path.c_str());
  EXPECT_THROW(file_hash(path), Error);
}

}  // namespace
}  // namespace nearwarp
