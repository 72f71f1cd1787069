#include "vgpu/machine/device_calls.hpp"

#include <bit>
#include <cstring>
#include <vector>

namespace warpcheck::vgpu {
namespace {

constexpr std::uint64_t kOutOfMemory = 2;  // cudaErrorMemoryAllocation

}  // namespace

DeviceAnswer DeviceCalls::answer(const RunningFragment& run, const DeviceCall& call,
                                 unsigned lane) {
  switch (call.function) {
    case DeviceFunction::__cudaCDP2Malloc: {
      const std::uint64_t address = heap_.allocate(run, lane, call.arguments[1]);
      return {.result = address == 0 ? kOutOfMemory : 0, .stored = address};
    }
    case DeviceFunction::__cudaCDP2Free: heap_.free(run, lane, call.arguments[0]); return {};
    default: break;
  }
  if (launch_.request().device_runtime == nullptr) {
    throw Refusal(std::string(launch_.program().kernel) + ": nobody answers the device runtime");
  }
  return launch_.request().device_runtime->answer(call);
}

void DeviceCalls::call(RunningFragment& run, const Instr& instr, std::uint32_t active) {
  const DeviceCallInstr& asked = launch_.program().device_calls[instr.device_call];
  const auto bytes_at = [&](const Ref& ref, unsigned lane) {
    const std::size_t bytes = ref.bank == Bank::wide ? 8 : 4;
    return row_of(run.banks, ref) + lane * bytes;
  };
  const auto put = [&](const Ref& ref, unsigned lane, std::uint64_t value) {
    if (ref.bank == Bank::none) return;
    std::memcpy(bytes_at(ref, lane), &value, ref.bank == Bank::wide ? 8 : 4);
  };
  if (run.warp.undefined.any()) [[unlikely]] {
    for (const Ref& argument : asked.arguments) {
      launch_.use_of_undefined(run, UndefinedUse::Kind::address, argument, active);
    }
    for (const Ref& to : {asked.result, asked.stored}) {
      run.warp.undefined.set(run.frame, to, {}, active, launch_.program());
    }
  }
  for (std::uint32_t rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    std::vector<std::uint64_t> arguments;
    for (const Ref& argument : asked.arguments) {
      std::uint64_t& value = arguments.emplace_back();
      std::memcpy(&value, bytes_at(argument, lane), argument.bank == Bank::wide ? 8 : 4);
    }
    const DeviceAnswer given = answer(
        run, {asked.function, arguments, launch_.code_place(run, lane), run.slot.block}, lane);
    put(asked.result, lane, given.result);
    put(asked.stored, lane, given.stored);
    if (given.launched == 0) continue;
    const DeviceLaunch event{&launch_.program(), launch_.place_of(run.slot, run.warp), run.pc, lane,
                             given.launched};
    launch_.notify([&](Observer& observer) { observer.on_device_launch(event); });
  }
}

}  // namespace warpcheck::vgpu
