#include "runtime/launch/messages.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

namespace pp::launch {
namespace {

using Json = nlohmann::json;

template <class T>
Json Raw(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const uint8_t*>(values.data());
  return Json::binary({begin, begin + values.size() * sizeof(T)});
}

template <class T>
std::vector<T> FromRaw(const Json& json) {
  const auto& bytes = json.get_binary();
  if (bytes.size() % sizeof(T) != 0) throw std::runtime_error("a torn list");
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// Events as rows of numbers, so that no padding travels.
Json TraceJson(const trace::RankTrace& trace) {
  std::vector<int64_t> numbers;
  numbers.reserve(trace.size() * 6);
  for (const trace::Event& e : trace) {
    numbers.insert(numbers.end(), {static_cast<int64_t>(e.kind), e.step, e.pc,
                                   e.lane, e.begin_ns, e.end_ns});
  }
  return Raw(numbers);
}

trace::RankTrace TraceOf(const Json& json) {
  const std::vector<int64_t> numbers = FromRaw<int64_t>(json);
  if (numbers.size() % 6 != 0) throw std::runtime_error("a torn trace");
  trace::RankTrace trace;
  for (size_t i = 0; i < numbers.size(); i += 6) {
    if (numbers[i] < 0 ||
        numbers[i] > static_cast<int64_t>(trace::EventKind::kMeta)) {
      throw std::runtime_error("an unknown event");
    }
    trace.push_back({static_cast<trace::EventKind>(numbers[i]),
                     static_cast<uint32_t>(numbers[i + 1]),
                     static_cast<uint32_t>(numbers[i + 2]),
                     static_cast<uint32_t>(numbers[i + 3]), numbers[i + 4],
                     numbers[i + 5]});
  }
  return trace;
}

Json PlaceJson(const RankPlace& place) {
  return {static_cast<int>(place.state), place.step, place.pc, place.seconds};
}

RankPlace PlaceOf(const Json& json) {
  const int state = json.at(0).get<int>();
  if (state < 0 || state > static_cast<int>(RankState::kEnded)) {
    throw std::runtime_error("an unknown state");
  }
  return {static_cast<RankState>(state), json.at(1).get<uint64_t>(),
          json.at(2).get<uint32_t>(), json.at(3).get<double>()};
}

Json StatusJson(const Status& status) {
  return {static_cast<int>(status.code()), status.message()};
}

Status StatusOf(const Json& json) {
  const int code = json.at(0).get<int>();
  if (code < 0 || code > static_cast<int>(StatusCode::kAborted)) {
    throw std::runtime_error("an unknown status");
  }
  return {static_cast<StatusCode>(code), json.at(1).get<std::string>()};
}

// f(the message), its exceptions as a Status.
template <class F>
auto Decode(const Bytes& bytes, F&& f) -> Result<decltype(f(Json()))> {
  try {
    return f(Json::from_cbor(bytes));
  } catch (const std::exception& error) {
    return Fail(RankError(
        fmt::format("a message that cannot be read: {}", error.what())));
  }
}

}  // namespace

Bytes Encode(const Hello& hello) {
  return Json::to_cbor(Json{{"token", hello.token},
                            {"rank", hello.rank},
                            {"ranks", hello.ranks},
                            {"who", hello.who},
                            {"identity", hello.identity}});
}

Result<Hello> DecodeHello(const Bytes& bytes) {
  return Decode(bytes, [](const Json& json) {
    return Hello{
        json.at("token").get<std::string>(), json.at("rank").get<uint32_t>(),
        json.at("ranks").get<uint32_t>(), json.at("who").get<std::string>(),
        json.at("identity").get<Identity>()};
  });
}

Bytes Encode(const RankPlace& place) { return Json::to_cbor(PlaceJson(place)); }

Result<RankPlace> DecodePlace(const Bytes& bytes) {
  return Decode(bytes, [](const Json& json) { return PlaceOf(json); });
}

Bytes Encode(const RankStep& step) {
  Json losses = Json::array();
  for (const auto& [mb, loss] : step.losses) losses.push_back({mb.value, loss});
  Json gradients = Json::array();
  for (const auto& [name, values] : step.gradients) {
    gradients.push_back({name, Raw(values)});
  }
  Json weights = Json::array();
  for (const NamedWeight& weight : step.weights) {
    weights.push_back({weight.name, weight.shape, Raw(weight.values)});
  }
  const engine::MemoryReport& m = step.memory;
  return Json::to_cbor(Json{{"vm",
                             {step.vm.begin_ns, step.vm.end_ns, step.vm.busy_ns,
                              step.vm.instructions, step.vm.peak_activations}},
                            {"span", {step.begin_ns, step.end_ns}},
                            {"losses", losses},
                            {"units", step.loss_units},
                            {"memory",
                             {m.weights, m.gradients, m.optimizer,
                              m.peak_measured, m.peak_predicted}},
                            {"gradients", gradients},
                            {"weights", weights}});
}

Result<RankStep> DecodeStep(const Bytes& bytes) {
  return Decode(bytes, [](const Json& json) {
    RankStep step;
    const Json& vm = json.at("vm");
    step.vm = {vm.at(0), vm.at(1), vm.at(2), vm.at(3), vm.at(4)};
    step.begin_ns = json.at("span").at(0);
    step.end_ns = json.at("span").at(1);
    for (const Json& loss : json.at("losses")) {
      step.losses.emplace_back(MicroBatch(loss.at(0).get<uint32_t>()),
                               loss.at(1).get<double>());
    }
    step.loss_units = json.at("units");
    const Json& m = json.at("memory");
    step.memory = {m.at(0), m.at(1), m.at(2), m.at(3), m.at(4)};
    for (const Json& gradient : json.at("gradients")) {
      step.gradients.emplace_back(gradient.at(0).get<std::string>(),
                                  FromRaw<float>(gradient.at(1)));
    }
    for (const Json& weight : json.at("weights")) {
      step.weights.push_back({weight.at(0).get<std::string>(),
                              weight.at(1).get<std::vector<int64_t>>(),
                              FromRaw<float>(weight.at(2))});
    }
    return step;
  });
}

Bytes Encode(const Ending& ending) {
  return Json::to_cbor(Json{{"status", StatusJson(ending.status)},
                            {"place", PlaceJson(ending.place)},
                            {"trace", TraceJson(ending.trace)}});
}

Result<Ending> DecodeEnding(const Bytes& bytes) {
  return Decode(bytes, [](const Json& json) {
    return Ending{StatusOf(json.at("status")), PlaceOf(json.at("place")),
                  TraceOf(json.at("trace"))};
  });
}

Bytes Encode(const Status& status) { return Json::to_cbor(StatusJson(status)); }

Status DecodeStatus(const Bytes& bytes) {
  auto status = Decode(bytes, [](const Json& json) { return StatusOf(json); });
  return status ? *status : status.error();
}

Bytes Encode(int64_t number) { return Json::to_cbor(Json(number)); }

Result<int64_t> DecodeNumber(const Bytes& bytes) {
  return Decode(bytes, [](const Json& json) { return json.get<int64_t>(); });
}

Bytes Encode(const std::string& text) { return Json::to_cbor(Json(text)); }

Result<std::string> DecodeText(const Bytes& bytes) {
  return Decode(bytes,
                [](const Json& json) { return json.get<std::string>(); });
}

}  // namespace pp::launch
