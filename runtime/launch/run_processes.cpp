#include "runtime/launch/run_processes.h"

#include <fmt/format.h>
#include <unistd.h>

#include "runtime/base/crc32.h"
#include "runtime/bytecode/version.h"
#include "runtime/launch/library.h"
#include "runtime/launch/run_threads.h"
#include "runtime/launch/spawn.h"
#include "runtime/launch/worker.h"
#include "runtime/transport/registry.h"
#include "runtime/weights/safetensors.h"

namespace pp::launch {
namespace {

std::string Title(const bytecode::Module& module) {
  std::string title = module.facts.schedule;
  for (const auto& [name, value] : module.facts.params) {
    title += fmt::format(" {}={}", name, value);
  }
  return title;
}

Identity IdentityOf(const bytecode::Module& module,
                    std::span<const std::byte> bytecode, const Options& options,
                    std::string init) {
  const engine::EngineConfig& e = options.engine;
  Identity identity = {
      {"the program",
       fmt::format("pprun, bytecode version {}, {}", bytecode::kFormatVersion,
                   transport::kTransportAbi)},
      {"the schedule", Title(module)},
      {"the bytecode", fmt::format("{} bytes, checksum {:08x}", bytecode.size(),
                                   Crc32(bytecode))},
      {"--transport", options.transport},
      {"--steps", std::to_string(options.steps)},
      {"--verify-gradients", options.verify_gradients ? "on" : "off"},
      {"--trace", options.trace.empty() ? "off" : "on"},
      {"--profile", options.profile.empty() ? "off" : "on"},
      {"--save", options.save.empty() ? "off" : "on"},
      {"--every", std::to_string(options.every)},
      {"--init", std::move(init)},
      {"steps done before", std::to_string(options.engine.resumed.value_or(0))},
      {"--model", e.model},
      {"--device", e.device},
      {"--batch", std::to_string(e.batch)},
      {"--seed", std::to_string(e.seed)},
      {"--optimizer", e.optimizer},
      {"--lr", fmt::format("{}", e.learning_rate)},
  };
  for (const std::string& file : e.stage_files) {
    identity.emplace_back("the stage", file);
  }
  for (const auto& [name, value] : e.options) {
    identity.emplace_back("model option " + name, value);
  }
  return identity;
}

// What the weights start from, in words.
Result<std::string> InitOf(const Options& options) {
  if (options.engine.init.empty()) return std::string("from the seed");
  PP_ASSIGN_OR_RETURN(const auto file,
                      weights::File::Open(options.engine.init));
  PP_ASSIGN_OR_RETURN(const uint32_t sum, file->Checksum());
  return fmt::format("a file with checksum {:08x}", sum);
}

std::string Who() {
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  return fmt::format("{}, process {}", host, getpid());
}

// Besides the timeout: libraries of a gigabyte are loaded by all at once.
constexpr std::chrono::seconds kToLoad{10};

// One rank on its way from a world to a transport and a run.
class Member {
 public:
  Member(const World& world, const bytecode::Module& module,
         engine::EngineFactory& factory, const Options& options,
         const RunOptions& run, Hello hello)
      : world_(world),
        module_(module),
        factory_(factory),
        options_(options),
        run_(run),
        hello_(std::move(hello)),
        deadline_(std::chrono::steady_clock::now() + run.timeout + kToLoad) {}

  Result<RunResult> Lead() {
    PP_ASSIGN_OR_RETURN(Listener listener, Listen());
    PP_ASSIGN_OR_RETURN(std::vector<Peer> peers,
                        GatherPeers(listener, hello_, deadline_));
    auto end = OpenAndJoin(peers);
    if (!end) {
      RefuseAll(peers, end.error());
      return Fail(end.error());
    }
    return RunWithPeers(module_, factory_, std::move(*end), run_,
                        std::move(peers));
  }

  bool reported() const { return reported_; }

  Result<RunResult> Follow() {
    PP_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection,
                        Connect(world_.host, world_.port, deadline_));
    PP_ASSIGN_OR_RETURN(std::string place,
                        Introduce(*connection, hello_, deadline_));
    PP_ASSIGN_OR_RETURN(const auto library, Library());
    PP_ASSIGN_OR_RETURN(
        auto end,
        library->Join(MeetingAt(connection->LocalAddress(), std::move(place))));
    const WorkerResult worker = RunWorker(module_, factory_, world_.rank,
                                          std::move(end), run_, *connection);
    RunResult result;
    result.status = worker.status;
    if (!worker.place.empty()) result.positions.push_back(worker.place);
    result.abandoned = worker.abandoned;
    reported_ = worker.told;
    return result;
  }

 private:
  Result<Listener> Listen() const {
    const auto spawned = ReadSpawned();
    if (spawned && spawned->listen_socket) {
      return Listener(*spawned->listen_socket);
    }
    return Listener::On(world_.host, world_.port);
  }

  Result<std::unique_ptr<transport::ProcessTransport>> Library() const {
    return OpenTransportLibrary(
        std::string(transport::FindTransport(options_.transport)->library));
  }

  transport::Meeting MeetingAt(std::string address, std::string place) const {
    return {
        world_.rank,        module_.ranks(),  module_.lanes, world_.local_rank,
        std::move(address), std::move(place), deadline_,     &module_};
  }

  Result<std::unique_ptr<transport::Transport>> OpenAndJoin(
      const std::vector<Peer>& peers) {
    PP_ASSIGN_OR_RETURN(const auto library, Library());
    transport::Meeting meeting = MeetingAt(world_.host, "");
    PP_ASSIGN_OR_RETURN(meeting.place, library->Open(world_.host, meeting));
    for (const Peer& peer : peers) {
      PP_RETURN_IF_ERROR(
          peer.connection
              ->Send(FrameType::kWelcome, Encode(meeting.place), deadline_)
              .WithContext(
                  fmt::format("rank {} ({})", peer.rank.value, peer.who)));
    }
    return library->Join(meeting);
  }

  const World& world_;
  const bytecode::Module& module_;
  engine::EngineFactory& factory_;
  const Options& options_;
  const RunOptions& run_;
  const Hello hello_;
  const Deadline deadline_;  // for all to have come
  bool reported_ = false;
};

}  // namespace

ProcessRun RunInWorld(const World& world, const bytecode::Module& module,
                      std::span<const std::byte> bytecode,
                      engine::EngineFactory& factory, const Options& options,
                      const RunOptions& run) {
  const auto spawned = ReadSpawned();
  ProcessRun process;
  process.leads = world.rank == Rank(0);
  auto init = InitOf(options);
  if (!init) {
    process.result.status = init.error();
    return process;
  }
  Hello hello{spawned ? spawned->token : "", world.rank.value, world.ranks,
              Who(), IdentityOf(module, bytecode, options, std::move(*init))};
  Member member(world, module, factory, options, run, std::move(hello));
  auto result = process.leads ? member.Lead() : member.Follow();
  if (result) {
    process.result = std::move(*result);
    process.reported = process.leads || member.reported();
  } else {
    process.result.status = result.error();
  }
  return process;
}

}  // namespace pp::launch
