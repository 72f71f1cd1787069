#include "vgpu/cudart/driver/contexts.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vgpu/cudart/device/current_device.hpp"
#include "vgpu/cudart/device/runtime_use.hpp"
#include "vgpu/cudart/device/system.hpp"
#include "vgpu/machine/memory/thread_object.hpp"

namespace warpcheck::cudart {
namespace {

struct Contexts {
  std::mutex mutex;
  std::map<int, std::unique_ptr<Context>> primary;  // by device
  std::map<CUcontext, std::unique_ptr<Context>> created;
  // Handles are not reused, so destroyed ones are detected.
  std::vector<std::unique_ptr<Context>> destroyed;
  unsigned long long next_id = 1;
  std::atomic<bool> initialized{false};
};

Contexts& all() {
  static auto* const contexts = new Contexts;  // never destroyed: programs call it in destructors
  return *contexts;
}

// Destroyed contexts remain on the stacks of other threads; their resources no longer exist.
std::vector<CUcontext>& stack() {
  thread_local vgpu::ThreadObject<std::vector<CUcontext>> contexts;
  return contexts.value;
}

}  // namespace

Context* find_context(CUcontext handle) {
  const std::lock_guard lock(all().mutex);
  for (const auto& [device, context] : all().primary) {
    if (handle_of(context.get()) == handle) return context.get();
  }
  const auto found = all().created.find(handle);
  return found == all().created.end() ? nullptr : found->second.get();
}

// The runtime initialises the driver, unless no device is visible.
bool driver_is_initialized() {
  return all().initialized ||
         (runtime_was_used() && system_of_process().visible().error == cudaSuccess);
}
void initialize_driver() { all().initialized = true; }

Context& primary_context(int device) {
  const std::lock_guard lock(all().mutex);
  std::unique_ptr<Context>& context = all().primary[device];
  if (context == nullptr) {
    context = std::make_unique<Context>();
    context->device = device;
    context->is_primary = true;
    context->id = all().next_id++;
  }
  return *context;
}

bool primary_is_active(int device) {
  return primary_context(device).retained != 0 || runtime_was_used();
}

Context& create_context(int device, unsigned flags) {
  auto context = std::make_unique<Context>();
  context->device = device;
  context->flags = flags;
  const std::lock_guard lock(all().mutex);
  context->id = all().next_id++;
  Context& made = *context;
  all().created[handle_of(&made)] = std::move(context);
  return made;
}

Context* green_context_of(CUstream stream) {
  if (stream == nullptr || stream == CU_STREAM_LEGACY) {
    Context* const current = current_context();
    return current != nullptr && current->is_green() ? current : nullptr;
  }
  const std::lock_guard lock(all().mutex);
  for (const auto& [handle, context] : all().created) {
    if (context->streams.contains(stream)) return context.get();
  }
  return nullptr;
}

void forget_context(Context& context) {
  std::erase(stack(), handle_of(&context));
  const std::lock_guard lock(all().mutex);
  const auto found = all().created.find(handle_of(&context));
  all().destroyed.push_back(std::move(found->second));
  all().created.erase(found);
}

Context* current_context() {
  if (!stack().empty()) return find_context(stack().back());
  return runtime_was_used_by_this_thread() ? &primary_context(static_cast<int>(current_device()))
                                           : nullptr;
}

void push_context(Context& context) { stack().push_back(handle_of(&context)); }

Context* pop_context() {
  Context* const top = current_context();
  if (!stack().empty()) stack().pop_back();
  return top;
}

void set_current_context(Context* context) {
  if (!stack().empty()) stack().pop_back();
  if (context != nullptr) push_context(*context);
}

void own_memory(CUdeviceptr address) {
  Context* const context = current_context();
  if (context == nullptr || context->is_primary || context->is_green()) return;
  const std::lock_guard lock(all().mutex);
  context->memory.insert(address);
}

void disown_memory(CUdeviceptr address) {
  const std::lock_guard lock(all().mutex);
  for (const auto& [handle, context] : all().created) context->memory.erase(address);
}

}  // namespace warpcheck::cudart
