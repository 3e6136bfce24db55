// Rank 0's side of a run in several processes: the other ranks as members of
// its crew.
//
// Each is a connection and a thread that reads it: places, ends of steps and
// the end of the rank go into the crew as if the rank were a thread here, and
// so the leader, its watchdog and its reports see no difference.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "runtime/launch/connection.h"
#include "runtime/launch/crew.h"
#include "runtime/launch/messages.h"

namespace pp::launch {

struct Peer {
  Rank rank;
  std::string who;
  std::unique_ptr<Connection> connection;
  int64_t clock_ns = 0;  // what to add to its clock to get this one's
};

// Waits until ranks 1 .. ranks-1 have come, each with the identity of this one.
// A stranger is sent away; a rank that is missing, doubled or different ends
// the run on all that have come. Peers by rank, from 1.
Result<std::vector<Peer>> GatherPeers(Listener& listener, const Hello& mine,
                                      Deadline deadline);

// Tells all why there will be no run.
void RefuseAll(const std::vector<Peer>& peers, const Status& why);

class RemoteCrew final : public RemoteRanks {
 public:
  RemoteCrew(std::vector<Peer> peers, Crew& crew);
  ~RemoteCrew() override;  // shuts the connections, ends the threads

  void Release() override;
  void Stop(const Status& cause) override;

 private:
  void Read(Peer& peer);
  bool Take(Peer& peer, const Frame& frame);  // false: it was the last

  std::vector<Peer> peers_;
  Crew& crew_;
  std::vector<std::thread> readers_;
};

}  // namespace pp::launch
