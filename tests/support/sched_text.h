// A `.sched` text taken through parse, sema and expand, with what was said on
// the way: for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/expand/expand.h"
#include "compiler/sema/sema.h"
#include "compiler/source/source_manager.h"

namespace pp::testing {

using Values = std::vector<std::pair<std::string, int64_t>>;

class SchedText {
 public:
  explicit SchedText(const std::string& text);
  struct FromPath {
    std::string path;
  };
  explicit SchedText(const FromPath& from);

  const std::vector<sema::CheckedSchedule>& schedules() const {
    return schedules_;
  }
  // The schedule of that name, which must be there.
  const sema::CheckedSchedule& Get(const std::string& name) const;
  const sema::CheckedSchedule& Only() const { return schedules_.front(); }
  bool ok() const { return !schedules_.empty(); }

  // Of the first schedule.
  expand::Expansion Expand(const Values& values, expand::Options options = {});
  // The text of the expanded schedule, or what Said() says.
  std::string Print(const Values& values, expand::Options options = {});

  // All diagnostics, one after the other in the order they were made:
  //   3:5: PP2001 unknown name `x`
  //     note 2:1: ...
  //     help: ...
  std::string Said() const;

  source::SourceManager& sources() { return sources_; }
  diag::Emitter& diag() { return diag_; }

 private:
  void Check(uint32_t file);

  source::SourceManager sources_;
  diag::Emitter diag_;
  std::vector<sema::CheckedSchedule> schedules_;
};

}  // namespace pp::testing
