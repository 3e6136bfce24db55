// Every diagnostic and every opcode appears in a test.
#include "tests/meta/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pp::meta {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string DiagId(int number) {
  const std::string digits = std::to_string(number);
  return "PP" + std::string(4 - digits.size(), '0') + digits;
}

void ExpectNone(const std::vector<std::string>& faults) {
  for (const std::string& fault : faults) ADD_FAILURE() << fault;
}

// Diagnostics that no test can provoke, and why.
const std::vector<Exemption> kDiagExemptions = {};

// As a user meets it: the whole message, with its place and its lines.
TEST(Coverage, EveryDiagnosticIsShownByAGoldenTest) {
  std::vector<Row> rows;
#define PP_DIAG(Name, number, ...) \
  rows.push_back({DiagId(number), {DiagId(number)}});
#include "compiler/diag/codes.def"
  EXPECT_GT(rows.size(), 5u);
  const auto files = ReadTree({"tests/golden"}, {".sched", ".ppasm", ".test"});
  ExpectNone(CoverageFaults(rows, kDiagExemptions, files));
}

TEST(Coverage, EveryOpcodeIsRunByATest) {
  std::vector<Row> rows;
#define PP_OP(Name, code, mnemonic, ...) \
  rows.push_back({mnemonic, {mnemonic, "k" #Name, "op::" #Name}});
#include "runtime/bytecode/opcodes.def"
  const auto files = ReadTree(
      {"tests/golden", "tests/unit/vm", "tests/unit/launch", "tests/support"},
      {".ppasm", ".cpp", ".h", ".test"});
  ExpectNone(CoverageFaults(rows, {}, files));
}

// ---- The test itself, on faults made for it -------------------------------

TEST(CoverageSelfTest, RowWithoutATest) {
  EXPECT_THAT(CoverageFaults({{"PP1", {"PP1"}}, {"PP2", {"PP2", "kTwo"}}}, {},
                             {{"a", "PP11 error PP1x"}, {"b", "Code::kTwo"}}),
              ElementsAre("PP1: no test shows it"));
}

TEST(CoverageSelfTest, ExemptionStandsOnlyWhileThereIsNoTest) {
  const std::vector<Exemption> exempt = {{"PP1", "needs a full disk"}};
  EXPECT_THAT(CoverageFaults({{"PP1", {"PP1"}}}, exempt, {}), IsEmpty());
  EXPECT_THAT(
      CoverageFaults({{"PP1", {"PP1"}}}, exempt, {{"a.sched", "[PP1]"}}),
      ElementsAre("PP1: exempted (needs a full disk), but a.sched shows it"));
}

TEST(CoverageSelfTest, ExemptionOfNothing) {
  EXPECT_THAT(CoverageFaults({}, {{"PP9", "gone"}}, {}),
              ElementsAre("PP9: exempted, but there is no such row"));
}

}  // namespace
}  // namespace pp::meta
