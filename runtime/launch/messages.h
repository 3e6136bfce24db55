// What ranks tell each other through the launcher's connections, as CBOR
// (RFC 8949). Whatever does not read as the message it should be is an error,
// never a crash: the bytes come from outside.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/launch/connection.h"
#include "runtime/launch/crew.h"
#include "runtime/launch/hang.h"
#include "runtime/trace/event.h"

namespace pp::launch {

// Facts that have to be the same on every rank, in words: {"schedule",
// "gpipe P=4 M=8"}, {"bytecode", "a checksum"}, {"--seed", "1"}.
using Identity = std::vector<std::pair<std::string, std::string>>;

struct Hello {
  std::string token;  // shared secret of the processes of one --nproc; or empty
  uint32_t rank = 0;
  uint32_t ranks = 0;
  std::string who;  // "host, process 123"
  Identity identity;
};

struct Ending {
  Status status;
  RankPlace place;
  trace::RankTrace trace;
};

Bytes Encode(const Hello& hello);
Bytes Encode(const RankPlace& place);
Bytes Encode(const RankStep& step);
Bytes Encode(const Ending& ending);
Bytes Encode(const Status& status);
Bytes Encode(int64_t number);
Bytes Encode(const std::string& text);

// kRankFailed: the bytes are no such message.
Result<Hello> DecodeHello(const Bytes& bytes);
Result<RankPlace> DecodePlace(const Bytes& bytes);
Result<RankStep> DecodeStep(const Bytes& bytes);
Result<Ending> DecodeEnding(const Bytes& bytes);
Result<int64_t> DecodeNumber(const Bytes& bytes);
Result<std::string> DecodeText(const Bytes& bytes);
// The status that the other side sent, or kRankFailed that it is none.
Status DecodeStatus(const Bytes& bytes);

}  // namespace pp::launch
