// Imports: found beside the importing file, read once, never in a circle.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/sched_text.h"

namespace pp {
namespace {

namespace fs = std::filesystem;
using testing::SchedText;

class Import : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string test =
        ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(::testing::TempDir()) / ("pp_import_" + test);
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "lib");
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  // What was said, with the folder's name cut out.
  std::string Said(const SchedText& sched) const {
    std::string text = sched.Said(), folder = folder_.string() + "/";
    for (size_t at; (at = text.find(folder)) != std::string::npos;) {
      text.erase(at, folder.size());
    }
    return text;
  }

  fs::path folder_;
};

constexpr char kBase[] =
    "macro pair() { F B }\n"
    "schedule base(P, M) { place linear rank r { repeat M { pair() } } }\n";

TEST_F(Import, BringsSchedulesAndMacrosOfFilesBesideTheImporter) {
  Write("lib/base.sched", kBase);
  Write("lib/all.sched", "import \"base.sched\"\n");
  std::string main = Write("main.sched",
                           "import \"lib/all.sched\"\n"
                           "import \"./lib/../lib/base.sched\"\n"
                           "schedule s(P, M) extends base { }\n"
                           "schedule t(P, M) { place linear\n"
                           "  rank r { repeat M { pair() } } }\n");
  SchedText sched(SchedText::FromPath{main});
  ASSERT_EQ(sched.schedules().size(), 2u) << sched.Said();
  EXPECT_EQ(sched.Print({{"P", 1}, {"M", 1}}), "r0: F@0 B@0\n");
  EXPECT_EQ(sched.diag().all().size(), 0u) << sched.Said();
}

TEST_F(Import, InACircleShowsTheCircle) {
  Write("a.sched", "import \"b.sched\"\n");
  Write("b.sched", "\nimport \"a.sched\"\n");
  std::string main = Write("main.sched", "import \"a.sched\"\n");
  SchedText sched(SchedText::FromPath{main});
  EXPECT_EQ(Said(sched),
            "2:1: PP2007 imports go round in a circle: a.sched imports "
            "b.sched imports a.sched\n"
            "  note 1:1: b.sched is imported here\n");
}

TEST_F(Import, OfItselfIsACircle) {
  std::string main = Write("main.sched", "import \"main.sched\"\n");
  SchedText sched(SchedText::FromPath{main});
  EXPECT_EQ(Said(sched),
            "1:1: PP2007 imports go round in a circle: main.sched imports "
            "main.sched\n");
}

TEST_F(Import, OfNothingIsSaidAtTheImport) {
  std::string main = Write("main.sched",
                           "import \"nowhere.sched\"\n"
                           "schedule s(P, M) extends gone { }\n");
  SchedText sched(SchedText::FromPath{main});
  std::string said = Said(sched);
  EXPECT_EQ(said.rfind("1:1: PP0001 ", 0), 0u) << said;
  EXPECT_NE(said.find("nowhere.sched"), std::string::npos) << said;
  EXPECT_EQ(sched.diag().all().size(), 1u) << said;  // and no cascade
}

TEST_F(Import, OfAFileWithErrorsShowsThoseAlone) {
  Write("bad.sched", "schedule {\n");
  std::string main = Write("main.sched",
                           "import \"bad.sched\"\n"
                           "import \"bad.sched\"\n"
                           "schedule s(P, M) extends gone { }\n");
  SchedText sched(SchedText::FromPath{main});
  ASSERT_GT(sched.diag().all().size(), 0u);
  for (const auto& said : sched.diag().all()) {
    EXPECT_EQ(said.code, diag::Code::kUnexpectedToken) << sched.Said();
  }
}

TEST_F(Import, BringingASecondOfTheNameIsAnError) {
  Write("one.sched", kBase);
  Write("two.sched", "macro pair() { F I W }\n");
  std::string main = Write("main.sched",
                           "import \"one.sched\"\n"
                           "import \"two.sched\"\n"
                           "schedule s(P, M) extends base { }\n");
  SchedText sched(SchedText::FromPath{main});
  EXPECT_EQ(Said(sched),
            "2:1: PP2002 this import brings a second macro `pair`\n"
            "  note 1:7: one is declared here\n"
            "  note 1:7: the imported one is declared here\n");
}

TEST_F(Import, InheritedLinesSeeTheMacrosOfTheirOwnFile) {
  Write("base.sched", kBase);
  std::string main = Write("main.sched",
                           "import \"base.sched\"\n"
                           "schedule s(P, M) extends base { }\n");
  SchedText sched(SchedText::FromPath{main});
  EXPECT_EQ(sched.Print({{"P", 1}, {"M", 2}}), "r0: F@0 B@0 F@1 B@1\n");
}

}  // namespace
}  // namespace pp
