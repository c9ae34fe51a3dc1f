// Do damaged numbers of elements take no more memory than what is read?
#include "host/recording/archive.h"

#include <gtest/gtest.h>

namespace nearwarp::runtime {
namespace {

/// An element of eight bytes in a file.
struct Element {
  Element() { ++made; }
  uint64_t value = 0;
  static inline size_t made = 0;
};
template <class A>
void io(A& a, Element& e) {
  io(a, e.value);
}

TEST(Archive, ElementsAreMadeAsTheyAreRead) {
  std::vector<uint8_t> file(8 + 1000);
  file[0] = 1000 % 256;  // as many elements as bytes
  file[1] = 1000 / 256;
  Reader reader(file.data(), file.size());
  std::vector<Element> elements;
  Element::made = 0;
  EXPECT_THROW(io(reader, elements), Error);
  EXPECT_LE(Element::made, 1000u / 8 + 1);
}

TEST(Archive, ListsAreReadAsTheyWereWritten) {
  std::vector<std::vector<std::string>> from = {{"a", ""}, {}, {"bcd"}}, to = {{"old"}};
  std::vector<uint16_t> numbers = {1, 65535}, numbers_read;
  Writer writer;
  io_all(writer, from, numbers);
  Reader reader(writer.out.data(), writer.out.size());
  io_all(reader, to, numbers_read);
  EXPECT_EQ(to, from);
  EXPECT_EQ(numbers_read, numbers);
  EXPECT_EQ(reader.left(), 0u);
}

}  // namespace
}  // namespace nearwarp::runtime
