#include <gtest/gtest.h>

#include <limits>

#include "runtime/base/byte_reader.h"
#include "runtime/base/byte_writer.h"
#include "runtime/base/crc32.h"

namespace pp {
namespace {

std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(Crc32, CheckValueOfTheStandard) {
  EXPECT_EQ(Crc32(AsBytes("123456789")), 0xCBF43926u);
  EXPECT_EQ(Crc32({}), 0u);
  EXPECT_EQ(Crc32(AsBytes("6789"), Crc32(AsBytes("12345"))), 0xCBF43926u);
}

// 64 or 16 bytes at a time or one by one: the same sum, wherever the text is cut.
TEST(Crc32, TheSameHoweverTheBytesAreGrouped) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += static_cast<char>(i * 37 + 11);
  uint32_t one_by_one = 0;
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::string_view start = std::string_view(text).substr(0, size);
    EXPECT_EQ(Crc32(AsBytes(start)), one_by_one) << size;
    if (size == text.size()) break;
    const std::string_view next = std::string_view(text).substr(size, 1);
    one_by_one = Crc32(AsBytes(next), one_by_one);
  }
}

TEST(ByteWriter, IsLittleEndianWithNotes) {
  std::vector<ByteNote> notes;
  ByteWriter out(&notes);
  out.U32(0x01020304, "first: {}", 7);
  out.U64(0x1122334455667788, "second");
  out.Pad(16);
  EXPECT_EQ(out.bytes()[0], std::byte{4});
  EXPECT_EQ(out.bytes()[3], std::byte{1});
  EXPECT_EQ(out.bytes()[4], std::byte{0x88});
  out.PatchU32(0, 0xAABBCCDD);
  EXPECT_EQ(out.bytes()[0], std::byte{0xDD});
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_EQ(notes[0].text, "first: 7");
  EXPECT_EQ(notes[1].offset, 4u);
  EXPECT_EQ(notes[2].text, "padding");
  EXPECT_EQ(std::move(out).Take().size(), 16u);
}

TEST(ByteReader, ReadsBackWhatWasWritten) {
  ByteWriter out;
  out.U32(5, "");
  out.U64(std::numeric_limits<uint64_t>::max(), "");
  out.F64(-0.1, "");
  out.U32(3, "");
  out.Bytes(AsBytes("abc"), "");
  out.Pad(8);
  ByteReader in(out.bytes());
  EXPECT_EQ(in.U32("a"), 5u);
  EXPECT_EQ(in.U64("b"), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(in.F64("c"), -0.1);
  EXPECT_EQ(in.Text("d"), "abc");
  in.ExpectPadding(8);
  EXPECT_TRUE(in.ok()) << in.status().message();
}

TEST(ByteReader, TheFirstFailureSticks) {
  const std::byte bytes[6] = {};
  ByteReader in(bytes);
  EXPECT_EQ(in.U32("first"), 0u);
  EXPECT_EQ(in.U32("second"), 0u);
  EXPECT_EQ(in.U64("third"), 0u);
  EXPECT_EQ(in.status().message(), "second: 4 bytes expected, 2 left");
  EXPECT_EQ(in.status().code(), StatusCode::kInput);
}

TEST(ByteReader, ACountIsBoundedByTheBytesLeft) {
  ByteWriter out;
  out.U32(0xFFFFFFFF, "");
  out.U64(0, "");
  ByteReader in(out.bytes());
  EXPECT_EQ(in.Count(8, "things"), 0u);
  EXPECT_EQ(in.status().message(),
            "things: 4294967295 of 8 bytes each expected, 8 bytes left");
}

TEST(ByteReader, PaddingIsShortAndZero) {
  const std::byte one[1] = {std::byte{1}};
  ByteReader nonzero(one);
  nonzero.ExpectPadding(16);
  EXPECT_EQ(nonzero.status().message(), "padding is not zero");
  const std::byte many[16] = {};
  ByteReader rest(many);
  rest.ExpectPadding(16);
  EXPECT_EQ(rest.status().message(), "16 bytes after the last field");
}

}  // namespace
}  // namespace pp
