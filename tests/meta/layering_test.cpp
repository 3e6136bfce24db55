#include "tests/meta/layering.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pp::meta {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Layering TheTable() {
  return ParseLayering(ReadFile("tests/meta/layers.txt").text);
}

std::vector<std::string> In(const std::string& path, const std::string& text) {
  return Violations(TheTable(), {{path, text}});
}

TEST(Layering, TableIsReadWholeAndHasNoCycle) {
  const Layering table = TheTable();
  EXPECT_THAT(table.errors, IsEmpty());
  EXPECT_THAT(TableCycles(table), IsEmpty());
  EXPECT_GT(table.layers.size(), 20u);
}

TEST(Layering, TheRepositoryKeepsIt) {
  const auto files = ReadTree({"compiler", "runtime", "tests"}, {".h", ".cpp"});
  EXPECT_GT(files.size(), 30u);
  EXPECT_THAT(Violations(TheTable(), files), IsEmpty());
}

// ---- The test itself, on faults made for it -------------------------------

TEST(LayeringSelfTest, RuntimeMayNotKnowTheCompiler) {
  EXPECT_THAT(In("runtime/vm/vm.cpp", "#include \"compiler/ir/schedule.h\"\n"),
              ElementsAre("runtime/vm/vm.cpp:1: runtime/vm may not include "
                          "compiler/ir"));
}

TEST(LayeringSelfTest, PhaseMayNotCallBack) {
  EXPECT_THAT(In("compiler/ir/a.h", "\n  #  include \"compiler/ast/nodes.h\""),
              ElementsAre("compiler/ir/a.h:2: compiler/ir may not include "
                          "compiler/ast"));
}

TEST(LayeringSelfTest, FolderBelowBelongsToTheOneAbove) {
  EXPECT_THAT(In("runtime/transport/inproc/a.cpp",
                 "#include \"runtime/transport/transport.h\"\n"
                 "#include \"runtime/vm/vm.h\"\n"),
              ElementsAre(HasSubstr("a.cpp:2: runtime/transport may not")));
}

TEST(LayeringSelfTest, EngineDoesNotSeeTheTorchEngineBelowIt) {
  EXPECT_THAT(In("runtime/engine/a.cpp",
                 "#include \"runtime/engine/torch/engine.h\"\n"),
              ElementsAre(HasSubstr("may not include runtime/engine/torch")));
}

TEST(LayeringSelfTest, LayerDoesNotStandForTheLayersBelowIt) {
  EXPECT_THAT(In("runtime/vm/a.cpp",
                 "#include \"runtime/engine/engine.h\"\n"
                 "#include \"runtime/engine/torch/engine.h\"\n"),
              ElementsAre(HasSubstr("a.cpp:2: runtime/vm may not include")));
}

TEST(LayeringSelfTest, OneHeaderOfALayerMayBeAllowed) {
  EXPECT_THAT(In("runtime/launch/a.cpp",
                 "#include \"runtime/models/models.def\"\n"
                 "#include \"runtime/models/model.h\"\n"),
              ElementsAre(HasSubstr("a.cpp:2: runtime/launch may not")));
}

TEST(LayeringSelfTest, FolderOutsideTheTable) {
  EXPECT_THAT(In("runtime/novel/a.h", "#include \"runtime/base/ids.h\"\n"),
              ElementsAre(HasSubstr("runtime/novel is not in layers.txt")));
}

TEST(LayeringSelfTest, LibrariesStayBehindTheirBorder) {
  EXPECT_THAT(In("compiler/sema/a.cpp", "#include <antlr4-runtime.h>\n"),
              ElementsAre(HasSubstr("`antlr4-runtime.h` is seen outside")));
  EXPECT_THAT(In("runtime/vm/a.cpp", "#include <llvm/ADT/DenseMap.h>\n"),
              ElementsAre(HasSubstr("outside its border")));
  EXPECT_THAT(In("runtime/launch/a.cpp", "#include <torch/torch.h>\n"),
              ElementsAre(HasSubstr("outside its border")));
  EXPECT_THAT(In("runtime/vm/a.cpp", "#include <cuda_runtime.h>\n"),
              ElementsAre(HasSubstr("outside its border")));
  EXPECT_THAT(In("runtime/engine/torch/a.cpp", "#include <torch/torch.h>\n"),
              IsEmpty());
}

TEST(LayeringSelfTest, SourcesAreNotIncludedAndHeadersOpenNoNamespace) {
  EXPECT_THAT(In("tests/unit/a_test.cpp", "#include \"tests/b.cpp\"\n"),
              ElementsAre(HasSubstr("a .cpp is included")));
  EXPECT_THAT(In("runtime/base/a.h", "using namespace std;\n"),
              ElementsAre(HasSubstr("`using namespace` in a header")));
  EXPECT_THAT(In("runtime/base/a.cpp", "// using namespace std;\n"), IsEmpty());
}

TEST(LayeringSelfTest, CycleInTheTableIsSeen) {
  const Layering table = ParseLayering("layer a: b\nlayer b: c\nlayer c: a\n");
  EXPECT_THAT(TableCycles(table), ElementsAre("a -> b -> c -> a"));
}

TEST(LayeringSelfTest, LineThatCannotBeReadIsSaid) {
  EXPECT_THAT(ParseLayering("# note\n\nlayer a b\n").errors,
              ElementsAre("layer a b"));
}

}  // namespace
}  // namespace pp::meta
