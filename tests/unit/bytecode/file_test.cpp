// The .ppb file: writer and reader against each other and against damage.
#include <gtest/gtest.h>

#include <filesystem>

#include "runtime/base/file_io.h"
#include "runtime/bytecode/format.h"
#include "runtime/bytecode/reader.h"
#include "runtime/bytecode/writer.h"
#include "tests/unit/bytecode/reseal.h"
#include "tests/unit/bytecode/sample.h"

namespace pp::bytecode {
namespace {

using Bytes = std::vector<std::byte>;

std::string ReadError(const Bytes& bytes) {
  const auto module = Read(bytes);
  return module ? "read without error" : module.error().message();
}

TEST(File, ReadsBackWhatWasWritten) {
  const Module m = SampleModule();
  const auto bytes = Write(m);
  ASSERT_TRUE(bytes) << bytes.error().message();
  EXPECT_EQ(bytes->size() % 16, 0u);
  const auto back = Read(*bytes);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(*back, m);
  EXPECT_EQ(*Write(*back), *bytes);
}

TEST(File, AnEmptyModuleIsAFileToo) {
  const Module empty;
  EXPECT_EQ(*Read(*Write(empty)), empty);
}

TEST(File, NotesCoverTheFileInOrder) {
  std::vector<FieldNote> notes;
  const auto bytes = Write(SampleModule(), &notes);
  size_t at = 0;
  for (const FieldNote& note : notes) {
    EXPECT_EQ(note.offset, at) << note.text;
    at = note.offset + note.size;
  }
  EXPECT_EQ(at, bytes->size());
  EXPECT_EQ(*bytes, *Write(SampleModule()));
}

TEST(File, EveryFlippedBitIsFound) {
  const Bytes good = *Write(SampleModule());
  Bytes bytes = good;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const std::byte mask{static_cast<unsigned char>(1u << (bit % 8))};
    bytes[bit / 8] ^= mask;
    ASSERT_FALSE(Read(bytes)) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
  EXPECT_TRUE(Read(bytes));
}

TEST(File, EveryPrefixIsRefused) {
  const Bytes good = *Write(SampleModule());
  for (size_t size = 0; size < good.size(); ++size) {
    ASSERT_FALSE(Read(std::span(good).first(size))) << size;
  }
}

TEST(File, SaysWhatIsWrongWithTheFile) {
  const auto text = [](std::string_view s) {
    const auto bytes = std::as_bytes(std::span(s));
    return Bytes(bytes.begin(), bytes.end());
  };
  EXPECT_EQ(ReadError({}), "the file is empty");
  EXPECT_EQ(ReadError(text("schedule gpipe(P, M) {")),
            "not bytecode: the file does not start with the mark of a `.ppb`");
  EXPECT_EQ(ReadError(text("ppasm 1\n")),
            "this is the text form of bytecode: `ppc assemble` makes a `.ppb` "
            "of it");
  const Bytes good = *Write(SampleModule());
  EXPECT_EQ(ReadError(Bytes(good.begin(), good.begin() + 5)),
            "the file is cut short: 5 bytes, the header alone has 32");
  EXPECT_EQ(ReadError(Bytes(good.begin(), good.begin() + 100)),
            "the file is cut short or its header is damaged: 100 bytes, "
            "header and section table have 192");
  EXPECT_EQ(ReadError(Bytes(good.begin(), good.begin() + 200)),
            "the file is cut short: 200 of " + std::to_string(good.size()) +
                " bytes");
  Bytes longer = good;
  longer.resize(good.size() + 3);
  EXPECT_EQ(ReadError(longer), "3 bytes follow the end of the bytecode");
}

TEST(File, AnotherVersionIsNamed) {
  Bytes bytes = *Write(SampleModule());
  SetU32(bytes, format::kVersionOffset, 7);
  EXPECT_EQ(ReadError(bytes),
            "format version 7; this program reads version 1: compile again "
            "with the `ppc` that belongs to it");
}

TEST(File, DamageIsLocated) {
  Bytes bytes = *Write(SampleModule());
  const uint32_t rank1 = GetU32(bytes, EntryOffset(4) + 8);
  bytes[rank1 + 40] ^= std::byte{1};
  EXPECT_TRUE(
      ReadError(bytes).starts_with("section `rank 1` is damaged: checksum "))
      << ReadError(bytes);
  bytes = *Write(SampleModule());
  bytes[EntryOffset(2) + 9] ^= std::byte{1};
  EXPECT_EQ(ReadError(bytes),
            "the header is damaged: its checksum does not match");
}

TEST(File, ARankReadsItsOwnSectionOnly) {
  const Module m = SampleModule();
  Bytes bytes = *Write(m);
  bytes[GetU32(bytes, EntryOffset(3) + 8) + 40] ^= std::byte{1};
  EXPECT_FALSE(ReadRank(bytes, Rank{0}));
  const auto rank1 = ReadRank(bytes, Rank{1});
  ASSERT_TRUE(rank1) << rank1.error().message();
  EXPECT_EQ(*rank1, m.programs[1]);
  EXPECT_EQ(ReadRank(bytes, Rank{2}).error().message(),
            "no rank 2: it was compiled for 2");
}

// Behind right checksums: files made by a faulty or hostile writer.
TEST(File, ContentsAreCheckedAsWell) {
  const Bytes good = *Write(SampleModule());
  const auto with = [&](size_t offset, uint32_t value) {
    Bytes bytes = good;
    SetU32(bytes, offset, value);
    Reseal(bytes);
    return ReadError(bytes);
  };
  const uint32_t module = GetU32(good, EntryOffset(0) + 8);
  const uint32_t facts = GetU32(good, EntryOffset(1) + 8);
  const uint32_t rank0 = GetU32(good, EntryOffset(3) + 8);
  EXPECT_EQ(with(module + 16, 0xFFFFFFFF),
            "section `module`: groups: 4294967295 of 12 bytes each expected, "
            "28 bytes left");
  EXPECT_EQ(with(module + 20, 9),
            "section `module`: unknown kind 9 of a group");
  EXPECT_EQ(with(module + 28, 0x7FFFFFFF),
            "section `module`: group: ranks: 2147483647 of 4 bytes each "
            "expected, 16 bytes left");
  EXPECT_TRUE(with(facts, 0xFFFFFFF0)
                  .starts_with("section `facts`: schedule: 4294967280 of 1 "
                               "bytes each expected"));
  EXPECT_TRUE(with(rank0 + 12, 0x10000000)
                  .starts_with("section `rank 0`: instructions: 268435456 of "
                               "16 bytes each expected"));
  EXPECT_EQ(with(rank0 + 20, 1),
            "section `rank 0`: unused bytes of the head are not zero");
  EXPECT_EQ(with(rank0 + 32, 0), "section `rank 0`: pc 0: no such opcode 0x00");
  // wait %0, a byte behind its operand set
  EXPECT_EQ(with(rank0 + 32 + 4 * 16 + 4, 1),
            "section `rank 0`: pc 4: `wait %0`: padding is not zero");
  EXPECT_EQ(with(EntryOffset(3) + 4, 1),
            "section table: entry 3 does not describe section `rank 0` at "
            "offset " +
                std::to_string(rank0));
  EXPECT_EQ(with(12, 4), "4 sections for 2 ranks, expected 5");
}

TEST(File, TheWriterNamesWhatDoesNotFit) {
  const auto error = [](const Instr& instr) {
    Module m = SampleModule();
    m.programs[1].code[3] = instr;
    const auto bytes = Write(m);
    return bytes ? "written" : bytes.error().message();
  };
  EXPECT_EQ(error(op::Wait{SlotId{65536}}.Pack()),
            "rank 1: pc 3: `wait %65536`: operand `slot` is 65536, its field "
            "has 2 bytes");
  EXPECT_EQ(error(Instr{Opcode::kWait, {0, 1}}),
            "rank 1: pc 3: `wait %0`: operand `_2` is 1, its field has 0 "
            "bytes");
  EXPECT_EQ(error(Instr{Opcode{0x77}, {}}), "rank 1: pc 3: no opcode 0x77");
  Module m = SampleModule();
  m.groups[0].kind = GroupKind{5};
  EXPECT_EQ(Write(m).error().message(), "group g0: unknown kind 5");
}

TEST(LoadFile, NamesTheFile) {
  const std::string path =
      (std::filesystem::temp_directory_path() /
       ("pp_load_file_" + std::to_string(::getpid()) + ".ppb"))
          .string();
  const Module m = SampleModule();
  ASSERT_TRUE(WriteFile(path, *Write(m)).ok());
  EXPECT_EQ(*LoadFile(path), m);

  Module bad = m;
  bad.programs[0].code[0] = op::Wait{SlotId{0}}.Pack();
  ASSERT_TRUE(WriteFile(path, *Write(bad)).ok());
  EXPECT_EQ(LoadFile(path).error().message(),
            path +
                ": rank 0, pc 0 (`wait %0`): slot %0 is empty: nothing was "
                "received into it");
  EXPECT_EQ(LoadFile(path).error().code(), StatusCode::kInput);
  ASSERT_TRUE(WriteTextFile(path, "").ok());
  EXPECT_EQ(LoadFile(path).error().message(), path + ": the file is empty");
  std::filesystem::remove(path);
  EXPECT_EQ(LoadFile(path).error().code(), StatusCode::kInput);
}

}  // namespace
}  // namespace pp::bytecode
