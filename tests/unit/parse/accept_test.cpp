// What the language accepts, and the tree that comes of it.
#include "tests/unit/parse/parse_fixture.h"

namespace pp::parse {
namespace {

constexpr char kInterleaved[] = R"(
// Interleaved 1F1B
schedule interleaved(P, M, v = 2) {
  require M % P == 0, "rounds of \"P\" micro-batches"
  place loop(v)                             // as chunk s / P
  walk F by (m / P,  c, m % P)
  walk B by (m / P, -c, m % P)
  rank r {
    let warmup = min(2*(P-1-r) + (v-1)*P, M*v)
    phase warmup { repeat warmup     { F } }
    phase steady { repeat M*v-warmup { F B } }
    phase drain  { repeat warmup     { B } }
  }
}
/* A variation: only what differs is written. */
schedule other(P, M) extends interleaved {
  let warmup = 3
  phase drain { repeat P-1-r { I W }  repeat r { W } }
  expect bubble  == (P-1) * (t(F) + t(B))  when M >= P
  expect live(r) == min(P-r, M)
}
)";

constexpr char kInterleavedTree[] = R"(schedule interleaved(P, M, v = 2) {
  require ((M % P) == 0), "rounds of \"P\" micro-batches"
  place loop(v)
  walk F by ((m / P), c, (m % P))
  walk B by ((m / P), (-c), (m % P))
  rank r {
    let warmup = min(((2 * ((P - 1) - r)) + ((v - 1) * P)), (M * v))
    phase warmup {
      repeat warmup {
        F
      }
    }
    phase steady {
      repeat ((M * v) - warmup) {
        F
        B
      }
    }
    phase drain {
      repeat warmup {
        B
      }
    }
  }
}
schedule other(P, M) extends interleaved {
  let warmup = 3
  phase drain {
    repeat ((P - 1) - r) {
      I
      W
    }
    repeat r {
      W
    }
  }
  expect (bubble == ((P - 1) * (t(F) + t(B)))) when (M >= P)
  expect (live(r) == min((P - r), M))
}
)";

TEST_F(ParseTest, WholeSchedules) {
  EXPECT_EQ(Tree(kInterleaved), kInterleavedTree);
}

TEST_F(ParseTest, PrintedTreesParseToThemselves) {
  EXPECT_EQ(Tree(kInterleavedTree), kInterleavedTree);
}

TEST_F(ParseTest, EveryPlacement) {
  const std::string text =
      "schedule a(P, M) {\n"
      "  place linear\n"
      "  place vee\n"
      "  place loop((2 * v))\n"
      "  place custom {\n"
      "    stage s in 0..P -> rank s\n"
      "    stage s in P..(2 * P) -> rank (((2 * P) - 1) - s), chunk 1\n"
      "    stage (7) -> rank 0, chunk (s + 1)\n"
      "  }\n"
      "}\n";
  EXPECT_EQ(Tree(text), text);
}

TEST_F(ParseTest, RankForms) {
  const std::string text =
      "schedule a(P, M) {\n"
      "  rank r {\n  }\n"
      "  rank (0) {\n    F\n  }\n"
      "  rank r in 1..(P - 1) {\n    F\n  }\n"
      "  rank ((P - 1)) {\n    F\n  }\n"
      "  rank (last) {\n    F\n  }\n"
      "}\n";
  EXPECT_EQ(Tree(text), text);
  EXPECT_NE(Tree("schedule a(P, M) { rank 0 { F } }").find("rank (0) {"),
            std::string::npos);
}

TEST_F(ParseTest, MacrosImportsAndLooseSemicolons) {
  EXPECT_EQ(Tree("import \"base.sched\"; import \"d\\\\e\"\n"
                 "macro pair(a, b) { F[a]; B[b] };\n"
                 "schedule s(P) { macro none() {} ; rank r { pair(0, r+1) } }"),
            "import \"base.sched\"\nimport \"d\\\\e\"\n"
            "macro pair(a, b) {\n  F[a]\n  B[b]\n}\n"
            "schedule s(P) {\n  macro none() {\n  }\n"
            "  rank r {\n    pair(0, (r + 1))\n  }\n}\n");
}

TEST_F(ParseTest, OperationsTakeChunkAndMicroBatch) {
  EXPECT_EQ(Statements("F F[0] F@m F[c]@m+1 B [1] I @ (2) W"),
            "F\nF[0]\nF@m\nF[c]@(m + 1)\nB[1]\nI@2\nW\n");
}

TEST_F(ParseTest, StatementsNeedNoSeparator) {
  EXPECT_EQ(Statements("let x = a F foo(1) let y = x bar() F@y foo(2)"),
            "let x = a\nF\nfoo(1)\nlet y = x\nbar()\nF@y\nfoo(2)\n");
}

TEST_F(ParseTest, IfElseChains) {
  EXPECT_EQ(Statements("if a { F } else if b { B } else { W }"),
            "if a {\n  F\n}\nelse {\n  if b {\n    B\n  }\n"
            "  else {\n    W\n  }\n}\n");
}

TEST_F(ParseTest, Loops) {
  EXPECT_EQ(Statements("for i in 0..2*P { repeat i { F } }"),
            "for i in 0..(2 * P) {\n  repeat i {\n    F\n  }\n}\n");
}

TEST_F(ParseTest, HowTightlyOperatorsBind) {
  EXPECT_EQ(Expression("a + b * c - d"), "((a + (b * c)) - d)");
  EXPECT_EQ(Expression("-a / b"), "((-a) / b)");
  EXPECT_EQ(Expression("!a && b || c"), "(((!a) && b) || c)");
  EXPECT_EQ(Expression("- - a"), "(-(-a))");
}

TEST_F(ParseTest, ConditionalsGroupToTheRight) {
  EXPECT_EQ(Expression("a > b ? 1 : c ? 2 : 3"), "((a > b) ? 1 : (c ? 2 : 3))");
}

TEST_F(ParseTest, CallsTakeExpressionsAndOperations) {
  EXPECT_EQ(Expression("t(F) + max(a, b+1, -c) + live(r) + f()"),
            "(((t(F) + max(a, (b + 1), (-c))) + live(r)) + f())");
}

TEST_F(ParseTest, ParenthesesJoinComparisons) {
  EXPECT_EQ(Expression("(a < b) == (c < d)"), "((a < b) == (c < d))");
}

TEST_F(ParseTest, PlacementWordsAreNamesElsewhere) {
  EXPECT_EQ(Expression("stage + chunk * loop - linear"),
            "((stage + (chunk * loop)) - linear)");
}

TEST_F(ParseTest, TheLargestInteger) {
  EXPECT_EQ(Expression("9223372036854775807 + 007"),
            "(9223372036854775807 + 7)");
}

TEST_F(ParseTest, EmptyTexts) {
  for (const char* text :
       {"", " ", "\n\n", "// only\n", "/* only */", "\xEF\xBB\xBF", ";;"}) {
    EXPECT_EQ(Tree(text), "") << text;
    EXPECT_FALSE(diag_.has_errors()) << text;
  }
}

TEST_F(ParseTest, LineEndsAndTabsAreSpace) {
  EXPECT_EQ(Tree("\xEF\xBB\xBFschedule s(P)\r\n{\r\n\tplace\tlinear\r}\r\n"),
            "schedule s(P) {\n  place linear\n}\n");
}

TEST_F(ParseTest, CommentsAndTextsHoldAnyCharacter) {
  EXPECT_EQ(Tree("/* \xE2\x89\xA5 * / ** */ schedule s(P) { // \xC3\xA9 /*\n"
                 "require P, \"\xE2\x89\xA5 // /*\" }"),
            "schedule s(P) {\n  require P, \"\xE2\x89\xA5 // /*\"\n}\n");
}

TEST_F(ParseTest, SpansAreByteRanges) {
  const std::string text = "/* \xC3\xA9 */ schedule s(P) { let x = (a+bb) }";
  const auto file = ParseText(text);
  ASSERT_TRUE(file.has_value()) << Shown();
  const ast::ScheduleDecl& schedule = file->schedules.at(0);
  EXPECT_EQ(sources_.Text(schedule.span), "schedule s(P)");
  EXPECT_EQ(sources_.Text(schedule.params.at(0).name.span), "P");
  const ast::Item& item = schedule.items.at(0);
  EXPECT_EQ(sources_.Text(item.span), "let x = (a+bb)");
  const auto& value = *std::get<ast::LetStmt>(item.node).value;
  EXPECT_EQ(sources_.Text(value.span), "(a+bb)");
  const auto& sum = std::get<ast::BinaryExpr>(value.node);
  EXPECT_EQ(sources_.Text(sum.op_span), "+");
  EXPECT_EQ(sources_.Text(sum.right->span), "bb");
  EXPECT_EQ(file->file, file_);
}

}  // namespace
}  // namespace pp::parse
