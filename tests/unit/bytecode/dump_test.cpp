#include "runtime/bytecode/dump.h"

#include <gtest/gtest.h>

#include <sstream>

#include "runtime/bytecode/writer.h"
#include "tests/unit/bytecode/random_module.h"
#include "tests/unit/bytecode/sample.h"

namespace pp::bytecode {
namespace {

std::string Dumped(const Module& module, const DumpOptions& options) {
  std::ostringstream out;
  const Status status = Dump(module, options, out);
  return status.ok() ? out.str() : status.message();
}

TEST(Dump, HeaderFactsAndOneRank) {
  Module m = SampleModule();
  m.programs[1].code.resize(3);
  m.programs[1].debug.resize(3);
  m.facts.source_file = "gr\xC3\xBCn\x1b[2J.sched";
  EXPECT_EQ(Dumped(m, {.rank = Rank{1}}), R"(module
  format version       1
  ranks                2
  micro-batches        2
  stages               2
  replicas             1
  lanes                2
  group g0             tied, ranks 0 1

facts (of the compiler; nothing that runs depends on them)
  schedule             one_f_one_b
  source_file          "grün\x1b[2J.sched"
  source_hash          00ff
  costs                F=1,B=2,I=1,W=1,comm=0
  placement            linear
  tier                 strict
  compiler             ppc 0.1.0
  makespan             9
  bubble_fraction      0.3333333333333333
  bubble_overhead      0
  bubble_longest_stage 0
  params               P=2 M=2
  peak_activations     2 1, by rank, in chunks

rank 1: c0 = stage 1; 2 slots, 1 stashes, 3 instructions
       0  recv r0 l0 %0 act s0 m0             one_f_one_b.sched:14:29 steady[0]
       1  wait %0                             one_f_one_b.sched:15:29
       2  forward c0 m0 %0 -> - $0            one_f_one_b.sched:14:29 steady[0]
)");
}

TEST(Dump, AnnotatedHexOfOneRank) {
  Module m = SampleModule();
  m.programs[1].code.resize(2);
  m.programs[1].debug.resize(1);
  EXPECT_EQ(Dumped(m, {.rank = Rank{1}, .hex = true}), R"(section `rank 1`
000003f0  01 00 00 00                                      chunks: 1
000003f4  02 00 00 00                                      slots: 2
000003f8  01 00 00 00                                      stashes: 1
000003fc  02 00 00 00                                      instructions: 2
00000400  01 00 00 00                                      debug entries: 1
00000404  00 00 00 00 00 00 00 00 00 00 00 00              padding
00000410  11 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  pc 0: recv r0 l0 %0 act s0 m0
00000420  12 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  pc 1: wait %0
00000430  00 00 00 00                                      debug of pc 0: site 0
00000434  00 00 00 00                                      iteration 0
00000438  01 00 00 00                                      chunk c0: stage 1
0000043c  00 00 00 00                                      replica 0
)");
}

// The bytes that the hex dump shows, put together again.
std::vector<std::byte> BytesOf(const std::string& dump) {
  std::vector<std::byte> bytes;
  std::istringstream lines(dump);
  for (std::string line; std::getline(lines, line);) {
    constexpr size_t kOffsetWidth = 8;
    const bool field =
        line.size() > kOffsetWidth + 2 &&
        line.find_first_not_of("0123456789abcdef") == kOffsetWidth;
    if (!field) continue;
    EXPECT_EQ(std::stoul(line.substr(0, kOffsetWidth), nullptr, 16),
              bytes.size());
    std::istringstream digits(line.substr(kOffsetWidth + 2, 3 * 16));
    for (std::string pair; digits >> pair;) {
      bytes.push_back(static_cast<std::byte>(std::stoul(pair, nullptr, 16)));
    }
  }
  return bytes;
}

TEST(Dump, HexShowsEveryByteOnceAndInOrder) {
  const std::string text = Dumped(SampleModule(), {.hex = true});
  EXPECT_TRUE(text.starts_with("header and section table\n00000000  7f 50 50"));
  EXPECT_EQ(BytesOf(text), *Write(SampleModule()));
  for (const char* section : {"module", "facts", "sites", "rank 0", "rank 1"}) {
    const std::string heading = "\nsection `" + std::string(section) + "`\n";
    EXPECT_NE(text.find(heading), std::string::npos) << section;
  }
}

TEST(Dump, ARankThatIsNotThere) {
  EXPECT_EQ(Dumped(SampleModule(), {.rank = Rank{2}}),
            "no rank 2: it was compiled for 2");
  std::ostringstream out;
  EXPECT_EQ(Dump(SampleModule(), {.rank = Rank{2}, .hex = true}, out).code(),
            StatusCode::kUsage);
}

TEST(Dump, AnyModuleCanBeDumped) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_NE(Dumped(RandomModule(seed), {}), "");
    EXPECT_NE(Dumped(RandomModule(seed), {.hex = true}), "");
  }
  Module bad;
  bad.programs.resize(1);
  bad.programs[0].code = {Instr{Opcode{0x99}, {}}};
  bad.programs[0].debug = {{7, 1}, {8, 2}};
  EXPECT_NE(Dumped(bad, {}).find("<opcode 0x99>"), std::string::npos);
}

}  // namespace
}  // namespace pp::bytecode
