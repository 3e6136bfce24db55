#include "runtime/launch/progress.h"

#include <gtest/gtest.h>

namespace pp::launch {
namespace {

// What a Progress writes for steps 0 .. count-1 of half a second.
std::string Written(bool terminal, uint64_t count) {
  char* text = nullptr;
  size_t size = 0;
  std::FILE* out = open_memstream(&text, &size);
  Progress progress(out, terminal, count);
  for (uint64_t step = 0; step < count; ++step) {
    StepRecord record;
    record.step = step;
    record.loss = 2;
    record.seconds = 0.5;
    progress.Show(record);
  }
  progress.End();
  std::fclose(out);
  std::string written(text, size);
  std::free(text);
  return written;
}

TEST(Progress, ALineHasStepLossTimeAndWhatIsLeft) {
  StepRecord record;
  record.step = 11;
  record.loss = 3.25;
  EXPECT_EQ(Progress::Line(record, 100, 0.75),
            "step 12/100  loss 3.250000  0.7500 s/step  1:06 left");
  record.step = 99;
  EXPECT_EQ(Progress::Line(record, 100, 0.75),
            "step 100/100  loss 3.250000  0.7500 s/step");
  record.step = 0;
  EXPECT_NE(Progress::Line(record, 10001, 0.75).find("2:05:00 left"),
            std::string::npos);
}

TEST(Progress, ATerminalLineIsRewritten) {
  EXPECT_EQ(Written(true, 2),
            "\rstep 1/2  loss 2.000000  0.5000 s/step  0:01 left"
            "\rstep 2/2  loss 2.000000  0.5000 s/step           \n");
}

TEST(Progress, ElsewhereAboutTwentyPlainLines) {
  const std::string written = Written(false, 1000);
  EXPECT_EQ(written.find('\r'), std::string::npos);
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 21);
  EXPECT_NE(written.find("step 1/1000"), std::string::npos);
  EXPECT_NE(written.find("step 1000/1000"), std::string::npos);
}

}  // namespace
}  // namespace pp::launch
