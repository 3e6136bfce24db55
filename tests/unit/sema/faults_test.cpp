// Each diagnostic of sema: the place, the words and the hint.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/sched_text.h"

namespace pp {
namespace {

using testing::SchedText;

struct Case {
  const char* name;
  const char* text;
  const char* said;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class SemaFault : public ::testing::TestWithParam<Case> {};

TEST_P(SemaFault, IsSaid) {
  SchedText sched{std::string(GetParam().text)};
  EXPECT_EQ(sched.Said(), GetParam().said);
}

const Case kCases[] = {
    {"UnknownName",
     "schedule s(P, M) { place linear rank r {\n"
     "  let warmup = 1\n"
     "  repeat warmpu { F }\n"
     "} }",
     "3:10: PP2001 unknown name `warmpu`\n"
     "  help: did you mean `warmup`?\n"
     "2:7: PP2019 `let` `warmup` is not used\n"},
    {"UnknownNameSeenElsewhere",
     "schedule s(P, M) { place linear\n"
     "rank r { let warmup = r repeat warmup { F } }\n"
     "expect live(r) == warmup }",
     "3:19: PP2001 unknown name `warmup`\n"
     "  note 2:14: this `warmup` is seen in its own block only\n"},
    {"UnknownFunction",
     "schedule s(P, M) { place linear rank r { repeat mim(P, M) { F } } }",
     "1:49: PP2001 unknown function `mim`\n"
     "  help: did you mean `min`?\n"},
    {"UnknownMacro",
     "macro pair(c) { F[c] B[c] }\n"
     "schedule s(P, M) { place linear rank r { pair(0) piar(0) } }",
     "2:50: PP2001 unknown macro `piar`\n"
     "  help: did you mean `pair`?\n"},
    {"UnknownParent",
     "schedule gpipe(P, M) { place linear rank r { F } }\n"
     "schedule s(P, M) extends gpip { }",
     "2:26: PP2001 no schedule `gpip` to extend, here or in an import\n"
     "  help: did you mean `gpipe`?\n"},
    {"FunctionWithoutCall",
     "schedule s(P, M) { place linear rank r { repeat min { F } } }",
     "1:49: PP2001 unknown name `min`\n"
     "  help: `min` is a function: `min(...)`\n"},
    {"IndependentErrors",
     "schedule s(P, M) { place linear rank r {\n"
     "  repeat a { F }\n"
     "  repeat b + a { B }\n"
     "} }",
     "2:10: PP2001 unknown name `a`\n"
     "3:10: PP2001 unknown name `b`\n"
     "3:14: PP2001 unknown name `a`\n"},
    {"DuplicateLet",
     "schedule s(P, M) { place linear rank r {\n"
     "  let a = 1\n  let a = 2\n  repeat a { F }\n} }",
     "3:7: PP2002 `a` is declared already, and no name may hide another\n"
     "  note 2:7: the `let` is declared here\n"},
    {"DuplicateSchedule",
     "schedule s(P, M) { place linear rank r { F } }\n"
     "schedule s(P, M) { place linear rank r { F } }",
     "2:10: PP2002 schedule `s` is declared twice\n"
     "  note 1:10: it is declared here first\n"},
    {"DuplicateParameter", "schedule s(P, M, P) { place linear rank r { F } }",
     "1:18: PP2002 parameter `P` is declared twice\n"
     "  note 1:12: it is declared here first\n"},
    {"DuplicatePhase",
     "schedule s(P, M) { place linear rank r {\n"
     "  phase a { F }\n  phase a { B }\n} }",
     "3:9: PP2002 phase `a` is there twice in one block\n"
     "  note 2:9: the first is here\n"},
    {"DuplicateWalk",
     "schedule s(P, M) { place vee\n"
     "  walk B by (m, c)\n  walk I by (c, m)\n  rank r { I } }",
     "3:3: PP2002 a second walk for the same operations (`B` and `I` share "
     "one)\n"
     "  note 2:3: the first is here\n"},
    {"WalkVariableTaken",
     "schedule s(P, M, c = 1) { place vee\n"
     "  walk F by (m, c)\n  rank r { F } }",
     "1:18: PP2002 `c` is the chunk in a walk: this parameter needs another "
     "name\n"
     "  note 2:3: because of this line\n"},
    {"LoopVariableHides",
     "schedule s(P, M) { place linear rank r { for r in 0..M { F } } }",
     "1:46: PP2002 `r` is declared already, and no name may hide another\n"
     "  note 1:38: the rank variable is declared here\n"},
    {"ReservedMetricName",
     "schedule s(P, M, bubble = 1) { place linear rank r { F } }",
     "1:18: PP2002 `bubble` is what an `expect` is about and cannot be the "
     "name of a parameter\n"
     "1:18: PP2019 parameter `bubble` is not used\n"},
    {"Arity",
     "schedule s(P, M) { place linear rank r { repeat abs(P, M) { F } } }",
     "1:49: PP2003 `abs` takes 1 argument, 2 given\n"},
    {"MinArity",
     "schedule s(P, M) { place linear rank r { repeat min(P) { F } } }",
     "1:49: PP2003 `min` takes 2 to 32 arguments, 1 given\n"},
    {"MacroArity",
     "macro pair(c) { F[c] B[c] }\n"
     "schedule s(P, M) { place linear rank r { pair(0, 1) } }",
     "2:42: PP2003 macro `pair` takes 1 argument, 2 given\n"
     "  note 1:7: it is declared here\n"},
    {"CostInRank",
     "schedule s(P, M) { place linear rank r { repeat t(F) { F } } }",
     "1:49: PP2004 `t(...)` is known only after simulation: it can stand in "
     "an `expect`, not here\n"
     "  help: costs and times never change the order of a rank's program\n"},
    {"BubbleInRequire",
     "schedule s(P, M) { require bubble == 0 place linear rank r { F } }",
     "1:28: PP2004 `bubble` is known only after simulation: it can stand in "
     "an `expect`, not here\n"
     "  help: costs and times never change the order of a rank's program\n"},
    {"NoM", "schedule s(P) { place linear rank r { F } }",
     "1:10: PP2005 schedule `s` does not list the parameter `M`, the number "
     "of micro-batches\n"
     "  help: `schedule s(P, M)`\n"},
    {"MacroRecursion",
     "macro a() { b() }\n"
     "macro b() { a() }\n"
     "schedule s(P, M) { place linear rank r { a() } }",
     "2:13: PP2006 a macro that calls itself never ends: a calls b calls a\n"
     "  note 1:7: `a` is declared here\n"
     "  note 1:13: `b` is called here\n"},
    {"ExtendsCycle",
     "schedule a(P, M) extends b { }\n"
     "schedule b(P, M) extends a { }",
     "2:26: PP2008 schedules extend each other in a circle: a extends b "
     "extends a\n"
     "  note 1:26: `a` extends `b` here\n"
     "1:26: PP2008 schedules extend each other in a circle: b extends a "
     "extends b\n"
     "  note 2:26: `b` extends `a` here\n"},
    {"LetReplacesNothing",
     "schedule a(P, M) { place linear rank r {\n"
     "  let warmup = 1 repeat warmup { F } } }\n"
     "schedule b(P, M) extends a { let warmpu = 2 }",
     "3:34: PP2009 `let warmpu` replaces nothing of `a` and nothing uses it\n"
     "  help: did you mean `warmup`?\n"},
    {"PhaseReplacesNothing",
     "schedule a(P, M) { place linear rank r { phase steady { F } } }\n"
     "schedule b(P, M) extends a { phase stedy { B } }",
     "2:36: PP2009 phase `stedy` replaces nothing: `a` has no phase of that "
     "name\n"
     "  help: did you mean `steady`?\n"},
    {"PhaseOutsideRank",
     "schedule a(P, M) { place linear phase p { F } rank r { B } }",
     "1:39: PP2009 phase `p` stands outside a rank block and replaces "
     "nothing\n"
     "  help: put it in a rank block: `rank r { phase ... }`\n"},
    {"NoPlace", "schedule s(P, M) { rank r { F } }",
     "1:10: PP2010 schedule `s` does not say where its stages live\n"
     "  help: add `place linear`, or `loop(v)`, `vee`, `wave(k)`, "
     "`custom { ... }`\n"},
    {"TwoPlaces", "schedule s(P, M) { place linear place vee rank r { F } }",
     "1:33: PP2010 a schedule has one `place`, this is another\n"
     "  note 1:20: the first is here\n"},
    {"NoRank", "schedule s(P, M) { place linear }",
     "1:10: PP2011 schedule `s` has no rank block\n"
     "  help: `rank r { ... }` is the program of every rank\n"},
    {"NoSchedule", "macro a() { F }",
     "1:7: PP2019 macro `a` is not used\n"
     "1:1: PP2012 this file declares no schedule\n"},
    {"LetCycle",
     "schedule s(P, M) { place linear\n"
     "  let a = b + 1\n  let b = a\n  rank r { repeat a { F } } }",
     "3:11: PP2013 `a` is needed to work out `a`\n"
     "  note 2:7: while working out `a`\n"
     "  note 3:7: while working out `b`\n"},
    {"TimePlusNumber",
     "schedule s(P, M) { place linear rank r { F }\n"
     "  expect bubble == P + t(F) }",
     "2:20: PP2014 a time and a plain number do not add up\n"
     "  help: time + time, number * time and time / number are times; the "
     "rest is for numbers\n"},
    {"TimeAsCount",
     "schedule s(P, M) { place linear rank r { F }\n"
     "  expect live(makespan) == 1 }",
     "2:15: PP2014 a plain number is wanted here, this is a time\n"},
    {"CostOfNoOperation",
     "schedule s(P, M) { place linear rank r { F } expect bubble == t(P) }",
     "1:65: PP2016 `t` takes an operation\n"
     "  help: one of `t(F)`, `t(B)`, `t(I)`, `t(W)`, `t(F & B)`\n"},
    {"OperationAsValue",
     "schedule s(P, M) { place linear rank r { F } expect bubble == "
     "t(min(P, 1)) }",
     "1:65: PP2016 `t` takes an operation\n"
     "  help: one of `t(F)`, `t(B)`, `t(I)`, `t(W)`, `t(F & B)`\n"},
    {"WalkOfW", "schedule s(P, M) { place vee walk W by (m) rank r { F } }",
     "1:35: PP2017 `W` has no walk: it takes the oldest `I` that still owes "
     "one\n"
     "  help: `W[c]` takes the oldest of chunk c\n"},
    {"Unused",
     "macro m() { F }\n"
     "schedule s(P, M, v = 1) { place linear let a = 1 let _b = 2\n"
     "  rank r { let c = 2 F } }",
     "3:16: PP2019 `let` `c` is not used\n"
     "2:44: PP2019 `let` `a` is not used\n"
     "2:18: PP2019 parameter `v` is not used\n"
     "1:7: PP2019 macro `m` is not used\n"},
    {"MacroSeesNoSchedule",
     "macro m() { repeat M { F } }\n"
     "schedule s(P, M) { place linear rank r { m() } }",
     "1:20: PP2001 unknown name `M`\n"},
};

INSTANTIATE_TEST_SUITE_P(All, SemaFault, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(Sema, DeepNestingIsRefusedWithoutACrash) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += fmt::format("macro m{}() {{ m{}() }}\n", i, i + 1);
  }
  text += "macro m200() { F }\n";
  text += "schedule s(P, M) { place linear rank r { m0() } }";
  SchedText sched(text);
  EXPECT_NE(sched.Said().find("PP2018 macros call each other more than 100"),
            std::string::npos)
      << sched.Said();
}

}  // namespace
}  // namespace pp
